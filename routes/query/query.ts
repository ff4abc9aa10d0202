import type { Context } from 'koa';
import { distinctRows } from '../../aql/result-set.js';
import type { RawRow } from '../../aql/result-set.js';
import { CdrError } from '../../base/errors.js';
import { formatVersion } from '../../base/semver.js';
import type { Settings } from '../../base/settings.js';
import { requestBody, responseBody } from '../../format/media-type.js';
import { explainPipeline, runPipeline } from '../../models/aql.js';
import { storedQuery } from '../../models/stored-query.js';
import { answeredRows, streamedRows, type AnsweredRows } from './answered-rows.js';
import { auditQuery, auditScope, fixedEhrs } from './audited-query.js';
import { compileQuery } from './compile-query.js';
import type { AskTerminology } from './compile-query.js';
import { answerResultSet, answerStream, textOfRow } from './query-answer.js';
import type { QueryAnswer } from './query-answer.js';
import { evaluateCandidates } from './evaluate-query.js';
import { explanation } from './query-explain.js';
import { QueryGate } from './query-gate.js';
import { readGetQuery, readGetRequest, readPostQuery, readPostRequest } from './query-request.js';
import type { QueryRequest } from './query-request.js';
import { queryNameFrom, versionFrom } from '../definition/stored-query.js';
import { terminologyOf } from './query-terminology.js';
import type { BodyDescription, Operation, OperationGroup } from '../http/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { currentOperation, STANDARD_API } from '../http/request-state.js';
import { toldQuery } from './told-query.js';

/** Rows that the database gives at a time while an answer is streamed. */
const STREAM_BATCH = 500;

const PATH = `${STANDARD_API}/query`;
const LIMITS = ['query_ehr_id', 'offset', 'fetch', 'as_of', 'openEHR-EHR-id'] as const;
const ROWS: Operation['responses'] = {
  200: { description: 'The rows', body: { schema: 'ResultSet', types: 'resultSet' }, headers: ['ETag'] },
};
const AD_HOC_BODY: BodyDescription = { schema: 'QueryRequest', types: 'json' };
const STORED_BODY: BodyDescription = { schema: 'StoredQueryRequest', types: 'json', required: false };
const QUERY = { access: 'read', audit: 'query' } as const;
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
        errors: [400, 408, 422, 502],
        handle: (ctx) => runner.adHoc(ctx),
      },
      {
        ...BY_POST,
        id: 'query_execute_adhoc_post',
        path: `${PATH}/aql`,
        summary: 'Execute an AQL query given in the body',
        request: AD_HOC_BODY,
        responses: ROWS,
        errors: [400, 408, 422, 502],
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
        errors: [400, 408, 422, 502],
        handle: (ctx) => runner.explain(ctx),
      },
      ...storedOperations(runner, '', ''),
      ...storedOperations(runner, '_version', '/{version}'),
    ],
  };
}

function storedOperations(runner: QueryRunner, name: string, path: string): Operation[] {
  const which = path === '' ? 'its newest release' : 'the version that begins so';
  return [
    {
      ...BY_GET,
      id: `query_execute_stored${name}`,
      path: `${PATH}/{qualified_query_name}${path}`,
      summary: `Execute a stored query: ${which}`,
      parameters: [...LIMITS, 'query_parameters'],
      responses: ROWS,
      errors: [400, 404, 408, 422, 502],
      handle: (ctx) => runner.stored(ctx),
    },
    {
      ...BY_POST,
      id: `query_execute_stored${name}_post`,
      path: `${PATH}/{qualified_query_name}${path}`,
      summary: `Execute a stored query: ${which}; parameters in the body`,
      request: STORED_BODY,
      responses: ROWS,
      errors: [400, 404, 408, 422, 502],
      handle: (ctx) => runner.stored(ctx),
    },
  ];
}

class QueryRunner {
  private readonly gate: QueryGate;
  private readonly ask: AskTerminology;

  constructor(private readonly settings: Settings) {
    this.gate = new QueryGate(settings.aql.maxConcurrent);
    this.ask = terminologyOf(settings.terminology);
  }

  async adHoc(ctx: Context): Promise<void> {
    const { defaultTimezone } = this.settings;
    if (ctx.method !== 'POST')
      return this.execute(ctx, readGetQuery(ctx), null, readGetRequest(ctx, defaultTimezone));
    requestBody('query', ctx.get('Content-Type'));
    const request = readPostRequest(ctx, this.settings, true);
    return this.execute(ctx, readPostQuery(request.body), null, request);
  }

  /** Our own: how a query would run. Nothing of the data is answered. */
  async explain(ctx: Context): Promise<void> {
    requestBody('query', ctx.get('Content-Type'));
    responseBody('json', ctx.get('Accept'));
    const request = readPostRequest(ctx, this.settings, true);
    const q = readPostQuery(request.body);
    await auditQuery(ctx, q, null, request);
    const compiled = await compileQuery(q, request, this.settings, this.ask);
    auditScope(ctx, compiled.scope);
    const leave = await this.gate.enter();
    try {
      const { timeoutMs } = this.settings.aql;
      ctx.body = explanation(q, compiled, await explainPipeline(compiled.plan, { timeoutMs }));
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
        ? readPostRequest(ctx, this.settings, false)
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
    const compiled = await compileQuery(q, request, this.settings, this.ask);
    auditScope(ctx, compiled.scope);
    const answer: QueryAnswer = { compiled, q, name };
    const leave = await this.gate.enter();
    if (ctx.res.closed) {
      leave(); // who asked has left while the query waited
      return;
    }
    if (form.format !== 'JSON') {
      ctx.res.once('close', leave);
      const noted = streamedRows(ctx, fixedEhrs(compiled.scope));
      answerStream(ctx, form, answer, toldQuery(ctx, q, this.rows(answer, noted, STREAM_BATCH)));
      return;
    }
    try {
      const noted = answeredRows(ctx, fixedEhrs(compiled.scope));
      await answerResultSet(ctx, form, answer, toldQuery(ctx, q, this.rows(answer, noted)));
    } finally {
      leave();
    }
  }

  private async *evaluated(found: AsyncIterable<RawRow>, { compiled }: QueryAnswer): AsyncGenerator<string> {
    const { scope, page, request, clock } = compiled;
    const { systemId, aql } = this.settings;
    const { asOf, ehrId } = request;
    const rules = { systemId, subsumption: aql.subsumption, asOf, ehrId, clock };
    for (const row of await evaluateCandidates(found, { scope, page, ...rules })) yield JSON.stringify(row);
  }

  private rows(answer: QueryAnswer, noted: AnsweredRows, batchSize?: number): AsyncIterable<string> {
    const { aql } = this.settings;
    const limits = { timeoutMs: aql.timeoutMs, ...(batchSize !== undefined && { batchSize }) };
    const found = noted.found(runPipeline(answer.compiled.plan, limits));
    return noted.answered(this.finished(found, answer));
  }

  /** What the server does with the rows of the database. */
  private async *finished(found: AsyncIterable<RawRow>, answer: QueryAnswer): AsyncGenerator<string> {
    const { plan } = answer.compiled;
    const toText = textOfRow(answer);
    let count = 0;
    if (plan.inProcess?.kind === 'evaluate') {
      yield* this.evaluated(found, answer);
      return;
    }
    if (plan.inProcess === null)
      for await (const row of found) {
        count++;
        yield toText(row);
      }
    else yield* distinctRows(found, plan.columns, plan.inProcess);
    if (count === 0 && plan.emptyRow !== null && answer.compiled.page.offset === 0)
      yield toText({ row: plan.emptyRow });
  }
}
