import { isJsonObject, type JsonValue } from '../../../base/json.js';
import {
  INSTRUCTION_DETAILS,
  FEEDER_AUDIT,
  LINK,
  LOCATABLE_REF,
  STRING,
  UID_BASED_ID,
} from './references.js';
import type { FlatScope } from '../keys/keys.js';
import { OBJECT_REF, PARTICIPATION, PARTY } from './parties.js';
import { BY_TABLE, DV_DURATION, DV_INTERVAL, DV_PROPORTION, DV_QUANTITY } from './quantities.js';
import { takeRaw } from '../keys/raw.js';
import type { Codec, ReadTarget, WriteTarget } from '../target.js';
import { DV_SCALE } from './scale.js';
import { CODE_PHRASE, DV_CODED_TEXT, DV_ORDINAL, DV_STATE, DV_TEXT } from './texts.js';
import { tableOf } from './type-table.js';

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
