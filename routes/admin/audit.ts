import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { auditRecords, isEhrAudited, type AuditDoc, type AuditFilter } from '../../models/audit.js';
import { ehrById } from '../../models/ehr.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { csvHeader, csvLine } from '../query/query-answer.js';
import { answerEvents, FHIR_JSON } from './audit-fhir.js';
import { nextPage } from './next-page.js';
import { adminOperation } from './record.js';

const FILTERS = [
  ...(['from', 'to', 'user', 'operation', 'audit_status'] as const),
  ...(['audit_offset', 'audit_fetch', 'audit_order', 'audit_after'] as const),
] as const;
const FAILURE = { root: 'AuditRecords', fields: {} };
const RECORDS: Operation['responses'] = {
  200: { description: 'A page', body: { schema: 'AuditRecordList', types: 'records' }, headers: ['Link'] },
};
const RECORDS_OR_EVENTS: Operation['responses'] = {
  200: { description: 'A page', body: { schema: 'AuditAnswer', types: 'auditRecords' }, headers: ['Link'] },
};

/** Reading the audit, of everything or of one EHR. `operations`: the whole table, which says what each of them does. */
export function auditOperations(
  { csvBom, systemId }: Pick<Settings, 'csvBom' | 'systemId'>,
  operations: () => readonly Operation[],
): Operation[] {
  return [
    adminOperation({
      id: 'getAudit',
      discloses: 'whole',
      method: 'GET',
      path: '/audit',
      summary: 'List the calls of the admin API, writes, refusals and, if kept, reads',
      access: 'audit',
      parameters: [...FILTERS, 'audit_ehr_id', 'audit_format'],
      responses: RECORDS_OR_EVENTS,
      errors: [400],
      failure: FAILURE,
      handle: async (ctx) => {
        const ehrId = queryParameter(ctx, 'audit_ehr_id');
        auditAbout(ctx, ehrId === null ? {} : { ehr_id: ehrId });
        const filter = { ...filterFrom(ctx), ...(ehrId !== null && { ehrId }) };
        if (queryParameter(ctx, 'audit_format') === 'fhir' || ctx.get('Accept').includes(FHIR_JSON))
          await answerEvents(ctx, filter, { systemId, operations });
        else await answer(ctx, filter, csvBom);
      },
    }),
    adminOperation({
      id: 'getEhrAccess',
      discloses: 'whole',
      method: 'GET',
      path: '/ehr/{ehr_id}/access',
      summary: 'List the recorded calls about one EHR',
      access: 'audit',
      parameters: FILTERS,
      responses: RECORDS,
      errors: [400, 404],
      failure: FAILURE,
      handle: async (ctx) => {
        const ehrId = pathParameter(ctx, 'ehr_id');
        const filter = filterFrom(ctx);
        // Before this call is recorded itself: an id that never existed must stay unknown.
        if ((await ehrById(ehrId)) === null && !(await isEhrAudited(ehrId))) {
          throw new CdrError('not-found', `EHR with id ${ehrId} never existed`);
        }
        auditAbout(ctx, { ehr_id: ehrId });
        await answer(ctx, { ...filter, ehrId }, csvBom);
      },
    }),
  ];
}

async function answer(ctx: Context, filter: AuditFilter, csvBom: boolean): Promise<void> {
  const form = responseBody('admin-records', ctx.get('Accept'));
  const found = await auditRecords(filter);
  const [last] = found.slice(-1);
  if (last !== undefined && found.length === filter.fetch)
    ctx.set('Link', `<${nextPage(ctx, last._id)}>; rel="next"`);
  const records = found.map(recordOf);
  writeText(ctx, form, form.format === 'CSV' ? csvOf(records, csvBom) : JSON.stringify(records));
}

/** The fields of a record in the order of a CSV line, whatever the settings: a record made under others tells all that it has. */
const FIELDS = [
  'time',
  'user',
  'sub',
  'issuer',
  'client_id',
  'address',
  'operation',
  'status',
  'ehr_id',
  'ehr_ids',
  'ehr_count',
  'target',
  'objects',
  'aql',
  'parameters_hash',
  'rows',
  'population',
  'options',
  'reason',
  'outcome',
  'dry_run',
  'pending',
  'request_id',
  'restored',
  'organisation',
  'purpose',
  'policies',
  'hidden',
  'decision',
  'actor',
  'actor_issuer',
  'templates',
  'categories',
  'origins',
  'aql_hash',
  'part',
  'id',
] as const satisfies readonly (keyof AuditDoc | 'decision' | 'id')[];

function recordOf(doc: AuditDoc): JsonObject {
  const decision = decisionOf(doc);
  const values: Partial<Record<string, JsonValue>> = {
    ...(doc as unknown as JsonObject),
    time: formatUtc(doc.time),
    id: doc._id,
    ...(decision !== null && { decision }),
  };
  return Object.fromEntries(FIELDS.flatMap((name) => withValue(name, values[name])));
}

/** null: what was asked for was not there, or wrong, so that nothing was decided. */
function decisionOf({ status, hidden }: AuditDoc): 'permit' | 'forbid' | null {
  if (status < 400) return 'permit';
  return hidden === true || status === 401 || status === 403 ? 'forbid' : null;
}

function withValue(name: string, value: JsonValue | undefined): [string, JsonValue][] {
  return value === undefined ? [] : [[name, value]];
}

/** Lists become texts with spaces: no id has one. */
function csvOf(records: readonly JsonObject[], csvBom: boolean): string {
  const lines = records.map((record) => csvLine(JSON.stringify(FIELDS.map((name) => cellOf(record[name])))));
  return csvHeader(FIELDS, csvBom) + lines.join('');
}

function cellOf(value: JsonValue | undefined): JsonValue {
  return Array.isArray(value) ? value.map(String).join(' ') : (value ?? null);
}

function filterFrom(ctx: Context): AuditFilter {
  const from = queryParameter(ctx, 'from');
  const to = queryParameter(ctx, 'to');
  const user = queryParameter(ctx, 'user');
  const operation = queryParameter(ctx, 'operation');
  const status = queryParameter(ctx, 'audit_status');
  return {
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(user !== null && { user }),
    ...(operation !== null && { operation }),
    ...(status !== null && { status }),
    order: queryParameter(ctx, 'audit_order'),
    after: queryParameter(ctx, 'audit_after'),
    offset: queryParameter(ctx, 'audit_offset'),
    fetch: queryParameter(ctx, 'audit_fetch'),
  };
}
