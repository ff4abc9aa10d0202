import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { maskedAql } from '../../aql/syntax/masked.js';
import { comparableText } from '../../aql/result/result-set.js';
import type { Scope } from '../../aql/semantics/scope-types.js';
import { auditKey } from '../../models/settings.js';
import { auditAbout, isAudited } from '../http/audit-trail.js';
import type { QueryRequest, CompiledQuery } from '../../query/compile.js';
import { explainedStages, querySummary } from '../../aql/result/explain.js';
import { hintsOf, type Hint } from '../../aql/result/explain-hints.js';
import type { QueryPlan } from '../../aql/plan/query-plan.js';
import type { Settings } from '../../config/settings.js';
import { derivedState, explainPipeline } from '../../models/cross-collection/run-pipeline.js';
import { warningHint } from '../../aql/result/warning.js';
import { type JsonObject, jsonOf } from '../../openehr/base/json.js';

/** Tells the audit which query is asked, before anything of it can fail. `name`: of a stored query. */
export async function auditQuery(
  ctx: Context,
  q: string,
  name: string | null,
  { parameters, ehrId }: QueryRequest,
): Promise<void> {
  if (!isAudited(ctx)) return;
  const aql = maskedAql(q);
  const { values } = parameters;
  auditAbout(ctx, {
    ...(aql !== null && { aql }),
    ...(name !== null && { objects: [name] }),
    ...(ehrId !== null && { ehr_id: ehrId }),
    ...(values.size > 0 && { parameters_hash: await hashOf(values) }),
  });
}

/** Equal parameters are recognised by it, their values are not: a name or number could be guessed from a plain hash. */
async function hashOf(values: QueryRequest['parameters']['values']): Promise<string> {
  const text = comparableText(Object.fromEntries(values));
  return createHmac('sha256', await auditKey())
    .update(text)
    .digest('hex');
}

/** Tells the audit which EHR a query is fixed to, or that its rows may stand for many. */
export function auditScope(ctx: Context, scope: Scope): void {
  if (!isAudited(ctx)) return;
  const [only, ...others] = fixedEhrs(scope);
  const isFixed = scope.aliases.every(({ kind, fixedEhrId }) => kind !== 'ehr' || fixedEhrId !== null);
  const isGrouped =
    scope.query.select.distinct || scope.columns.some(({ expression }) => expression.kind === 'aggregate');
  if (isFixed && only !== undefined && others.length === 0) auditAbout(ctx, { ehr_id: only });
  if (isGrouped && !isFixed) auditAbout(ctx, { population: true });
}

/** The EHRs that a query names, each once; rows of it need not have them. */
export function fixedEhrs({ aliases }: Scope): string[] {
  return [...new Set(aliases.flatMap(({ kind, fixedEhrId }) => (kind === 'ehr' ? (fixedEhrId ?? []) : [])))];
}

/**
 * The answer of explain: the query's parts, the passes that rewrote its plan, the pipeline, what MongoDB did stage by stage, and hints. It holds
 * what the query itself says and counts, never data of a patient.
 */
export async function explanation(
  q: string,
  compiled: CompiledQuery,
  run: { readonly plan: QueryPlan; readonly signal: AbortSignal; readonly settings: Settings },
): Promise<JsonObject> {
  const { systemId, aql } = run.settings;
  const { signal } = run;
  const explained = await explainPipeline(run.plan, { timeoutMs: aql.timeoutMs, signal });
  const index = { ...(await derivedState(aql.leafIndex)), systemId, subsumption: aql.subsumption };
  const { plan, query, scope, executedAql, warnings } = compiled;
  const stages = explainedStages(jsonOf(JSON.stringify(explained)));
  const hints: Hint[] = [...warnings.map(warningHint), ...hintsOf(scope, plan, stages, index)];
  return {
    q,
    executed_aql: executedAql,
    query: querySummary(query, scope),
    collection: plan.collection,
    passes: [...plan.applied],
    pipeline: jsonOf(JSON.stringify(plan.pipeline)),
    in_process: plan.inProcess?.kind ?? null,
    stages: stages.map((stage) => ({
      stage: stage.stage,
      index: stage.index,
      documents_examined: stage.documentsExamined,
      keys_examined: stage.keysExamined,
      returned: stage.returned,
      milliseconds: stage.milliseconds,
    })),
    hints: hints.map(({ message }) => message),
    advice: hints.map(({ code, message, values }) => ({ code, message, values })),
  };
}
