import { aliasSummary } from '../../aql/result/aliases.js';
import { hintsOf, warningHint, type Hint } from '../../aql/result/explain-hints.js';
import { explainedStages, querySummary } from '../../aql/result/explain.js';
import type { Settings } from '../../config/settings.js';
import { movingMerges } from '../../models/access/merge-job.js';
import { derivedState, explainPipeline } from '../../models/cross-collection/run-pipeline.js';
import { type JsonObject, jsonOf } from '../../openehr/base/json.js';
import type { CompiledQuery } from '../../query/compile.js';

/**
 * The answer of explain: the query's parts, the passes that rewrote its plan, the pipeline, what MongoDB did stage by stage, and hints. It holds
 * what the query itself says and counts, never data of a patient.
 */
export async function explanation(
  q: string,
  compiled: CompiledQuery,
  { systemId, aql }: Pick<Settings, 'systemId' | 'aql'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { query, scope, executedAql, warnings } = compiled;
  const { leafIndex, subsumption, timeoutMs } = aql;
  const plan = await compiled.planBeside(movingMerges());
  const index = { ...(await derivedState(leafIndex)), systemId, subsumption };
  // What was examined is counted over all that is there, and the pipeline says what policies hide.
  const isNarrowed = compiled.request.permitted !== undefined;
  const explained = isNarrowed ? null : await explainPipeline(plan, { timeoutMs, signal });
  const stages = explained === null ? [] : explainedStages(jsonOf(JSON.stringify(explained)));
  const hints: Hint[] = [...warnings.map(warningHint), ...hintsOf(scope, plan, stages, index)];
  return {
    q,
    executed_aql: executedAql,
    query: querySummary(query, scope),
    collection: plan.collection,
    passes: [...plan.applied],
    ...(scope.seesAliases === true && { aliases: [...aliasSummary(scope)] }),
    pipeline: isNarrowed ? [] : jsonOf(JSON.stringify(plan.pipeline)),
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
