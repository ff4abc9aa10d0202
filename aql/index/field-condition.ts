import type { ComparisonOperator, Literal } from '../syntax/ast.js';
import { parseVersionOperand } from '../semantics/identifier-operand.js';
import type { Stage } from './stage.js';
import { FIELD, type IndexField } from './document.js';
import { templateKey } from './keys.js';
import { literalIn } from '../semantics/literal-value.js';
import { MONGO_OPERATOR } from './stage.js';

/**
 * The native condition on a field of the query index that a comparison of its path demands; null where there is
 * none, as for `!=` or a uid that is compared by order.
 */
export function fieldCondition(
  field: IndexField | null,
  operator: ComparisonOperator,
  operand: { readonly kind: string },
  systemId: string,
): Stage | null {
  if (!isString(operand)) return null;
  switch (field) {
    case FIELD.versionUid:
      return operator === '=' ? uidEquals(operand.value, systemId) : null;
    case FIELD.timeCommitted:
    case FIELD.startTime:
      return instantCondition(field, operator, operand);
    case FIELD.templateId:
      return operator === '=' ? { [FIELD.keys]: { $eq: templateKey(operand.value) } } : null;
    default:
      return null;
  }
}

type StringLiteral = Extract<Literal, { kind: 'string' }>;

function isString(operand: { readonly kind: string }): operand is StringLiteral {
  return operand.kind === 'string';
}

/** The ids of a versioned object's versions start with its uid. */
function uidEquals(text: string, systemId: string): Stage | null {
  const uid = parseVersionOperand(text, systemId);
  if (uid === null) return null;
  if (uid.versionUid !== null) return { [FIELD.versionUid]: { $eq: uid.versionUid } };
  const { versionedObjectUid } = uid;
  return { [FIELD.versionUid]: { $gte: `${versionedObjectUid}::`, $lt: `${versionedObjectUid}:;` } };
}

function instantCondition(
  field: IndexField,
  operator: ComparisonOperator,
  operand: StringLiteral,
): Stage | null {
  const instant = literalIn('instant', operand);
  if (operator === '!=' || typeof instant !== 'number') return null;
  return { [field]: { [MONGO_OPERATOR[operator]]: new Date(instant) } };
}
