import { COUNTED, FIELD } from '../../index/document.js';
import { isNode } from '../expression.js';
import type { Expression } from '../expression.js';
import type { LogicalPlan, PassContext } from '../logical-plan.js';
import type { Stage } from '../../index/stage.js';
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
  const conditions = withoutKindKey(first);
  return conditions === null ? plan : { ...plan, steps: [{ ...first, conditions }, second, ...rest] };
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

/** The conditions but for the key of the kind; null when there are others than these. */
function withoutKindKey(step: DocumentsStep): readonly Stage[] | null {
  if (!isLatestOnly(step) || step.index.length > 0 || step.exact.length > 0) return null;
  const {
    [FIELD.isQueryable]: isQueryable,
    [FIELD.rootType]: type,
    [FIELD.keys]: key,
    ...others
  } = Object.assign({}, ...step.conditions) as Stage;
  const isKind = typeof type === 'string' && JSON.stringify(key) === JSON.stringify({ $eq: type });
  if (isQueryable !== true || !isKind || step.conditions.length !== 3 || Object.keys(others).length > 0)
    return null;
  return [...counted(step.conditions).filter((condition) => !(FIELD.keys in condition)), COUNTED];
}
