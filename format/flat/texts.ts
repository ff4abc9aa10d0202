import type { JsonObject } from '../../base/json.js';
import {
  codedText,
  codePhrase,
  completeCode,
  findItem,
  isOpen,
  resolveText,
  terminologyOf,
} from './coded.js';
import { codeInput, labelOf } from './coded.js';
import { readTable, suffixed, textAt, objectAt, writeTable } from './fields.js';
import { conflict, take, takeEither, type FlatScope, type FlatValue } from './keys.js';
import type { Codec, ReadTarget } from './target.js';
import { integerOf, textOf, unknownValue } from './values.js';

/** Spellings of the terminology of a code. */
const TERMINOLOGY = ['terminology', 'terminology_id'] as const;

/** CODE_PHRASE (templates-and-formats 3.2). */
export const CODE_PHRASE: Codec = {
  read(scope, target) {
    const code = take(scope, 'code');
    const terminology = takeEither(scope, ...TERMINOLOGY);
    const preferred = take(scope, 'preferred_term');
    if (code === undefined && terminology === undefined && preferred === undefined) return null;
    const phrase = codePhrase(optionalText(terminology) ?? terminologyOf(target), optionalText(code));
    if (preferred !== undefined) phrase['preferred_term'] = textOf(preferred);
    return phrase;
  },
  write(value, key, { environment: { out } }) {
    writePhrase(value, key, out);
  },
};

/** DV_TEXT; with a code it is a DV_CODED_TEXT. */
export const DV_TEXT: Codec = {
  read(scope, target) {
    if (scope.values.has('code')) return readCodedText(scope, target);
    const value = takeEither(scope, '', 'value');
    const text: JsonObject = { _type: 'DV_TEXT' };
    if (value !== undefined) text['value'] = textOf(value);
    const found = readTable('DV_TEXT', text, scope, target);
    return found || value !== undefined ? text : null;
  },
  write(value, key, target) {
    const { environment, plan } = target;
    // Where the template asks for a code, free text goes by its own suffix.
    const suffix = plan?.type === 'DV_CODED_TEXT' ? 'other' : '';
    environment.out[suffixed(key, suffix)] = value['value'] ?? '';
    writeTable('DV_TEXT', value, key, target);
  },
};

/** DV_CODED_TEXT; free text (`|other`, or a text that names no code of an open list) is a DV_TEXT. */
export const DV_CODED_TEXT: Codec = {
  read: readCodedText,
  write(value, key, target) {
    const { out } = target.environment;
    const code = objectAt(value, 'defining_code');
    if (code !== undefined) writePhrase(code, key, out);
    if (value['value'] !== undefined) out[`${key}|value`] = value['value'];
    writeTable('DV_TEXT', value, key, target);
  },
};

/** DV_ORDINAL: code, label and ordinal each give the others. */
export const DV_ORDINAL: Codec = {
  read(scope, target) {
    const object: JsonObject = { _type: 'DV_ORDINAL' };
    const code = takeEither(scope, 'code', '');
    const value = take(scope, 'value');
    const ordinal = take(scope, 'ordinal');
    takeEither(scope, ...TERMINOLOGY);
    const found = readTable('DV_ORDINAL', object, scope, target);
    if (code === undefined && value === undefined && ordinal === undefined) return found ? object : null;
    return { ...object, ...ordinalOf({ code, value, ordinal }, target) };
  },
  write(value, key, target) {
    const { out } = target.environment;
    const symbol = objectAt(value, 'symbol');
    const code = textAt(symbol, 'defining_code', 'code_string');
    const label = textAt(symbol, 'value');
    if (code !== undefined) out[`${key}|code`] = code;
    if (label !== undefined) out[`${key}|value`] = label;
    if (value['value'] !== undefined) out[`${key}|ordinal`] = value['value'];
    writeTable('DV_ORDINAL', value, key, target);
  },
};

interface OrdinalKeys {
  readonly code: FlatValue | undefined;
  readonly value: FlatValue | undefined;
  readonly ordinal: FlatValue | undefined;
}

function ordinalOf(given: OrdinalKeys, target: ReadTarget): JsonObject {
  const code = optionalText(given.code);
  const label = optionalText(given.value);
  const ordinal = given.ordinal === undefined ? undefined : integerOf(given.ordinal);
  const items = codeInput(target.plan)?.list ?? [];
  const sought = code ?? label;
  const item =
    sought === undefined ? items.find((candidate) => candidate.ordinal === ordinal) : findItem(items, sought);
  const symbol = codedText({
    // A label may stand in place of the code.
    code: item?.value ?? code,
    value: label ?? (item === undefined ? undefined : labelOf(item, target.environment.language)),
    terminology: 'local',
  });
  const value = ordinal ?? item?.ordinal;
  const isComplete =
    value !== undefined && symbol['value'] !== undefined && (item?.value ?? code) !== undefined;
  if (!isComplete && items.length > 0 && item === undefined)
    throw unknownValue(sought ?? String(ordinal), 'local');
  return { symbol, ...(value === undefined ? {} : { value }) };
}

interface CodedKeys {
  readonly plain: FlatValue | undefined;
  readonly code: FlatValue | undefined;
  readonly value: FlatValue | undefined;
  readonly terminology: FlatValue | undefined;
}

function readCodedText(scope: FlatScope, target: ReadTarget): JsonObject | null {
  const keys: CodedKeys = {
    plain: take(scope, ''),
    code: take(scope, 'code'),
    value: take(scope, 'value'),
    terminology: takeEither(scope, ...TERMINOLOGY),
  };
  const text = freeText(keys, scope, target) ?? codeOfKeys(keys, target);
  const parts: JsonObject = {};
  const preferred = take(scope, 'preferred_term');
  if (!readTable('DV_TEXT', parts, scope, target) && text === null && preferred === undefined) return null;
  const object = text ?? { _type: 'DV_CODED_TEXT' };
  if (preferred !== undefined) {
    const code = objectAt(object, 'defining_code') ?? { _type: 'CODE_PHRASE' };
    object['defining_code'] = { ...code, preferred_term: textOf(preferred) };
  }
  return Object.assign(object, parts);
}

/** Text in place of a code, where the node is open for it; null when there is none. */
function freeText(keys: CodedKeys, scope: FlatScope, target: ReadTarget): JsonObject | null {
  const isMerged = target.plan?.inputs.some((input) => input.suffix === 'other') === true;
  const other = isMerged ? take(scope, 'other') : undefined;
  const coded = keys.code ?? keys.value ?? keys.plain;
  if (other !== undefined) {
    if (coded !== undefined) throw conflict(coded.key, other.key);
    return { _type: 'DV_TEXT', value: textOf(other) };
  }
  const { plain } = keys;
  if (plain === undefined || keys.code !== undefined || keys.value !== undefined) return null;
  const text = textOf(plain);
  return isOpen(target.plan) && resolveText(text, target) === null ? { _type: 'DV_TEXT', value: text } : null;
}

function codeOfKeys(keys: CodedKeys, target: ReadTarget): JsonObject | null {
  const { plain, terminology } = keys;
  if (plain === undefined && keys.code === undefined && keys.value === undefined && terminology === undefined)
    return null;
  let code = optionalText(keys.code);
  let value = optionalText(keys.value);
  if (plain !== undefined) {
    const resolved = resolveText(textOf(plain), target);
    if (resolved === null && code === undefined)
      throw unknownValue(textOf(plain), terminologyOf(target) ?? optionalText(terminology) ?? 'local');
    code = agreed(keys.code, plain, [code, resolved?.code]);
    value ??= resolved?.value ?? textOf(plain);
  }
  return codedText(completeCode({ code, value, terminology: optionalText(terminology) }, target));
}

/** Two keys that name the same code. @throws invalid when they do not */
function agreed(
  code: FlatValue | undefined,
  plain: FlatValue,
  [given, resolved]: readonly [string | undefined, string | undefined],
): string | undefined {
  if (code !== undefined && resolved !== undefined && given !== resolved) throw conflict(plain.key, code.key);
  return given ?? resolved;
}

function optionalText(given: FlatValue | undefined): string | undefined {
  return given === undefined ? undefined : textOf(given);
}

function writePhrase(phrase: JsonObject, key: string, out: JsonObject): void {
  const terminology = textAt(phrase, 'terminology_id', 'value');
  if (phrase['code_string'] !== undefined) out[`${key}|code`] = phrase['code_string'];
  if (terminology !== undefined) out[`${key}|terminology`] = terminology;
  if (phrase['preferred_term'] !== undefined) out[`${key}|preferred_term`] = phrase['preferred_term'];
}
