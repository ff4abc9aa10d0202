import { FIELD } from '../../index/document.js';
import type { LogicalPlan, PassContext } from '../logical-plan.js';
import { isLatestOnly } from '../steps.js';
import type { DocumentsStep, Step } from '../steps.js';
import { counted } from '../../../openehr/base/work.js';

/**
 * A page in the order of the start time of the COMPOSITION: the indexes that end with `start` give the documents in that
 * order, so only as many are read as rows are wanted. Where ORDER BY asks for it, the sort of all rows falls away. Where
 * there is no ORDER BY, pages need some order, and this one costs nothing: what is committed later mostly comes later.
 */
export function useStartIndex(plan: LogicalPlan, { isCurrent }: PassContext): LogicalPlan {
  const { collection, order, page, steps } = plan;
  if (!isCurrent || collection !== 'aql' || page.limit === null || page.top !== null) return plan;
  const [first, ...others] = steps;
  if (first?.kind !== 'documents' || !isLatestOnly(first)) return plan;
  if (order === null) return hasStart(first) ? documentsByStart(plan) : plan;
  if (!order.isByStart) return plan;
  const sort: Step = { kind: 'sort', keys: [[FIELD.startTime, order.direction]] };
  const rest = counted(others).filter(({ kind }) => kind !== 'sort');
  return { ...plan, steps: [first, sort, ...rest], order: null };
}

/** Only COMPOSITIONs have a start time: other documents would all be of one, in whatever order a plan finds them. */
function hasStart({ rootTypes }: DocumentsStep): boolean {
  return counted(rootTypes).every((type) => type === 'COMPOSITION') && rootTypes.length > 0;
}

/** Sorts the documents, before anything is made of them, by their start instead of their version uid. */
function documentsByStart(plan: LogicalPlan): LogicalPlan {
  const { steps } = plan;
  const at = counted(steps).findIndex(
    ({ kind }) => kind !== 'documents' && kind !== 'match' && kind !== 'filter',
  );
  const sort = steps[at];
  if (sort?.kind !== 'sort' || sort.keys[0]?.[0] !== FIELD.versionUid) return plan;
  return { ...plan, steps: steps.with(at, { ...sort, keys: [[FIELD.startTime, 1]] }) };
}
