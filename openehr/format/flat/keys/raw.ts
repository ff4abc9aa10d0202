import { CdrError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.js';
import { isKindOf } from '../../../rm/model/classes.js';
import { parseJson } from '../../canonical-json.js';
import { take, type FlatScope } from './keys.js';
import { textOf } from '../value/values.js';

/**
 * Takes `|raw`: the canonical JSON of the object at a node, as text (docs/spec/formats.md#flat-paths); null without
 * it. `@class` in it means `_type`.
 *
 * @throws invalid naming the key when it is no JSON object of one of the classes
 */
export function takeRaw(scope: FlatScope, ...types: readonly string[]): JsonObject | null {
  const given = scope.values.get('raw');
  if (given === undefined) return null;
  take(scope, 'raw');
  const object = renamed(parsed(given.key, textOf(given)));
  if (!isJsonObject(object))
    throw new CdrError('invalid', `the value of ${given.key} must be a JSON object as text`);
  const type = object._type;
  if (typeof type === 'string' && types.some((expected) => isKindOf(type, expected))) return object;
  throw new CdrError('invalid', `the value of ${given.key} must have the _type ${types.join(' or ')}`);
}

function parsed(key: string, text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    const reason = error instanceof CdrError ? error.message : 'it cannot be read';
    throw new CdrError('invalid', `the value of ${key} is no JSON: ${reason}`, { cause: error });
  }
}

function renamed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(renamed);
  if (!isJsonObject(value)) return value;
  const object: JsonObject = {};
  for (const name of Object.keys(value))
    object[name === '@class' ? '_type' : name] = renamed(value[name] ?? null);
  return object;
}
