import type { Work } from '../openehr/base/work.js';
import type { PipelineRow, RunLimits } from '../models/cross-collection/run-pipeline.js';
import type { CompiledQuery } from './compile.js';
import { evaluatedPlan } from './evaluate.js';
import { rowsOfOneMoment, type PlanBeside, type RequestedEhr } from './one-moment.js';
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
  { plan, planBeside }: Pick<CompiledQuery, 'plan' | 'planBeside'>,
  limits: RunLimits,
  { ehr, held, work }: FoundFor,
): AsyncIterable<readonly PipelineRow[]> {
  if (plan.inProcess?.kind === 'evaluate') {
    const evaluated: PlanBeside = async (merges) => evaluatedPlan(await planBeside(merges), work, merges);
    return rowsOfOneMoment(evaluated, limits, ehr);
  }
  return held === undefined
    ? rowsOfOneMoment(planBeside, limits, ehr)
    : rowsOfStream({ planBeside, ehrField: plan.ehrField }, { ...limits, ...held }, ehr);
}
