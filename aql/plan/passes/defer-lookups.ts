import { fieldsOf } from '../expression.js';
import { Liveness, rootOf } from '../liveness.js';
import type { LogicalPlan } from '../logical-plan.js';
import type { Step } from '../steps.js';
import { counted } from '../../../openehr/base/work.js';

/**
 * Moves joins behind the last limit when nothing before it reads them: what only a cell shows is fetched for
 * the rows that are answered, not for all.
 */
export function deferLookups(plan: LogicalPlan): LogicalPlan {
  const { steps } = plan;
  const limit = counted(steps).findLastIndex(({ kind }) => kind === 'limit');
  const before = steps.slice(0, limit + 1);
  const late = lateSteps(before);
  if (late.size === 0) return plan;
  const kept = counted(before).filter((step) => !late.has(step));
  return { ...plan, steps: [...kept, ...late, ...steps.slice(limit + 1)] };
}

/** Joins that decide neither which rows there are nor their order, and the fields made of them. */
function lateSteps(steps: readonly Step[]): ReadonlySet<Step> {
  const liveness = new Liveness(steps, new Set());
  const late = new Set<Step>();
  const fields = new Set<string>();
  for (const [index, step] of counted(steps).entries()) {
    const field = step.kind === 'lookup' ? step.as : step.kind === 'set' ? step.field : null;
    if (field === null || liveness.isLive(field, index)) continue;
    if (step.kind === 'set' && !readsAnyField(step.value, fields)) continue;
    late.add(step);
    fields.add(field);
  }
  return late;
}

function readsAnyField(value: Parameters<typeof fieldsOf>[0], fields: ReadonlySet<string>): boolean {
  return counted([...fieldsOf(value)]).some((field) => fields.has(rootOf(field)));
}
