import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';

/** JSON text with sorted keys: equal for equal values, whatever the order of their attributes. */
export function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] ?? null)}`);
  return `{${entries.join(',')}}`;
}
