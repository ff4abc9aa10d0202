import { FIELD } from '../../index/document.js';
import type { LogicalPlan, PassContext } from '../logical-plan.js';
import { isLatestOnly } from '../steps.js';
import type { Step } from '../steps.js';

/**
 * ORDER BY the start time of the COMPOSITION with a limit: the index on `start` gives the documents in that order, so
 * only as many are read as rows are wanted. The sort of all rows falls away.
 */
export function useStartIndex(plan: LogicalPlan, { isCurrent }: PassContext): LogicalPlan {
  const { collection, order, page, steps } = plan;
  if (!isCurrent || order?.isByStart !== true || collection !== 'aql') return plan;
  if (page.limit === null || page.top !== null) return plan;
  const [first, ...others] = steps;
  if (first?.kind !== 'documents' || !isLatestOnly(first)) return plan;
  const sort: Step = { kind: 'sort', keys: [[FIELD.startTime, order.direction]] };
  const rest = others.filter(({ kind }) => kind !== 'sort');
  return { ...plan, steps: [first, sort, ...rest], order: null };
}
