import { COUNTED } from '../../index/document.js';
import { isNode } from '../expression.js';
import type { Expression } from '../expression.js';
import type { LogicalPlan, PassContext } from '../logical-plan.js';
import { isLatestOnly } from '../steps.js';
import type { DocumentsStep, Step } from '../steps.js';
import { counted } from '../../../openehr/base/work.js';

/**
 * The number of all versioned objects of one kind: the index on `type, q, latest, sv` answers it without a document. It
 * does not hold `keys`, and the key that is the kind itself says what `type` does.
 */
export function countDocuments(plan: LogicalPlan, { isCurrent }: PassContext): LogicalPlan {
  // Documents of an old derivation may have no `sv`.
  if (!isCurrent) return plan;
  const [first, second, ...rest] = plan.steps;
  if (first?.kind !== 'documents' || second === undefined || !isCount(second)) return plan;
  if (!isAllOfOneKind(first)) return plan;
  return { ...plan, steps: [{ ...first, keys: [], conditions: [COUNTED] }, second, ...rest] };
}

/** One group whose accumulators read no field. */
function isCount(step: Step): boolean {
  return (
    step.kind === 'group' && step.id === null && counted(Object.values(step.accumulators)).every(isOneEach)
  );
}

function isOneEach(accumulator: Expression): boolean {
  return (
    isNode(accumulator) &&
    accumulator.kind === 'call' &&
    accumulator.operator === '$sum' &&
    accumulator.args === 1
  );
}

/** Whether nothing is asked of documents but that they are the latest ones of one kind. */
function isAllOfOneKind(step: DocumentsStep): boolean {
  const { owner, rootTypes, keys, conditions, exact, index } = step;
  const [type, anotherType] = rootTypes;
  const [key, anotherKey] = keys;
  const isKind = key === type && anotherKey === undefined && anotherType === undefined;
  const asksMore = conditions.length + exact.length + index.length > 0;
  return isLatestOnly(step) && owner === 'queryable' && type !== undefined && isKind && !asksMore;
}
