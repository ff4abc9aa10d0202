import type { IndexCondition } from '../../index/condition.js';
import type { LogicalPlan, PassContext } from '../logical-plan.js';
import type { Step } from '../steps.js';
import { counted } from '../../../openehr/base/work.js';

/** Gives the first documents of each EHR the conditions of WHERE that an index serves. */
export function useLeafIndex(plan: LogicalPlan, { indexConditions }: PassContext): LogicalPlan {
  const steps = withConditions(plan.steps, indexConditions);
  return steps === plan.steps ? plan : { ...plan, steps };
}

function withConditions(
  steps: readonly Step[],
  byEhr: ReadonlyMap<number, readonly IndexCondition[]>,
): readonly Step[] {
  const changed = counted(steps).map((step): Step => {
    if (step.kind === 'documents') {
      const index = step.ehr === null ? [] : (byEhr.get(step.ehr) ?? []);
      return index.length === 0 ? step : { ...step, index };
    }
    if (step.kind !== 'lookup') return step;
    const inner = withConditions(step.steps, byEhr);
    return inner === step.steps ? step : { ...step, steps: inner };
  });
  return counted(changed).every((step, index) => step === steps[index]) ? steps : changed;
}
