import type { ComparisonOperator } from '../syntax/ast.js';
import { parseVersionOperand } from '../semantics/identifier-operand.js';
import type { VersionOperand } from '../semantics/identifier-operand.js';
import { MONGO_OPERATOR, truth } from './comparison.js';
import type { Truth } from './comparison.js';
import { equal, literal, not, present } from '../plan/expression.js';
import type { Expression } from '../plan/expression.js';
import { typeIs } from './values.js';

/**
 * `uid/value operator 'text'` on a versioned object (docs/spec/aql.md#version-uids): a bare uuid means any of its
 * versions; the order is that of the uuids, then of the version numbers.
 */
export function identifierTruth(
  uid: string,
  operator: ComparisonOperator,
  text: string,
  systemId: string,
): Truth {
  const operand = parseVersionOperand(text, systemId);
  if (operand === null) return truth(operator === '!=', present(uid));
  const yes =
    operator === '=' || operator === '!=' ? sameVersion(uid, operand) : orderedAs(uid, operator, operand);
  return truth(operator === '!=' ? not(yes) : yes, present(uid));
}

function sameVersion(uid: string, operand: VersionOperand): Expression {
  if (operand.versionUid !== null) return equal(uid, literal(operand.versionUid));
  return equal(part(uid, 0), literal(operand.versionedObjectUid));
}

function orderedAs(uid: string, operator: '<' | '<=' | '>' | '>=', operand: VersionOperand): Expression {
  if (operand.version === null)
    return { [MONGO_OPERATOR[operator]]: [part(uid, 0), literal(operand.versionedObjectUid)] };
  const left = [part(uid, 0), { $toInt: part(uid, 2) }];
  return {
    [MONGO_OPERATOR[operator]]: [left, [literal(operand.versionedObjectUid), literal(operand.version)]],
  };
}

/** A part of an OBJECT_VERSION_ID, null when the value is no text. */
function part(uid: string, index: number): Expression {
  return { $cond: [typeIs(uid, 'string'), { $arrayElemAt: [{ $split: [uid, '::'] }, index] }, null] };
}

/** What versions are sorted by: the uuid, then the number. */
export function uidOrder(uid: string): Expression {
  // Not an array: $sort would look at its smallest member.
  return { o: part(uid, 0), v: { $toInt: part(uid, 2) } };
}
