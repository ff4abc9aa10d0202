import Router from '@koa/router';

import { openApiDocument } from '../http/openapi-document.js';
import { requestState } from '../http/request-state.js';

/** The description of the whole API, open to everyone: it tells nothing that the product's sources do not. */
export function openapiRoutes(): Router {
  const router = new Router();
  router.get('/rest/openapi.json', (ctx) => {
    ctx.body = openApiDocument(requestState(ctx).origin);
  });
  return router;
}
