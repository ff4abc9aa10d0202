import type { Context } from 'koa';
import { backgroundJobs, type BackgroundJob } from '../../maintenance/jobs.js';
import type { Settings } from '../../config/settings.js';
import type { IgnoredEvent } from '../../database/events.js';
import { AQL_SCHEMA_VERSION } from '../../aql/index/document.js';
import { newestContributions, type NewContribution } from '../../models/contribution.js';
import { ehrCount } from '../../models/ehr.js';
import { mergesTookTo } from '../../change/commit/ehr-access.js';
import { seenOfContribution } from '../../change/access/seen-contribution.js';
import { viewing, type Viewer } from '../../change/access/viewer.js';
import { areReadsRecorded } from '../../change/policy/recorded-reads.js';
import { isUnenforced } from '../../change/policy/unenforced.js';
import { queryableAmong } from '../../models/ehr-identity.js';
import { auditAbout } from '../http/audit-trail.js';
import { databaseSize, mongodbVersion } from '../../models/access/server-status.js';
import { storageSettings } from '../../models/settings.js';
import { lastVerification } from '../../models/verification.js';
import { storedQueryCount } from '../../models/definition/stored-query.js';
import { templateCount } from '../../models/definition/template.js';
import { compositionCount } from '../../models/versioned-object.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { Operation } from '../http/operation/operation.js';
import { PRODUCT_VERSION } from '../http/product.js';
import { waitingQueries } from '../../workers/gate.js';

/** What happened in one minute. */
export interface MinuteOfActivity {
  /** When it began. */
  readonly time: Date;
  readonly commits: number;
  readonly queries: number;
}

/** Durations in ms; null: there were none. */
export interface Times {
  readonly count: number;
  readonly median: number | null;
  readonly p95: number | null;
}

/** A query that took long; in `aql` every literal is `?`. */
export interface SlowQuery {
  readonly time: Date;
  readonly aql: string;
  readonly ms: number;
  readonly rows: number;
}

/** How often something of requests was ignored since the process began. */
export interface IgnoredCount extends IgnoredEvent {
  readonly count: number;
}

/** What happened in ten minutes. Durations in ms; null: nothing was asked. */
export interface DayPart {
  /** When it began. */
  readonly time: Date;
  readonly requests: number;
  /** Answered with 500 or more. */
  readonly errors: number;
  /** Answered with 401. */
  readonly refused_sign_ins: number;
  readonly median: number | null;
  readonly p95: number | null;
}

/** What the process that answers was asked in the last day. */
export interface DaySource {
  /** Oldest first; the last one has not ended yet. */
  readonly parts: () => Promise<DayPart[]>;
}

/** What the process that answers has done in the last hour; counted in `src/`. */
export interface ActivitySource {
  readonly started: Date;
  /** Oldest first, one for each minute. */
  minutes(): MinuteOfActivity[];
  commitTimes(): Times;
  queryTimes(): Times;
  /** Slowest first. */
  slowestQueries(): SlowQuery[];
  /** Commonest first. */
  ignored(): IgnoredCount[];
}

const NEWEST_CONTRIBUTIONS = 10;
/** CONTRIBUTIONs that are looked at for who sees only some. */
const LOOKED_AT = 1_000;
const LOOKED_AT_ONCE = 50;
/** How long counts are answered again, ms: pages ask every few seconds, each of them. */
const COUNTS_KEPT_MS = 3_000;
/** As long for the size of the database, which grows slowly. */
const SIZE_KEPT_MS = 30_000;
/** As long for background jobs, which are watched. */
const JOBS_KEPT_MS = 500;

/** Everything that the first page of the console shows, in one answer: docs/spec/rest.md#overview */
export function overviewOperation(settings: Settings, activity: ActivitySource, day: DaySource): Operation {
  const parts = keptFor(COUNTS_KEPT_MS, day.parts);
  const counts = keptFor(COUNTS_KEPT_MS, readCounts);
  const jobs = keptFor(JOBS_KEPT_MS, backgroundJobs);
  const size = keptFor(SIZE_KEPT_MS, databaseSize);
  return {
    id: 'overview_get',
    discloses: 'read',
    method: 'GET',
    path: '/rest/overview',
    summary: 'Get numbers, activity, newest contributions and warnings of the server',
    access: 'read',
    audit: 'read',
    responses: {
      200: { description: 'The server at a glance', body: { schema: 'Overview', types: 'json' } },
    },
    errors: [],
    handle: async (ctx) => {
      if (ctx.accepts('json') === false)
        throw new CdrError('not-acceptable', 'the overview is available as JSON');
      const [all, version, bytes, known, running, warnings, done, verified] = await Promise.all([
        newestContributions(NEWEST_CONTRIBUTIONS),
        mongodbVersion(),
        size(),
        counts(),
        jobs(),
        warningsOf(settings),
        activityView(activity, parts),
        lastCheck(),
      ]);
      const viewer = viewing.getStore()?.viewer;
      const isTold = viewer === undefined || ctx.state.user?.permissions.has('admin') === true;
      const slowest = activity.slowestQueries();
      const newest = viewer === undefined ? await queryableOnes(all) : await seenNewest(viewer);
      auditAbout(ctx, { ehr_ids: [...new Set(newest.map(({ ehr_id: ehrId }) => ehrId))] });
      ctx.body = {
        status: 'UP',
        version: PRODUCT_VERSION,
        system_id: settings.systemId,
        started: activity.started,
        database: { version, ...bytes },
        user: await userOf(ctx),
        counts: isTold ? known : withoutRecords(known),
        activity: done,
        verified,
        slowest_queries: isTold ? slowest : slowest.map(withoutRows),
        ignored: activity.ignored(),
        contributions: newest.map(contributionView),
        jobs: isTold ? running : running.map(withoutProgress),
        warnings,
      };
    },
  };
}

async function activityView(activity: ActivitySource, parts: DaySource['parts']): Promise<object> {
  return {
    minutes: activity.minutes(),
    commit_ms: activity.commitTimes(),
    query_ms: activity.queryTimes(),
    day: await parts(),
    waiting_queries: waitingQueries(),
  };
}

async function lastCheck(): Promise<object | null> {
  const last = await lastVerification();
  return last === null ? null : { time: last.at, violations: last.violations };
}

/** Those of EHRs that queries show: the others are read by whoever knows their ids. */
async function queryableOnes(newest: readonly NewContribution[]): Promise<NewContribution[]> {
  const shown = await queryableAmong(newest.map(({ ehr_id: ehrId }) => ehrId));
  return newest.filter(({ ehr_id: ehrId }) => shown.has(ehrId));
}

/**
 * The newest for who sees only what policies permit, each with what is there for him of it: however many newer ones are not, of the last
 * thousand.
 */
async function seenNewest(viewer: Viewer): Promise<NewContribution[]> {
  viewer.narrowed();
  const seen: NewContribution[] = [];
  for (let looked = 0; looked < LOOKED_AT; looked += LOOKED_AT_ONCE) {
    const newest = await newestContributions(LOOKED_AT_ONCE, looked);
    for (const contribution of await queryableOnes(newest)) {
      const shown = await seenOf(viewer, contribution);
      if (shown !== null) seen.push(shown);
      if (seen.length === NEWEST_CONTRIBUTIONS) return seen;
    }
    if (newest.length < LOOKED_AT_ONCE) break;
  }
  return seen;
}

async function seenOf(viewer: Viewer, contribution: NewContribution): Promise<NewContribution | null> {
  const { ehr_id: ehrId, versions } = contribution;
  if (!(await viewer.seesEhrId(ehrId))) return null;
  const shown = await seenOfContribution(viewer, ehrId, versions);
  return shown.length === 0 ? null : { ...contribution, versions: shown };
}

/** How many records there are is not for who sees only some of them. */
function withoutRecords({
  templates = 0,
  stored_queries = 0,
}: Readonly<Record<string, number | boolean>>): Readonly<Record<string, number | boolean>> {
  return { templates, stored_queries };
}

/** How many rows others were answered is not either. */
function withoutRows({ time, aql, ms }: SlowQuery): Omit<SlowQuery, 'rows'> {
  return { time, aql, ms };
}

/** Nor how many EHRs there are to do something with. */
function withoutProgress(job: BackgroundJob): BackgroundJob {
  const { kind, started, phase } = job;
  return { kind, ...(started !== undefined && { started }), ...(phase !== undefined && { phase }) };
}

async function readCounts(): Promise<Readonly<Record<string, number | boolean>>> {
  const [ehrs, templates, queries] = await Promise.all([ehrCount(), templateCount(), storedQueryCount()]);
  const { count, isExact } = await compositionCount(ehrs);
  return { ehrs, compositions: count, compositions_exact: isExact, templates, stored_queries: queries };
}

/** `ehr_id`: the record of a patient's own token, where merges took it. */
async function userOf({ state: { user } }: Context): Promise<object | null> {
  if (user === null) return null;
  const { name, permissions, claims } = user;
  const ehrId = claims?.ehr === undefined ? null : await mergesTookTo(claims.ehr.id);
  return { name, permissions: [...permissions], ...(ehrId !== null && { ehr_id: ehrId }) };
}

function contributionView({ _id: uid, ehr_id, time_committed, audit, versions }: NewContribution): object {
  return {
    uid,
    ehr_id,
    time_committed,
    committer: textAt(audit.committer, 'name'),
    change_type: textAt(audit.change_type, 'value'),
    versions,
  };
}

function textAt(value: JsonValue | undefined, name: string): string {
  const member = isJsonObject(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : '';
}

interface Warning {
  readonly code: 'stale-index' | 'no-audit' | 'open-access' | 'unenforced';
  readonly message: string;
}

async function warningsOf(settings: Settings): Promise<Warning[]> {
  const stored = await storageSettings();
  const isStale = stored?.sv !== AQL_SCHEMA_VERSION || stored.leaf_index !== settings.aql.leafIndex;
  const all: (Warning | null)[] = [
    isStale
      ? {
          code: 'stale-index',
          message: 'What AQL reads is stale: queries are right but slow until `everchart reindex` has run',
        }
      : null,
    settings.auth === 'none'
      ? { code: 'open-access', message: 'Everybody who reaches this server reads and writes: AUTH=none' }
      : null,
    (await isUnenforced(settings))
      ? {
          code: 'unenforced',
          message: `Policies of access or marks are kept and do not hold: ACCESS_MODE=${settings.accessMode}`,
        }
      : null,
    (await areReadsRecorded(settings))
      ? null
      : { code: 'no-audit', message: 'Who reads records is not recorded: AUDIT_READS=false' },
  ];
  return all.filter((warning) => warning !== null);
}

/** The value of `read`, read anew at most once in `ms`, however many ask at once. */
function keptFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly value: Promise<T>; readonly until: number } | null = null;
  return () => {
    if (kept !== null && Date.now() < kept.until) return kept.value;
    const value = read();
    kept = { value, until: Date.now() + ms };
    value.catch(() => {
      kept = null;
    });
    return value;
  };
}
