import { explainedStages, hintsOf, querySummary } from '../../aql/result/explain.js';
import { warningText } from '../../aql/result/warning.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { CompiledQuery } from '../../query/compile.js';

/**
 * The answer of explain: the query's parts, the passes that rewrote its plan, the pipeline, what MongoDB did stage by stage, and hints. It holds
 * what the query itself says and counts, never data of a patient.
 */
export function explanation(q: string, compiled: CompiledQuery, explained: unknown): JsonObject {
  const { plan, query, scope, executedAql, warnings } = compiled;
  const stages = explainedStages(JSON.parse(JSON.stringify(explained)) as JsonValue);
  return {
    q,
    executed_aql: executedAql,
    query: querySummary(query, scope),
    collection: plan.collection,
    passes: [...plan.applied],
    pipeline: JSON.parse(JSON.stringify(plan.pipeline)) as JsonValue,
    in_process: plan.inProcess?.kind ?? null,
    stages: stages.map((stage) => ({
      stage: stage.stage,
      index: stage.index,
      documents_examined: stage.documentsExamined,
      keys_examined: stage.keysExamined,
      returned: stage.returned,
      milliseconds: stage.milliseconds,
    })),
    hints: [...warnings.map(warningText), ...hintsOf(scope, plan, stages)],
  };
}
