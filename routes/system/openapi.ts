import { openApiDocument } from '../http/openapi/openapi-document.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';

/** The description of the whole API, open to everyone: it tells nothing that the product's sources do not. */
export function openapiOperation(groups: () => readonly OperationGroup[]): Operation {
  return {
    id: 'openapi_get',
    method: 'GET',
    path: '/rest/openapi.json',
    summary: 'Get this document',
    access: 'open',
    audit: 'none',
    responses: { 200: { description: 'OpenAPI 3.1', body: { schema: 'Object', types: 'json' } } },
    errors: [],
    handle: (ctx) => {
      ctx.body = openApiDocument(groups(), ctx.state.baseUrl);
    },
  };
}
