import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { readRm } from '../../openehr/rm/read.js';

/** Whether the stored object (JSON text) has the content of the given one; uid and order of attributes apart. */
export function isSameContent(given: JsonObject, storedText: string, type: string): boolean {
  const stored: unknown = JSON.parse(storedText);
  return isJsonObject(stored) && contentText(given, type) === contentText(stored, type);
}

function contentText(value: JsonObject, type: string): string {
  const { object } = readRm(value, type);
  const content = Object.fromEntries(Object.entries(object ?? value).filter(([name]) => name !== 'uid'));
  return JSON.stringify(sorted(content));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, child]) => [name, sorted(child)]));
}
