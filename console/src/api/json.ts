import type { Json, JsonObject } from './types.js';

/** A text, the digits of a number, else nothing. */
export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Whether a value has members. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the end of the names; undefined where there is none. */
export function at(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>((part, name) => (isObject(part) ? part[name] : undefined), value);
}

/** The text at the end of the names. */
export function textAt(value: Json | undefined, ...names: readonly string[]): string {
  return asText(at(value, ...names));
}

/** The elements of a list; of anything else none. */
export function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
