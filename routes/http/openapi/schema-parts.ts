/** The small schemas that those of the document are made of. */
import type { JsonObject } from '../../../openehr/base/json.js';

/** Any text. */
export const TEXT: JsonObject = { type: 'string' };
/** A number of things. */
export const COUNT: JsonObject = { type: 'integer', minimum: 0 };
/** true or false. */
export const FLAG: JsonObject = { type: 'boolean' };
/** A point in time, ISO 8601. */
export const TIME: JsonObject = { type: 'string', format: 'date-time' };
/** A UUID. */
export const UUID: JsonObject = { type: 'string', format: 'uuid' };
/** An object with members of any kind. */
export const ANY: JsonObject = { type: 'object', additionalProperties: true };

/** A reference to a schema of the document. */
export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
/** A list of what a schema describes. */
export const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items });
/** One of some words. */
export const word = (...words: string[]): JsonObject => ({ type: 'string', enum: words });

/** An object. `required`: names of the members that are always there. */
export function object(
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject {
  return { type: 'object', properties, required: [...required] };
}
