import { CdrError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { conflict, flatKeys, type FlatScope } from '../flat/keys/keys.js';
import { counted } from '../../base/work.js';

/** Characters of all keys of the FLAT form: a long path is repeated in the key of each value below it. */
const MAX_KEY_CHARACTERS = 64 * 1024 * 1024;

/** The FLAT form that is being made. */
interface Flattening {
  readonly flat: JsonObject;
  keyCharacters: number;
}

/**
 * Turns a STRUCTURED body into FLAT (docs/spec/formats.md#structured). Nulls and empty lists are left out; a single
 * value may stand in place of a list of one.
 *
 * @throws invalid naming the key of a list in a list or of an attribute that is no single value, and when two
 * entries give the same key different values; too-large when the keys would be too long altogether
 */
export function structuredToFlat(structured: JsonObject): JsonObject {
  const into: Flattening = { flat: {}, keyCharacters: 0 };
  for (const [id, value] of counted(Object.entries(structured))) flattenStructured(into, id, value);
  return into.flat;
}

/**
 * Turns a FLAT body into STRUCTURED (docs/spec/formats.md#structured): every id holds a list, the root and `ctx`
 * hold one object. Where a list would leave open which entry is which when read again, the later ones keep their
 * index in the key (`"id:1"`).
 *
 * @throws invalid as `flatKeys`
 */
export function flatToStructured(flat: JsonObject): JsonObject {
  const { top, context } = flatKeys(flat);
  const structured: JsonObject = {};
  if (context.size > 0)
    structured.ctx = Object.fromEntries(Array.from(counted(context), ([name, { value }]) => [name, value]));
  for (const [id, instances] of counted(top.children))
    for (const [index, scope] of counted(instances))
      structured[index === 0 ? id : `${id}:${index}`] = structureOf(scope);
  return structured;
}

function flattenStructured(into: Flattening, path: string, value: JsonValue): void {
  if (Array.isArray(value)) flattenList(into, path, value);
  else if (isJsonObject(value)) flattenObject(into, path, value);
  else if (value !== null) putFlat(into, path, value);
}

function flattenObject(into: Flattening, path: string, object: JsonObject): void {
  for (const [name, value] of counted(Object.entries(object))) {
    if (!name.startsWith('|')) flattenStructured(into, `${path}/${name}`, value);
    else if (typeof value !== 'object') putFlat(into, path + name, value);
    else if (value !== null)
      throw new CdrError('invalid', `the value of ${path}${name} must be a single value`);
  }
}

/** Entries with nothing but keys of `_` say more about the first one, unless several are there to be distinguished. */
function flattenList(into: Flattening, path: string, list: readonly JsonValue[]): void {
  const isNumbered = counted(list).filter(isEntry).length > 1;
  counted(list).forEach((value, index) => {
    if (Array.isArray(value)) throw new CdrError('invalid', `the list at ${path} must not hold a list`);
    flattenStructured(into, isNumbered && index > 0 ? `${path}:${index}` : path, value);
  });
}

function isEntry(value: JsonValue): boolean {
  if (!isJsonObject(value)) return value !== null;
  return counted(Object.keys(value)).some((name) => !name.startsWith('_'));
}

function putFlat(into: Flattening, key: string, value: JsonValue): void {
  const { flat } = into;
  into.keyCharacters += key.length;
  if (into.keyCharacters > MAX_KEY_CHARACTERS)
    throw new CdrError('too-large', 'the ids of the STRUCTURED body are too long for its depth');
  if (Object.hasOwn(flat, key) && flat[key] !== value) throw conflict(key, key);
  flat[key] = value;
}

function structureOf(scope: FlatScope): JsonValue {
  const plain = scope.values.get('');
  if (plain !== undefined && scope.values.size === 1 && scope.children.size === 0) return plain.value;
  const object: JsonObject = {};
  for (const [attribute, { key, value }] of counted(scope.values)) {
    // Clients read `|identifiers_id:0` alone, without the index they find no number.
    const index = key.endsWith(`|${attribute}:0`) ? ':0' : '';
    object[`|${attribute === '' ? 'value' : attribute + index}`] = value;
  }
  for (const [id, instances] of counted(scope.children)) addInstances(object, id, instances);
  return object;
}

function addInstances(object: JsonObject, id: string, instances: ReadonlyMap<number, FlatScope>): void {
  const ordered = counted([...instances]).sort(([a], [b]) => a - b);
  const values = counted(ordered).map(([, scope]) => structureOf(scope));
  const isComplete = counted(ordered).every(([index], position) => index === position);
  if (isComplete && (values.length === 1 || counted(values).filter(isEntry).length > 1)) {
    object[id] = values;
    return;
  }
  counted(ordered).forEach(([index], position) => {
    object[index === 0 ? id : `${id}:${index}`] = [values[position] ?? null];
  });
}
