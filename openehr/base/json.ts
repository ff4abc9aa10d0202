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

/** What JSON text of our own making holds; bodies of requests are read by `parseJson`. @throws SyntaxError */
export function jsonOf(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

/**
 * The object that a file of ours or the answer of a server holds. Not for what is stored: verification has to survive any
 * text there. @throws SyntaxError, TypeError when it holds something else
 */
export function jsonObjectOf(text: string): JsonObject {
  const value = jsonOf(text);
  if (!isJsonObject(value)) throw new TypeError('the JSON text holds no object');
  return value;
}
