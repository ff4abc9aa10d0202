import { isJsonObject, type JsonValue } from './json.js';
import { step } from './work.js';

/**
 * The one text of a JSON value by RFC 8785 (JSON Canonicalization Scheme): names of members in the order of their UTF-16 code units,
 * numbers and strings as ECMAScript writes them, no white space. @throws as `step`
 */
export function canonicalText(value: JsonValue): string {
  step();
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(',')}}`;
}
