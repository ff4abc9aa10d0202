import Router from '@koa/router';
import type { Context } from 'koa';
import { distinctRows } from '../aql/result-set.js';
import type { RawRow } from '../aql/result-set.js';
import { CdrError } from '../base/errors.js';
import { formatVersion } from '../base/semver.js';
import type { Settings } from '../base/settings.js';
import { requestBody, responseBody } from '../format/media-type.js';
import { explainPipeline, runPipeline } from '../models/aql.js';
import { storedQuery } from '../models/stored-query.js';
import { compileQuery } from './compile-query.js';
import type { AskTerminology } from './compile-query.js';
import { answerResultSet, answerStream, textOfRow } from './query-answer.js';
import type { QueryAnswer } from './query-answer.js';
import { evaluateCandidates } from './evaluate-query.js';
import { explanation } from './query-explain.js';
import { QueryGate } from './query-gate.js';
import { readGetQuery, readGetRequest, readPostQuery, readPostRequest } from './query-request.js';
import type { QueryRequest } from './query-request.js';
import { queryNameFrom, versionFrom } from './stored-query.js';
import { terminologyOf } from './query-terminology.js';
import { toldQuery } from './told-query.js';

/** Rows that the database gives at a time while an answer is streamed. */
const STREAM_BATCH = 500;

/** The Query API: ad-hoc and stored AQL. ITS-REST: query_execute_adhoc_query, query_execute_stored_query. */
export function queryRoutes(settings: Settings): Router {
  const router = new Router();
  const runner = new QueryRunner(settings);
  router.get('/query/aql', (ctx) => runner.adHoc(ctx));
  router.post('/query/aql', (ctx) => runner.adHoc(ctx));
  router.post('/query/aql/explain', (ctx) => runner.explain(ctx));
  for (const path of ['/query/:name', '/query/:name/:version']) {
    router.get(path, (ctx) => runner.stored(ctx));
    router.post(path, (ctx) => runner.stored(ctx));
  }
  return router;
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
    const request = await readPostRequest(ctx, defaultTimezone, true);
    return this.execute(ctx, readPostQuery(request.body), null, request);
  }

  /** Our own: how a query would run. Nothing of the data is answered. */
  async explain(ctx: Context): Promise<void> {
    requestBody('query', ctx.get('Content-Type'));
    responseBody('json', ctx.get('Accept'));
    const request = await readPostRequest(ctx, this.settings.defaultTimezone, true);
    const q = readPostQuery(request.body);
    const compiled = await compileQuery(q, request, this.settings, this.ask);
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
    const params = ctx.params as Record<string, string | undefined>;
    const { name } = queryNameFrom(params.name);
    const version = params.version === undefined ? null : versionFrom(params.version);
    if (ctx.method === 'POST') requestBody('query', ctx.get('Content-Type'));
    const request =
      ctx.method === 'POST'
        ? await readPostRequest(ctx, defaultTimezone, false)
        : readGetRequest(ctx, defaultTimezone);
    const doc = await storedQuery(name, version);
    if (doc === null)
      throw new CdrError(
        'not-found',
        `Stored query ${name}${version === null ? '' : `/${params.version ?? ''}`} does not exist`,
      );
    return this.execute(ctx, doc.q, `${doc.name}/${formatVersion(doc)}`, request);
  }

  private async execute(ctx: Context, q: string, name: string | null, request: QueryRequest): Promise<void> {
    const form = responseBody('query', ctx.get('Accept'));
    const compiled = await compileQuery(q, request, this.settings, this.ask);
    const answer: QueryAnswer = { compiled, q, name };
    const leave = await this.gate.enter();
    if (ctx.res.closed) {
      leave(); // who asked has left while the query waited
      return;
    }
    if (form.format !== 'JSON') {
      ctx.res.once('close', leave);
      answerStream(ctx, form, answer, toldQuery(ctx, q, this.rows(answer, STREAM_BATCH)));
      return;
    }
    try {
      await answerResultSet(ctx, form, answer, toldQuery(ctx, q, this.rows(answer)));
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

  private async *rows(answer: QueryAnswer, batchSize?: number): AsyncGenerator<string> {
    const { plan } = answer.compiled;
    const limits = { timeoutMs: this.settings.aql.timeoutMs, ...(batchSize !== undefined && { batchSize }) };
    const found: AsyncIterable<RawRow> = runPipeline(plan, limits);
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
