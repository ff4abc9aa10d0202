import { release, type } from 'node:os';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { DIALECTS } from '../../openehr/base/dialect.js';
import type { OperationGroup, Operation } from '../http/operation/operation.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { PRODUCT, PRODUCT_VERSION } from '../http/product.js';
import { CdrError } from '../../openehr/base/errors.js';
import { writeXml } from '../../openehr/base/xml.js';
import { mongodbVersion } from '../../models/access/server-status.js';

/** OPTIONS of the base of the standard API: what this server is. */
export function systemOperations({ itsRest, adminApiActive }: Settings): OperationGroup {
  const { conformanceProfile, hasReleasedPaths } = DIALECTS[itsRest];
  const hasAdmin = hasReleasedPaths && adminApiActive;
  return {
    tag: 'System',
    description: 'What this server is',
    operations: [
      {
        id: 'options',
        discloses: 'nothing',
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
            restapi_specs_version: itsRest,
            conformance_profile: conformanceProfile,
            endpoints: ['/ehr', '/definition', '/query', ...(hasAdmin ? ['/admin'] : [])],
          };
        },
      },
    ],
  };
}

/** Version of the reference model that validation follows. */
const RM_VERSION = '1.0.4';

/** Versions of this server and of what it runs on, and that of EHRbase for tools that look for it. */
export function statusOperation({ itsRest, statusEhrbaseVersion }: Settings): Operation {
  return {
    id: 'status_get',
    discloses: 'nothing',
    method: 'GET',
    path: '/rest/status',
    summary: 'Get the versions of the server',
    access: 'anyone',
    audit: 'none',
    responses: { 200: { description: 'The versions', body: { schema: 'ServerStatus', types: 'rm' } } },
    errors: [],
    handle: async (ctx) => {
      const form = ctx.get('Accept') === '' ? 'json' : ctx.accepts('json', 'application/xml', 'text/xml');
      if (form === false) throw new CdrError('not-acceptable', 'status is available as JSON or XML');
      answer(ctx, form, {
        version: PRODUCT_VERSION,
        openehr_rm_version: RM_VERSION,
        openehr_rest_version: itsRest,
        node_version: process.version,
        os_version: `${type()} ${release()}`,
        mongodb_version: await mongodbVersion(),
        ...(statusEhrbaseVersion !== '' && { ehrbase_version: statusEhrbaseVersion }),
      });
    },
  };
}

function answer(ctx: Context, form: string, status: Readonly<Record<string, string>>): void {
  if (form === 'json') {
    ctx.body = status;
    return;
  }
  const children = Object.entries(status).map(([name, text]) => ({ name, children: [text] }));
  ctx.type = 'application/xml; charset=utf-8';
  ctx.body = writeXml({ name: 'status', children });
}
