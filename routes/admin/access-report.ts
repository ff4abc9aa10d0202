import type { Context } from 'koa';
import { deeds as german } from '../../console/src/messages/deeds.de.js';
import { deeds as english } from '../../console/src/messages/deeds.en.js';
import { deedOf } from '../../console/src/record/visits.js';
import { mergesTookTo } from '../../change/commit/ehr-access.js';
import { areReadsRecorded } from '../../change/policy/recorded-reads.js';
import type { Settings } from '../../config/settings.js';
import { purposeText } from '../../maintenance/access-log/purposes.js';
import { accessReport, type ReportedAccess } from '../../maintenance/access-log/report.js';
import { isEhrAudited, type AuditDoc } from '../../models/audit.js';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import type { AuthenticatedUser } from '../http/request/request-state.js';
import { csvHeader, csvLine } from '../query/query-answer.js';
import { nextPage } from './next-page.js';

type ReportSettings = Pick<Settings, 'csvBom' | 'auditReads' | 'accessMode' | 'auditRetentionYears'>;
type Language = 'en' | 'de';

/** What the report says of an access, in the order of a CSV line. */
const FIELDS = [
  'time',
  'user',
  'what',
  'why',
  'organisation',
  'client_id',
  'address',
  'actor',
  'ehr_id',
  'templates',
  'categories',
  'origins',
  'objects',
  'query',
  'rows',
  'reason',
  'purpose',
  'operation',
  'status',
  'while_merged',
  'restored',
  'request_id',
] as const;

/** The patient's report: who saw or changed what of an EHR. docs/access-log.md#the-patients-report */
export function accessReportOperations(settings: ReportSettings): OperationGroup {
  return {
    tag: 'Access report',
    description: 'Who has seen and changed a record, for its patient and for who answers for the data',
    operations: [
      {
        id: 'ehr_access',
        discloses: 'whole',
        method: 'GET',
        path: '/rest/ehrs/{ehr_id}/access',
        summary: 'Report who has seen and changed what of an EHR, in plain words',
        access: 'identified',
        audit: 'admin',
        parameters: ['from', 'to', 'report_language', 'report_after', 'report_fetch'],
        responses: {
          200: {
            description: 'A page, newest first',
            body: { schema: 'AccessReport', types: 'records' },
            headers: ['Link'],
          },
        },
        errors: [400, 404],
        handle: (ctx) => report(ctx, settings),
      },
    ],
  };
}

async function report(ctx: Context, settings: ReportSettings): Promise<void> {
  const form = responseBody('admin-records', ctx.get('Accept'));
  const named = pathParameter(ctx, 'ehr_id');
  const [from, to] = [queryParameter(ctx, 'from'), queryParameter(ctx, 'to')];
  const [after, fetch] = [queryParameter(ctx, 'report_after'), queryParameter(ctx, 'report_fetch')];
  const language = languageOf(ctx);
  const ehrId = await permittedEhr(ctx, named);
  const { ehrIds, accesses, next } = await accessReport({ ehrId, from, to, after, fetch });
  auditAbout(ctx, { ehr_id: ehrId, ...(ehrIds.length > 1 && { ehr_ids: ehrIds }) });
  const entries = accesses.map((access) => entryOf(access, language));
  ctx.set('Content-Language', language);
  ctx.vary('Accept-Language');
  if (next !== null) ctx.set('Link', `<${nextPage(ctx, next)}>; rel="next"`);
  if (form.format === 'CSV') {
    writeText(ctx, form, csvOf(entries, settings.csvBom));
    return;
  }
  const years = settings.auditRetentionYears;
  writeText(
    ctx,
    form,
    JSON.stringify({
      ehr_id: ehrId,
      ehr_ids: [...ehrIds],
      reads_recorded: await areReadsRecorded(settings),
      ...(years !== null && { kept_years: years }),
      entries,
      ...(next !== null && { next }),
    }),
  );
}

/**
 * The EHR of the report, where merges took it.
 * @throws forbidden for whoever is neither auditor nor administrator nor its patient, whether it is there or not; not-found where it never was
 */
async function permittedEhr(ctx: Context, named: string): Promise<string> {
  const { user } = ctx.state;
  const isOfficer = user !== null && (user.permissions.has('audit') || user.permissions.has('admin'));
  const ehrId = await mergesTookTo(named);
  const own = isOfficer ? null : await ownEhrOf(user);
  if (!isOfficer && (own === null || own !== ehrId))
    throw new CdrError(
      'forbidden',
      'this needs the permission audit or admin, or the token of the patient whose EHR it is',
    );
  if (ehrId !== null) return ehrId;
  if (await isEhrAudited(named)) return named;
  throw new CdrError('not-found', `EHR with id ${named} never existed`);
}

async function ownEhrOf(user: AuthenticatedUser | null): Promise<string | null> {
  const claimed = user?.claims?.ehr;
  return claimed === undefined ? null : mergesTookTo(claimed.id);
}

/** Of the request, else what its browser speaks. */
function languageOf(ctx: Context): Language {
  const asked = queryParameter(ctx, 'report_language');
  return asked ?? (ctx.acceptsLanguages(['en', 'de']) === 'de' ? 'de' : 'en');
}

const WORDS: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en: english, de: german };

type Entry = Readonly<Partial<Record<(typeof FIELDS)[number], JsonValue | readonly string[] | undefined>>>;

function entryOf({ record, whileMerged }: ReportedAccess, language: Language): JsonObject {
  const values: Entry = {
    ...record,
    ...wordsOf(record, language),
    time: formatUtc(record.time),
    // What of the other record was seen is the other one's own.
    ...(whileMerged ? { ...NO_CONTENT, while_merged: true } : contentOf(record)),
  };
  return Object.fromEntries(
    FIELDS.flatMap((name): [string, JsonValue][] => {
      const value = values[name] as JsonValue | undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function wordsOf(record: AuditDoc, language: Language): Entry {
  const { operation, purpose, dry_run: isPlan = false } = record;
  const deed = deedOf({ ...record, time: formatUtc(record.time), dry_run: isPlan });
  return {
    what: deed === null ? operation : (WORDS[language][`deed.${deed}`] ?? operation),
    ...(purpose !== undefined && { why: purposeText(purpose, language) }),
  };
}

const NO_CONTENT: Entry = {
  templates: undefined,
  categories: undefined,
  origins: undefined,
  objects: undefined,
  query: undefined,
};

/** Of a query what was asked, under its name where it is stored; of anything else what it was about. */
function contentOf({ templates, categories, origins, objects, aql }: AuditDoc): Entry {
  const [name] = objects ?? [];
  return {
    templates: listOf(templates),
    categories: listOf(categories),
    origins: listOf(origins),
    objects: aql === undefined ? listOf(objects) : undefined,
    query: aql === undefined ? undefined : (name ?? aql),
  };
}

function listOf(ids: readonly string[] | undefined): JsonValue | undefined {
  return ids === undefined || ids.length === 0 ? undefined : [...ids];
}

function csvOf(entries: readonly JsonObject[], csvBom: boolean): string {
  const cells = entries.map((entry) =>
    FIELDS.map((name) => {
      const value = entry[name] ?? null;
      return Array.isArray(value) ? value.map(String).join(' ') : value;
    }),
  );
  return csvHeader(FIELDS, csvBom) + cells.map((line) => csvLine(JSON.stringify(line))).join('');
}
