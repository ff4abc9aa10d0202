import type { Context } from 'koa';
import { inOneState } from '../../change/commit/ehr-access.js';
import { extractText } from '../../maintenance/extract.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';

/** All of an EHR in the form of the reference model, with versions as they were made. docs/spec/rest.md#extract */
export function extractOperation(): Operation {
  return {
    id: 'ehr_extract_get',
    method: 'GET',
    path: `${STANDARD_API}/ehr/{ehr_id}/extract`,
    summary: 'Get an EXTRACT of all of an EHR, its versions as they were made',
    access: 'read',
    audit: 'read',
    parameters: ['versions'],
    responses: { 200: { description: 'The EXTRACT', body: { schema: 'EXTRACT', types: 'json' } } },
    errors: [400, 404, 413],
    handle: getExtract,
  };
}

async function getExtract(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const ehrId = pathParameter(ctx, 'ehr_id');
  const which = queryParameter(ctx, 'versions');
  const json = await inOneState(ehrId, (ehr) => extractText(ehr, which, new Date()));
  ctx.status = 200;
  writeText(ctx, form, json);
}
