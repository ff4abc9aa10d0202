/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object. Read attributes through `Object.hasOwn` or index access; never trust its prototype. */
export interface JsonObject {
  [name: string]: JsonValue;
}

/** Tells a JSON object from arrays, null and primitives. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
