import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';

/*
 * Attributes of RM objects whose class is not known where they are read: of any class, of a template, of a query.
 * Where it is known, `Rm<'COMPOSITION'>` and `PartialRm<'COMPOSITION'>` name the attributes.
 */

/** The text at a path of attributes below an object; undefined when there is none. */
export function textAt(object: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  const value = memberAt(object, path);
  return typeof value === 'string' ? value : undefined;
}

/** The object at a path of attributes below an object; undefined when there is none. */
export function objectAt(object: JsonValue | undefined, ...path: readonly string[]): JsonObject | undefined {
  const value = memberAt(object, path);
  return isJsonObject(value) ? value : undefined;
}

/** The objects of a list attribute; none when it is absent or no list. */
export function objectsAt(object: JsonObject, attribute: string): JsonObject[] {
  const value = object[attribute];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function memberAt(object: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = object;
  for (const attribute of path) value = isJsonObject(value) ? value[attribute] : undefined;
  return value;
}

/** `_type` of an object, '' when it does not say. */
export function typeOf(object: JsonObject): string {
  const type = object._type;
  return typeof type === 'string' ? type : '';
}

/** `name/value` of a LOCATABLE, '' when it has none. */
export function nameOf(locatable: JsonValue): string {
  return textAt(locatable, 'name', 'value') ?? '';
}

/** Whether an attribute of canonical JSON is not there (`readRm` drops nulls and empty lists). */
export function isAbsent(value: JsonValue | undefined): value is undefined | null {
  return value === undefined || value === null;
}

/** The object without some of its attributes. */
export function withoutAttributes(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
