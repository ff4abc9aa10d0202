import type { Json, JsonObject } from './types.js';

/** A text, the digits of a number, else nothing. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Whether a value has members. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the end of the names; undefined where there is none. */
export function at(value: unknown, ...names: readonly string[]): Json | undefined {
  const [first, ...rest] = names;
  if (first === undefined) return value as Json | undefined;
  return isObject(value) ? at(value[first], ...rest) : undefined;
}

/** The text at the end of the names. */
export function textAt(value: unknown, ...names: readonly string[]): string {
  return asText(at(value, ...names));
}

/** The elements of a list; of anything else none. */
export function items(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** XML and JSON laid out for reading. */
export function readable(content: unknown): string {
  return typeof content === 'string' ? indentedXml(content) : JSON.stringify(content, null, 2);
}

/** Between two tags, but never within an element that holds nothing or text, which would be changed. */
const BETWEEN_TAGS = /(?<=<\/[^>]+>|\/>)(?=<)|(?<=>)(?=<[^/])/;

/** XML with an element on each line. */
function indentedXml(xml: string): string {
  let depth = 0;
  return xml
    .replace(/\?>\s*/, '?>')
    .split(BETWEEN_TAGS)
    .map((part) => {
      if (part.startsWith('</')) depth -= 1;
      const line = '  '.repeat(Math.max(0, depth)) + part;
      if (/^<[^!?/]/.test(part) && !/(\/|<\/[^<>]+)>$/.test(part)) depth += 1;
      return line;
    })
    .join('\n');
}
