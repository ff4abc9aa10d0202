import type { ComparisonOperator } from '../../syntax/ast.js';
import { parseEhrId } from '../../../openehr/base/object-version-id.js';
import type { PathType } from '../../semantics/scope-types.js';
import { parseVersionOperand } from '../../semantics/identifier-operand.js';
import type { VersionOperand } from '../../semantics/identifier-operand.js';
import { truth } from './comparison.js';
import type { Truth } from './comparison.js';
import { call, equal, literal, not, present } from '../../plan/expression.js';
import type { Expression, Reference } from '../../plan/expression.js';
import { typeIs } from './values.js';
import { MONGO_OPERATOR } from '../../index/stage.js';

/**
 * `uid/value operator 'text'` on a versioned object (docs/spec/aql.md#version-uids): a bare uuid means any of its
 * versions; the order is that of the uuids, then of the version numbers.
 */
export function identifierTruth(
  uid: Reference,
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

function sameVersion(uid: Reference, operand: VersionOperand): Expression {
  if (operand.versionUid !== null) return equal(uid, literal(operand.versionUid));
  return equal(uidPart(uid, 0), literal(operand.versionedObjectUid));
}

function orderedAs(uid: Reference, operator: '<' | '<=' | '>' | '>=', operand: VersionOperand): Expression {
  if (operand.version === null)
    return call(MONGO_OPERATOR[operator], [uidPart(uid, 0), literal(operand.versionedObjectUid)]);
  const left = [uidPart(uid, 0), call('$toInt', uidPart(uid, 2))];
  return call(MONGO_OPERATOR[operator], [
    left,
    [literal(operand.versionedObjectUid), literal(operand.version)],
  ]);
}

/** A part of an OBJECT_VERSION_ID, null when the value is no text. */
function uidPart(uid: Reference, index: number): Expression {
  return call('$cond', [
    typeIs(uid, 'string'),
    call('$arrayElemAt', [call('$split', [uid, '::']), index]),
    null,
  ]);
}

/** What an identifier is compared with: an EHR id as it is stored, UUIDs in lower case. */
export function asIdentifier<T extends { readonly kind: string; readonly value?: unknown }>(
  item: T,
  identifier: PathType['identifier'],
): T {
  if (identifier !== 'ehr' || item.kind !== 'string' || typeof item.value !== 'string') return item;
  return { ...item, value: parseEhrId(item.value) ?? item.value };
}

/** What versions are sorted by: the uuid, then the number. */
export function uidOrder(uid: Reference): Expression {
  // Not an array: $sort would look at its smallest member.
  return { o: uidPart(uid, 0), v: call('$toInt', uidPart(uid, 2)) };
}
