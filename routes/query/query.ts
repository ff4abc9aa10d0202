import type { Context } from 'koa';
import { distinctRows, type RawRow } from '../../aql/result/result-set.js';
import { countsOfMany } from '../../aql/result/counts-of-many.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Work } from '../../openehr/base/work.js';
import { formatVersion } from '../../openehr/base/semver.js';
import type { Settings } from '../../config/settings.js';
import { requestBody, responseBody, type BodyType } from '../http/negotiation/media-type.js';
import { eachRow, type RunLimits } from '../../models/cross-collection/run-pipeline.js';
import { storedQuery } from '../../models/definition/stored-query.js';
import { answeredRows, streamedRows, type AnsweredRows } from './answered-rows.js';
import { auditQuery, auditScope, fixedEhrs } from './audited-query.js';
import { explanation } from './explanation.js';
import {
  QueryCompiler,
  type CompiledQuery,
  type QueryLimits as CompileLimits,
  type QueryRequest,
} from '../../query/compile.js';
import { viewing } from '../../change/access/viewer.js';
import { commitClock } from '../../change/commit/commit-clock.js';
import { requireQueriedEhr } from '../../change/commit/ehr-access.js';
import { answerEnd, cutIdleReader, cutLongAnswer } from '../http/failure/slow-reader.js';
import { requesterOf, currentOperation, STANDARD_API } from '../http/request/request-state.js';
import { answerResultSet, answerStream, textOfRow, type QueryAnswer } from './query-answer.js';
import { evaluateCandidates } from '../../query/evaluate.js';
import { foundRows } from '../../query/found-rows.js';
import type { RequestedEhr } from '../../query/one-moment.js';
import type { HeldLimits } from '../../query/streamed.js';
import { QUERY_WAIT_MS, QueryGate } from '../../workers/gate.js';
import {
  readGetQuery,
  readGetRequest,
  readPostQuery,
  readPostRequest,
  refuseOrWarnOfUnused,
} from './query-request.js';
import { queryNameFrom, versionFrom } from '../definition/stored-query.js';
import { terminologyOf, metered } from '../../query/terminology.js';
import type { BodyDescription, Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';

/** Rows that the database gives at a time while an answer is streamed. */
const STREAM_BATCH = 500;

const PATH = `${STANDARD_API}/query`;
const LIMITS = ['query_ehr_id', 'offset', 'fetch', 'as_of', 'openEHR-EHR-id'] as const;
const ROWS: Operation['responses'] = {
  200: { description: 'The rows', body: { schema: 'RESULT_SET', types: 'resultSet' }, headers: ['ETag'] },
};
const AD_HOC_BODY: BodyDescription = { schema: 'QueryRequest', types: 'json' };
const STORED_BODY: BodyDescription = { schema: 'StoredQueryRequest', types: 'json', required: false };
const QUERY = { access: 'read', audit: 'query', discloses: 'query' } as const;
const BY_GET = { ...QUERY, method: 'GET', takesVariables: true } as const;
const BY_POST = { ...QUERY, method: 'POST', parameters: LIMITS } as const;

/** Execution of AQL, ad hoc and stored. */
export function queryOperations(settings: Settings): OperationGroup {
  const runner = new QueryRunner(settings);
  return {
    tag: 'QUERY',
    description: 'Execution of AQL',
    operations: [
      {
        ...BY_GET,
        id: 'query_execute_adhoc',
        path: `${PATH}/aql`,
        summary: 'Execute an AQL query',
        parameters: ['q', ...LIMITS, 'query_parameters'],
        responses: ROWS,
        errors: [400, 404, 408, 422, 502],
        handle: (ctx) => runner.adHoc(ctx),
      },
      {
        ...BY_POST,
        id: 'query_execute_adhoc_post',
        path: `${PATH}/aql`,
        summary: 'Execute an AQL query given in the body',
        request: AD_HOC_BODY,
        responses: ROWS,
        errors: [400, 404, 408, 422, 502],
        handle: (ctx) => runner.adHoc(ctx),
      },
      {
        ...BY_POST,
        id: 'query_explain',
        path: `${PATH}/aql/explain`,
        summary:
          'Tell how an AQL query runs: parts, pipeline, indexes and documents examined, hints; no data',
        request: AD_HOC_BODY,
        responses: { 200: { description: 'The explanation', body: { schema: 'Object', types: 'json' } } },
        errors: [400, 404, 408, 422, 502],
        handle: (ctx) => runner.explain(ctx),
      },
      ...STORED.flatMap((stored) => storedOperations(runner, stored)),
    ],
  };
}

/** The operations that execute a stored query: their ids, the rest of their path, which version they take. */
const STORED = [
  {
    get: 'query_execute_stored',
    post: 'query_execute_stored_post',
    path: '',
    which: 'its newest release',
  },
  {
    get: 'query_execute_stored_version',
    post: 'query_execute_stored_version_post',
    path: '/{version}',
    which: 'the version that begins so',
  },
] as const;

function storedOperations(
  runner: QueryRunner,
  { get, post, path, which }: (typeof STORED)[number],
): Operation[] {
  return [
    {
      ...BY_GET,
      id: get,
      path: `${PATH}/{qualified_query_name}${path}`,
      summary: `Execute a stored query: ${which}`,
      parameters: [...LIMITS, 'query_parameters'],
      responses: ROWS,
      errors: [400, 404, 408, 422, 502],
      handle: (ctx) => runner.stored(ctx),
    },
    {
      ...BY_POST,
      id: post,
      path: `${PATH}/{qualified_query_name}${path}`,
      summary: `Execute a stored query: ${which}; parameters in the body`,
      request: STORED_BODY,
      responses: ROWS,
      errors: [400, 404, 408, 422, 502],
      handle: (ctx) => runner.stored(ctx),
    },
  ];
}

/** Of a query that ends with its answer; `noted`: what the audit wants to know of its rows. */
type NotedLimits = QueryLimits & {
  readonly signal: AbortSignal;
  readonly noted: AnsweredRows;
  readonly ehr: RequestedEhr | null;
  /** Of a stream. */
  readonly held?: HeldLimits;
};

/** What a query may use, and for whom it runs. */
type QueryLimits = RunLimits & { readonly work: Work; readonly user: string };

interface Compiled {
  readonly compiled: CompiledQuery;
  /** That of the request, if it is about one. */
  readonly ehr: RequestedEhr | null;
}

class QueryRunner {
  private readonly gate: QueryGate;
  private readonly compiler: QueryCompiler;

  constructor(private readonly settings: Settings) {
    const { aql, requestWaitMs } = settings;
    const places = { all: aql.maxConcurrent, perUser: aql.maxPerUser };
    this.gate = new QueryGate(places, QUERY_WAIT_MS, requestWaitMs > 0 ? requestWaitMs : Infinity);
    this.compiler = new QueryCompiler(settings, terminologyOf(settings.terminology));
  }

  async adHoc(ctx: Context): Promise<void> {
    const { defaultTimezone } = this.settings;
    if (ctx.method !== 'POST')
      return this.execute(ctx, readGetQuery(ctx), null, readGetRequest(ctx, defaultTimezone));
    requestBody('query', ctx.get('Content-Type'));
    const request = await readPostRequest(ctx, this.settings, true);
    return this.execute(ctx, readPostQuery(request.body), null, request);
  }

  /** Our own: how a query would run. Nothing of the data is answered. */
  async explain(ctx: Context): Promise<void> {
    requestBody('query', ctx.get('Content-Type'));
    responseBody('json', ctx.get('Accept'));
    const request = await readPostRequest(ctx, this.settings, true);
    const q = readPostQuery(request.body);
    await auditQuery(ctx, q, null, request);
    const signal = answerEnd(ctx);
    const user = requesterOf(ctx);
    const leave = await this.gate.enter(user, signal);
    try {
      const { compiled } = await this.compile(q, request, { work: ctx.state.work, signal, user });
      auditScope(ctx, compiled.scope);
      ctx.body = await explanation(q, compiled, this.settings, signal);
    } finally {
      leave();
    }
  }

  async stored(ctx: Context): Promise<void> {
    const { defaultTimezone } = this.settings;
    const { name } = queryNameFrom(pathParameter(ctx, 'qualified_query_name'));
    const versionText = currentOperation(ctx).params.version ?? null;
    const version = versionText === null ? null : versionFrom(versionText);
    if (ctx.method === 'POST') requestBody('query', ctx.get('Content-Type'));
    const request =
      ctx.method === 'POST'
        ? await readPostRequest(ctx, this.settings, false)
        : readGetRequest(ctx, defaultTimezone);
    const doc = await storedQuery(name, version);
    if (doc === null)
      throw new CdrError(
        'not-found',
        `Stored query ${name}${versionText === null ? '' : `/${versionText}`} does not exist`,
      );
    return this.execute(ctx, doc.q, `${doc.name}/${formatVersion(doc)}`, request);
  }

  private async execute(ctx: Context, q: string, name: string | null, request: QueryRequest): Promise<void> {
    await auditQuery(ctx, q, name, request);
    const form = responseBody('query', ctx.get('Accept'));
    const signal = answerEnd(ctx);
    cutIdleReader(ctx, this.settings.aql.streamIdleMs, signal);
    if (request.asOf !== null) await commitClock.reached(request.asOf);
    // The terminology server and the database are asked with a place only.
    const user = requesterOf(ctx);
    const leave = await this.gate.enter(user, signal);
    const { work } = ctx.state;
    work.begin();
    let isStream = false;
    try {
      const { compiled, ehr } = await this.compile(q, request, { work, signal, user });
      refuseOrWarnOfUnused(ctx, compiled.unused, this.settings);
      auditScope(ctx, compiled.scope);
      const certain = await commitClock.certain();
      const answer: QueryAnswer = { compiled, q, name, certain, csvBom: this.settings.csvBom };
      const limits = { timeoutMs: this.settings.aql.timeoutMs, signal, work, user, ehr };
      isStream = form.format !== 'JSON';
      const asked = { ehrIds: fixedEhrs(compiled.scope), columns: compiled.plan.columns };
      if (isStream) await this.stream(ctx, form, answer, { ...limits, noted: streamedRows(ctx, asked) });
      else {
        const rows = this.rows(answer, { ...limits, noted: answeredRows(ctx, asked) });
        await answerResultSet(ctx, form, answer, metered(ctx.state.requestId, q, rows));
      }
    } finally {
      if (isStream && !signal.aborted) signal.addEventListener('abort', leave);
      else leave();
    }
  }

  /**
   * Narrows a query by policies and makes its plan.
   * @throws not-found when the request is about an EHR that does not exist or was merged away; else as `Viewer.narrowing`, `QueryCompiler.compile`
   */
  private async compile(q: string, request: QueryRequest, limits: CompileLimits): Promise<Compiled> {
    const { ehrId } = request;
    const narrowed = { ...request, ...(await viewing.getStore()?.viewer?.narrowing(ehrId)) };
    const merged = ehrId === null ? null : requireQueriedEhr(ehrId);
    // What is wrong with the text comes first, whichever of the two is known first.
    const [compiled] = await Promise.allSettled([this.compiler.compile(q, narrowed, limits), merged]);
    if (compiled.status === 'rejected') throw compiled.reason;
    const mergeSeq = (await merged) ?? 0;
    return { compiled: compiled.value, ehr: ehrId === null ? null : { ehrId, mergeSeq } };
  }

  private async stream(
    ctx: Context,
    form: BodyType,
    answer: QueryAnswer,
    limits: NotedLimits,
  ): Promise<void> {
    const stream = { ...answer, isOneMoment: true };
    const onManyMoments = (): void => {
      stream.isOneMoment = false;
    };
    const { streamHoldMs: holdMs } = this.settings.aql;
    const rows = this.rows(answer, { ...limits, batchSize: STREAM_BATCH, held: { holdMs, onManyMoments } });
    await answerStream(ctx, form, stream, metered(ctx.state.requestId, answer.q, rows));
    cutLongAnswer(ctx, this.settings.aql.streamTimeoutMs, limits.signal);
  }

  private async *evaluated(
    found: AsyncIterable<readonly RawRow[]>,
    { compiled }: QueryAnswer,
    limits: QueryLimits,
  ): AsyncGenerator<readonly string[], void, undefined> {
    const { query, aliases, page, request, clock } = compiled;
    const { systemId, aql } = this.settings;
    const { asOf, ehrId, permitted } = request;
    const seen = permitted !== undefined && { permitted };
    const rules = { systemId, subsumption: aql.subsumption, asOf, ehrId, clock, limits, ...seen };
    const { work, user } = limits;
    yield* await evaluateCandidates(found, { query, aliases, page, ...rules, work, user });
  }

  private rows(
    answer: QueryAnswer,
    { noted, ehr, held, ...limits }: NotedLimits,
  ): AsyncIterable<readonly string[]> {
    const found = noted.found(foundRows(answer.compiled, limits, { ehr, held, work: limits.work }));
    const rows = this.finished(found, answer, limits);
    const least = answer.compiled.request.leastPatients;
    return noted.answered(least === undefined ? rows : countsOfMany(rows, least));
  }

  /** What the server does with the rows of the database: texts, some at a time. */
  private async *finished(
    found: AsyncIterable<readonly RawRow[]>,
    answer: QueryAnswer,
    limits: QueryLimits,
  ): AsyncGenerator<readonly string[]> {
    const { plan } = answer.compiled;
    const toText = textOfRow(answer);
    let count = 0;
    if (plan.inProcess?.kind === 'evaluate') {
      yield* this.evaluated(found, answer, limits);
      return;
    }
    if (plan.inProcess === null)
      for await (const batch of found) {
        count += batch.length;
        yield batch.map(toText);
      }
    else {
      const page = { ...plan.inProcess, work: limits.work };
      for await (const text of distinctRows(eachRow(found), plan.columns, page)) yield [text];
    }
    if (count === 0 && plan.emptyRow !== null && answer.compiled.page.offset === 0)
      yield [toText({ row: plan.emptyRow })];
  }
}
