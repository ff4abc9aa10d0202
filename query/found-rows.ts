import type { QueryPlan } from '../aql/plan/query-plan.js';
import type { Work } from '../openehr/base/work.js';
import type { PipelineRow, RunLimits } from '../models/access/run-pipeline.js';
import { evaluatedPlan } from './evaluate.js';
import { rowsOfOneMoment, type RequestedEhr } from './one-moment.js';
import { rowsOfStream, type HeldLimits } from './streamed.js';

/** Whose rows they are to be. */
interface FoundFor {
  readonly ehr: RequestedEhr | null;
  readonly held: HeldLimits | undefined;
  readonly work: Work;
}

/**
 * What the database finds for a query, of one moment; for a stream (`held`) as far as `rowsOfStream` says, for the evaluator
 * what it is to look at. @throws as these
 */
export function foundRows(
  plan: QueryPlan,
  limits: RunLimits,
  { ehr, held, work }: FoundFor,
): AsyncIterable<readonly PipelineRow[]> {
  if (plan.inProcess?.kind === 'evaluate') return rowsOfOneMoment(evaluatedPlan(plan, work), limits, ehr);
  return held === undefined
    ? rowsOfOneMoment(plan, limits, ehr)
    : rowsOfStream(plan, { ...limits, ...held }, ehr);
}
