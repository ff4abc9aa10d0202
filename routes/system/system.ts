import Router from '@koa/router';
import { PRODUCT, PRODUCT_VERSION } from './product.js';

/** OPTIONS of the base of the standard API: what this server is. ITS-REST: options. */
export function systemRoutes(): Router {
  const router = new Router();
  router.options('/', (ctx) => {
    ctx.set('Allow', 'OPTIONS');
    ctx.body = {
      solution: PRODUCT,
      solution_version: PRODUCT_VERSION,
      vendor: PRODUCT,
      restapi_specs_version: '1.0.3',
      conformance_profile: 'STANDARD',
      endpoints: ['/ehr', '/definition', '/query'],
    };
  });
  return router;
}
