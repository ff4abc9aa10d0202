import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { eventCount, fhirEvent, type AuditedOperation } from '../../maintenance/access-log/fhir-event.js';
import { auditRecords, type AuditFilter } from '../../models/audit.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { nextPage } from './next-page.js';

/** Media type of FHIR's JSON. */
export const FHIR_JSON = 'application/fhir+json';

/** Records that are read together. */
const AT_ONCE = 100;

/** Where a page begins: at an event of a record. */
interface Place {
  readonly id: string;
  /** Events of it that the page before has. */
  readonly done: number;
}

/**
 * A page of FHIR AuditEvents as a Bundle: one event for each EHR that a record names. A page begins where the one before ended, also
 * within a record. docs/access-log.md#fhir
 */
export async function answerEvents(
  ctx: Context,
  filter: AuditFilter,
  {
    systemId,
    operations,
  }: Pick<Settings, 'systemId'> & { readonly operations: () => readonly AuditedOperation[] },
): Promise<void> {
  const observer = { systemId, operations: new Map(operations().map((row) => [row.id, row])) };
  const place = filter.after == null ? null : placeOf(filter.after);
  const entry: JsonObject[] = [];
  let next: string | null = null;
  for await (const record of recordsFrom(filter, place)) {
    const first = record._id === place?.id ? place.done : 0;
    for (let index = first; index < eventCount(record) && next === null; index += 1)
      if (entry.length === filter.fetch) next = `${record._id}~${index}`;
      else entry.push(entryOf(fhirEvent(record, index, observer)));
    if (next !== null) break;
  }
  const link = [
    { relation: 'self', url: ctx.href },
    ...(next === null ? [] : [{ relation: 'next', url: nextPage(ctx, next) }]),
  ];
  ctx.body = Buffer.from(JSON.stringify({ resourceType: 'Bundle', type: 'searchset', link, entry }));
  ctx.type = `${FHIR_JSON}; charset=utf-8`;
}

function entryOf(resource: JsonObject): JsonObject {
  return { fullUrl: `urn:everchart:audit:${resource['id'] as string}`, resource, search: { mode: 'match' } };
}

/** The record of the place itself, unless it is done, and those behind it. */
async function* recordsFrom(
  filter: AuditFilter,
  place: Place | null,
): AsyncGenerator<Awaited<ReturnType<typeof auditRecords>>[number]> {
  let after = place?.id ?? null;
  let includesAfter = place !== null;
  let offset = place === null ? filter.offset : 0;
  for (;;) {
    const records = await auditRecords({ ...filter, after, includesAfter, offset, fetch: AT_ONCE });
    yield* records;
    const last = records.at(-1);
    if (last === undefined || records.length < AT_ONCE) return;
    [after, includesAfter, offset] = [last._id, false, 0];
  }
}

function placeOf(text: string): Place {
  const [id = '', done] = text.split('~');
  const count = Number(done);
  if (done === undefined || !/^\d{1,9}$/.test(done))
    throw new CdrError('invalid', 'after must be the `next` of the page before');
  return { id, done: count };
}
