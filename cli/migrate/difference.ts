import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { parseDateTime } from '../../openehr/base/iso8601.js';

/**
 * Where two objects of the reference model say something else; null: nowhere. What is null, an empty list, or a `_type` that one of
 * them leaves out says nothing, and times are compared as moments.
 */
export function differenceOf(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  path = '',
): string | null {
  if (isNothing(one) && isNothing(other)) return null;
  if (Array.isArray(one) && Array.isArray(other)) return differenceOfLists(one, other, path);
  if (isJsonObject(one) && isJsonObject(other)) return differenceOfObjects(one, other, path);
  return isSameValue(one, other) ? null : path || '/';
}

function differenceOfObjects(one: JsonObject, other: JsonObject, path: string): string | null {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  if (one._type === undefined || other._type === undefined) names.delete('_type');
  for (const name of names) {
    const found = differenceOf(one[name], other[name], `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

function differenceOfLists(
  one: readonly JsonValue[],
  other: readonly JsonValue[],
  path: string,
): string | null {
  if (one.length !== other.length) return path || '/';
  for (const [index, member] of one.entries()) {
    const found = differenceOf(member, other[index], `${path}[${index}]`);
    if (found !== null) return found;
  }
  return null;
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function isSameValue(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  const [left, right] = [parseDateTime(one), parseDateTime(other)];
  return left !== null && right !== null && left.lower === right.lower;
}
