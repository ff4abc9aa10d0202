import type { JsonObject } from '../../../base/json.js';
import type { WebTemplateListItem } from '../../../template/web-template/web-template.js';
import {
  codedText,
  codePhrase,
  completeCode,
  findItem,
  isOpen,
  listedLabel,
  resolveText,
  terminologyOf,
  type CodedValue,
} from './coded.js';
import { codeInput } from './coded.js';
import { textAt, objectAt } from '../../../rm/access.js';
import { readTable, suffixed, writeTable } from './fields.js';
import { conflict, take, takeEither, type FlatScope, type FlatValue } from '../keys/keys.js';
import type { Codec, ReadTarget } from '../plan.js';
import { booleanOf, integerOf, textOf, unknownValue } from './values.js';
import { counted } from '../../../base/work.js';

/** Spellings of the terminology of a code. */
const TERMINOLOGY = ['terminology', 'terminology_id'] as const;

/** CODE_PHRASE (docs/spec/formats.md#flat-data-types). */
export const CODE_PHRASE: Codec = {
  read(scope, target) {
    const code = take(scope, 'code');
    const terminology = takeEither(scope, ...TERMINOLOGY);
    const preferred = take(scope, 'preferred_term');
    if (code === undefined && terminology === undefined && preferred === undefined) return null;
    const phrase = codePhrase(optionalFlatText(terminology) ?? terminologyOf(target), optionalFlatText(code));
    if (preferred !== undefined) phrase.preferred_term = textOf(preferred);
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
    if (value !== undefined) text.value = textOf(value);
    const found = readTable('DV_TEXT', text, scope, target);
    return found || value !== undefined ? text : null;
  },
  write(value, key, target) {
    const { environment, plan } = target;
    // Where the template asks for a code, free text goes by its own suffix.
    const suffix = plan?.type === 'DV_CODED_TEXT' ? 'other' : '';
    environment.out[suffixed(key, suffix)] = value.value ?? '';
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
    if (value.value !== undefined) out[`${key}|value`] = value.value;
    writeTable('DV_TEXT', value, key, target);
  },
};

/** DV_STATE: the keys of a coded text, and `|is_terminal` when it is. */
export const DV_STATE: Codec = {
  read(scope, target) {
    const value = readCodedText(scope, target);
    const terminal = take(scope, 'is_terminal');
    if (value === null && terminal === undefined) return null;
    const isTerminal = terminal !== undefined && booleanOf(terminal);
    return { _type: 'DV_STATE', ...(value === null ? {} : { value }), is_terminal: isTerminal };
  },
  write(value, key, target) {
    const state = objectAt(value, 'value');
    if (state !== undefined) DV_CODED_TEXT.write(state, key, target);
    if (value.is_terminal === true) target.environment.out[`${key}|is_terminal`] = true;
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
    const given: OrdinalParts = {
      code: optionalFlatText(code),
      label: optionalFlatText(value),
      ordinal: ordinal === undefined ? undefined : integerOf(ordinal),
    };
    return { ...object, ...flatOrdinal(given, target) };
  },
  write(value, key, target) {
    const { out } = target.environment;
    const symbol = objectAt(value, 'symbol');
    const code = textAt(symbol, 'defining_code', 'code_string');
    const label = textAt(symbol, 'value');
    if (code !== undefined) out[`${key}|code`] = code;
    if (label !== undefined) out[`${key}|value`] = label;
    if (value.value !== undefined) out[`${key}|ordinal`] = value.value;
    writeTable('DV_ORDINAL', value, key, target);
  },
};

interface OrdinalParts {
  readonly code: string | undefined;
  readonly label: string | undefined;
  readonly ordinal: number | undefined;
}

function flatOrdinal({ code, label, ordinal }: OrdinalParts, target: ReadTarget): JsonObject {
  const items = codeInput(target.plan)?.list ?? [];
  const sought = code ?? label;
  const item =
    sought === undefined
      ? counted(items).find((candidate) => candidate.ordinal === ordinal)
      : findItem(items, sought);
  if (item !== undefined) {
    const value = listedLabel(item, label, target);
    return ordinalObject(
      { code: item.value, value, terminology: 'local' },
      listedOrdinal(item, ordinal, target),
    );
  }
  const isIncomplete = [code, label, ordinal].includes(undefined);
  if (items.length > 0 && isIncomplete) throw unknownValue(sought ?? String(ordinal), 'local');
  return ordinalObject({ code, value: label, terminology: 'local' }, ordinal);
}

/** The number of the template wins over another one that was given beside a listed code. */
function listedOrdinal(
  item: WebTemplateListItem,
  given: number | undefined,
  { environment }: ReadTarget,
): number | undefined {
  if (item.ordinal === undefined || given === undefined || given === item.ordinal)
    return item.ordinal ?? given;
  environment.warnings.push(
    `the ordinal ${given} of the code ${item.value} was replaced by that of the template, ${item.ordinal}`,
  );
  return item.ordinal;
}

function ordinalObject(symbol: CodedValue, value: number | undefined): JsonObject {
  return { symbol: codedText(symbol), ...(value === undefined ? {} : { value }) };
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
    object.defining_code = { ...code, preferred_term: textOf(preferred) };
  }
  return Object.assign(object, parts);
}

function takesOther({ plan }: ReadTarget): boolean {
  return counted(plan?.inputs ?? []).some((input) => input.suffix === 'other');
}

/** Text in place of a code, where the node is open for it; null when there is none. */
function freeText(keys: CodedKeys, scope: FlatScope, target: ReadTarget): JsonObject | null {
  const isMerged = takesOther(target);
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
  const given: CodedValue = {
    code: optionalFlatText(keys.code),
    value: optionalFlatText(keys.value),
    terminology: optionalFlatText(keys.terminology),
  };
  if (keys.plain !== undefined)
    return codedText(completeCode(withPlain(keys.plain, keys.code, given, target), target));
  const isEmpty = keys.code === undefined && keys.value === undefined && keys.terminology === undefined;
  return isEmpty ? null : codedText(completeCode(given, target));
}

/** Adds what the key without suffix says: a code or label that the node knows, or the label of a code given. */
function withPlain(
  plain: FlatValue,
  code: FlatValue | undefined,
  given: CodedValue,
  target: ReadTarget,
): CodedValue {
  const text = textOf(plain);
  const resolved = resolveText(text, target);
  if (resolved === null) {
    if (code === undefined) throw unknownValue(text, given.terminology ?? terminologyOf(target) ?? 'local');
    return { ...given, value: given.value ?? text };
  }
  if (code !== undefined && resolved.code !== given.code) throw conflict(plain.key, code.key);
  const { value, terminology } = given;
  return {
    code: resolved.code,
    value: value ?? resolved.value,
    terminology: terminology ?? resolved.terminology,
  };
}

function optionalFlatText(given: FlatValue | undefined): string | undefined {
  return given === undefined ? undefined : textOf(given);
}

function writePhrase(phrase: JsonObject, key: string, out: JsonObject): void {
  const terminology = textAt(phrase, 'terminology_id', 'value');
  if (phrase.code_string !== undefined) out[`${key}|code`] = phrase.code_string;
  if (terminology !== undefined) out[`${key}|terminology`] = terminology;
  if (phrase.preferred_term !== undefined) out[`${key}|preferred_term`] = phrase.preferred_term;
}
