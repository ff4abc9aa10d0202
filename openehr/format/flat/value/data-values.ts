import { isJsonObject, type JsonValue, type JsonObject } from '../../../base/json.js';
import {
  INSTRUCTION_DETAILS,
  FEEDER_AUDIT,
  LINK,
  LOCATABLE_REF,
  STRING,
  UID_BASED_ID,
} from './references.js';
import { type FlatScope, take } from '../keys/keys.js';
import { OBJECT_REF, PARTICIPATION, PARTY } from './parties.js';
import { BY_TABLE, DV_DURATION, DV_INTERVAL, DV_PROPORTION, DV_QUANTITY, DV_SCALE } from './quantities.js';
import type { Codec, ReadTarget, WriteTarget } from '../plan.js';
import { CODE_PHRASE, DV_CODED_TEXT, DV_ORDINAL, DV_STATE, DV_TEXT } from './texts.js';
import { tableOf } from './fields.js';
import { CdrError } from '../../../base/errors.js';
import { isKindOf } from '../../../rm/model/classes.js';
import { parseJson } from '../../canonical-json.js';
import { textOf } from './values.js';
import { counted } from '../../../base/work.js';

const CODECS: ReadonlyMap<string, Codec> = new Map(
  Object.entries({
    ...{
      CODE_PHRASE,
      DV_TEXT,
      DV_CODED_TEXT,
      DV_ORDINAL,
      DV_SCALE,
      DV_QUANTITY,
      DV_PROPORTION,
      DV_DURATION,
      DV_INTERVAL,
    },
    DV_STATE,
    ...{ PARTY_PROXY: PARTY, PARTY_SELF: PARTY, PARTY_IDENTIFIED: PARTY, PARTY_RELATED: PARTY },
    ...{ PARTICIPATION, OBJECT_REF, LOCATABLE_REF, LINK, FEEDER_AUDIT, INSTRUCTION_DETAILS },
    ...{ UID_BASED_ID, HIER_OBJECT_ID: UID_BASED_ID, OBJECT_VERSION_ID: UID_BASED_ID },
    ...{ STRING, String: STRING },
  }),
);

/**
 * Reads an object of a data type, a party or one of their parts from its keys; null when no key says anything
 * about it or FLAT has no keys for the class but `|raw`.
 *
 * @throws invalid naming the key of a value that cannot be read
 */
export function readValue(type: string, scope: FlatScope, target: ReadTarget): JsonValue | null {
  return takeRaw(scope, type) ?? codecOf(type)?.read(scope, target, type) ?? null;
}

/** Writes what `readValue` reads; an object of a class without keys of its own goes as `|raw`. */
export function writeValue(value: JsonValue, key: string, target: WriteTarget): void {
  const { out } = target.environment;
  if (!isJsonObject(value)) {
    out[key] = value;
    return;
  }
  const type = value._type;
  const codec = typeof type === 'string' ? codecOf(type) : null;
  if (codec === null) out[`${key}|raw`] = JSON.stringify(value);
  else codec.write(value, key, target);
}

function codecOf(type: string): Codec | null {
  const codec = CODECS.get(type);
  if (codec !== undefined) return codec;
  const { fields, parts } = tableOf(type);
  return fields.length + parts.length === 0 ? null : BY_TABLE;
}

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
  const object = renamed(parsedRaw(given.key, textOf(given)));
  if (!isJsonObject(object))
    throw new CdrError('invalid', `the value of ${given.key} must be a JSON object as text`);
  const type = object._type;
  if (typeof type === 'string' && counted(types).some((expected) => isKindOf(type, expected))) return object;
  throw new CdrError('invalid', `the value of ${given.key} must have the _type ${types.join(' or ')}`);
}

function parsedRaw(key: string, text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    const reason = error instanceof CdrError ? error.message : 'it cannot be read';
    throw new CdrError('invalid', `the value of ${key} is no JSON: ${reason}`, { cause: error });
  }
}

function renamed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return counted(value).map(renamed);
  if (!isJsonObject(value)) return value;
  const object: JsonObject = {};
  for (const name of counted(Object.keys(value)))
    object[name === '@class' ? '_type' : name] = renamed(value[name] ?? null);
  return object;
}
