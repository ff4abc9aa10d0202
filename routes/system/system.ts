import type { OperationGroup } from '../http/operation/operation.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { PRODUCT, PRODUCT_VERSION } from './product.js';

/** OPTIONS of the base of the standard API: what this server is. */
export function systemOperations(): OperationGroup {
  return {
    tag: 'System',
    description: 'What this server is',
    operations: [
      {
        id: 'options',
        method: 'OPTIONS',
        path: STANDARD_API,
        summary: 'Describe the server',
        access: 'anyone',
        audit: 'none',
        responses: {
          200: {
            description: 'The server',
            body: { schema: 'ServerDescription', types: 'json' },
            headers: ['Allow'],
          },
        },
        errors: [],
        handle: (ctx) => {
          ctx.set('Allow', 'OPTIONS');
          ctx.body = {
            solution: PRODUCT,
            solution_version: PRODUCT_VERSION,
            vendor: PRODUCT,
            restapi_specs_version: '1.0.3',
            conformance_profile: 'STANDARD',
            endpoints: ['/ehr', '/definition', '/query'],
          };
        },
      },
    ],
  };
}
