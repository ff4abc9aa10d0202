import type { Context } from 'koa';
import { activeEhrsNamed } from '../../models/ehr-identity.js';
import { MAX_IDENTITY_BYTES } from '../../models/identity.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { ehrsShownNamed, type ShownEhr } from '../../change/access/shown-ehrs.js';
import { viewing } from '../../change/access/viewer.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { queryParameter } from '../http/parameter-values.js';

/** EHRs of one answer: who shares an identifier with more is not found by it. */
const MOST_EHRS = 100;

/** Finding EHRs by whatever names the patient: docs/spec/rest.md#finding-an-ehr */
export function findEhrsOperation(): Operation {
  return {
    id: 'ehr_find',
    discloses: 'read',
    method: 'GET',
    path: '/rest/ehrs',
    summary: 'Find EHRs by an EHR id, a subject id in any namespace, or an identifier of the EHR_STATUS',
    access: 'read',
    audit: 'read',
    parameters: ['identifier'],
    responses: { 200: { description: 'Those that there are', body: { schema: 'EhrList', types: 'json' } } },
    errors: [400],
    handle: findEhrs,
  };
}

async function findEhrs(ctx: Context): Promise<void> {
  if (ctx.accepts('json') === false) throw new CdrError('not-acceptable', 'EHRs are listed as JSON');
  const identifier = (queryParameter(ctx, 'identifier') ?? '').trim();
  if (identifier === '') throw new CdrError('invalid', 'identifier is required');
  if (Buffer.byteLength(identifier) > MAX_IDENTITY_BYTES)
    throw new CdrError('invalid', `identifier has more than ${MAX_IDENTITY_BYTES} bytes`);
  const viewer = viewing.getStore()?.viewer;
  const found: readonly ShownEhr[] =
    viewer === undefined
      ? await activeEhrsNamed(identifier, MOST_EHRS + 1)
      : await ehrsShownNamed(viewer, identifier, MOST_EHRS + 1);
  const shown = found.slice(0, MOST_EHRS);
  if (shown.length > 0) auditAbout(ctx, { ehr_ids: shown.map(({ _id: ehrId }) => ehrId) });
  ctx.body = { ehrs: shown.map(listedEhr), ...(found.length > MOST_EHRS && { truncated: true }) };
}

/** An EHR as a list has it. */
export function listedEhr({ _id, time_created, subject, is_queryable, is_modifiable }: ShownEhr): JsonObject {
  return {
    ehr_id: _id,
    time_created: time_created.toISOString(),
    ...(subject !== undefined && { subject: { id: subject.id, namespace: subject.namespace } }),
    ...(is_queryable !== undefined && { is_queryable }),
    ...(is_modifiable !== undefined && { is_modifiable }),
  };
}
