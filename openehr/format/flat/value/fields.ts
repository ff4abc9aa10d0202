import { Buffer } from 'node:buffer';
import { isKindOf } from '../../../rm/model/classes.js';
import type { JsonObject, JsonValue } from '../../../base/json.js';
import { textAt } from '../../../rm/access.js';
import { valueSetOf } from '../../../rm/terminology/openehr.js';
import { codePhrase } from './coded.js';
import { childOf, instancesOf, takeEither, type FlatScope, type FlatValue } from '../keys/keys.js';
import { childPlan, type ReadTarget, type WriteTarget } from '../plan.js';
import { booleanOf, integerOf, numberOf, temporalOf, textOf } from './values.js';
import { counted } from '../../../base/work.js';

/** How one attribute of a data type is written as text, number or boolean. */
type FieldKind =
  | 'instant'
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'time'
  | 'date-time'
  | 'uri'
  | 'code'
  | 'text-bytes';

/** One attribute of a data type that has a suffix of its own. */
interface Field {
  /** RM attribute. */
  readonly attribute: string;
  readonly kind: FieldKind;
  /** The suffix that is written, then those also read; `''` is the key without `|`. */
  readonly suffixes: readonly [string, ...string[]];
}

/** One attribute of a data type that is an object with keys of its own. */
interface Part {
  readonly attribute: string;
  /** Id below the keys of the owner; null when it shares them. */
  readonly id: string | null;
  /** RM class; `T` is the parameter of the owner, `OWNER` the class of the owner. */
  readonly type: string;
  /** What the parameter of the part is: that of the owner, or the class of the owner. */
  readonly parameter?: 'T' | 'OWNER';
  readonly isList?: boolean;
}

/** Fields and parts of a class, own ones. */
interface OwnTable {
  readonly fields?: readonly Field[];
  readonly parts?: readonly Part[];
}

/** Fields and parts of a class, inherited ones included. */
interface TypeTable {
  readonly fields: readonly Field[];
  readonly parts: readonly Part[];
}

function fieldRow(kind: FieldKind, attribute: string, ...suffixes: string[]): Field {
  const [first = attribute, ...others] = suffixes;
  return { attribute, kind, suffixes: [first, ...others] };
}

function partRow(attribute: string, id: string | null, type: string, more: Partial<Part> = {}): Part {
  return { attribute, id, type, ...more };
}

const IDENTIFIER_FIELDS = ['type', 'issuer', 'assigner'].map((attribute) => fieldRow('text', attribute));
const ACCURACY = partRow('accuracy', '_accuracy', 'DV_DURATION');

/** docs/spec/formats.md#flat-data-types and `_feeder_audit`, except what needs look-ups: texts, ordinals, parties. */
const OWN: Readonly<Record<string, OwnTable>> = {
  DV_ORDERED: {
    fields: [fieldRow('code', 'normal_status')],
    parts: [
      partRow('normal_range', '_normal_range', 'DV_INTERVAL', { parameter: 'OWNER' }),
      partRow('other_reference_ranges', '_other_reference_ranges', 'REFERENCE_RANGE', {
        parameter: 'OWNER',
        isList: true,
      }),
    ],
  },
  REFERENCE_RANGE: {
    parts: [
      partRow('meaning', 'meaning', 'DV_TEXT'),
      partRow('range', null, 'DV_INTERVAL', { parameter: 'T' }),
    ],
  },
  DV_INTERVAL: { parts: [partRow('lower', 'lower', 'T'), partRow('upper', 'upper', 'T')] },
  DV_QUANTIFIED: { fields: [fieldRow('text', 'magnitude_status')] },
  DV_AMOUNT: { fields: [fieldRow('number', 'accuracy'), fieldRow('boolean', 'accuracy_is_percent')] },
  DV_QUANTITY: {
    fields: [
      fieldRow('number', 'magnitude'),
      fieldRow('text', 'units', 'unit', 'units'),
      fieldRow('integer', 'precision'),
      fieldRow('text', 'units_system'),
      fieldRow('text', 'units_display_name'),
    ],
  },
  DV_COUNT: { fields: [fieldRow('integer', 'magnitude', '', 'value')] },
  DV_PROPORTION: {
    fields: [
      fieldRow('number', 'numerator'),
      fieldRow('number', 'denominator'),
      fieldRow('integer', 'type'),
      fieldRow('integer', 'precision'),
    ],
  },
  DV_DATE: { fields: [fieldRow('date', 'value', '', 'value')], parts: [ACCURACY] },
  DV_TIME: { fields: [fieldRow('time', 'value', '', 'value')], parts: [ACCURACY] },
  DV_DATE_TIME: { fields: [fieldRow('date-time', 'value', '', 'value')], parts: [ACCURACY] },
  DV_BOOLEAN: { fields: [fieldRow('boolean', 'value', '', 'value')] },
  DV_URI: { fields: [fieldRow('text', 'value', '', 'value')] },
  DV_IDENTIFIER: { fields: [fieldRow('text', 'id', 'id', '', 'value'), ...IDENTIFIER_FIELDS] },
  DV_ENCAPSULATED: {
    parts: [partRow('charset', '_charset', 'CODE_PHRASE'), partRow('language', '_language', 'CODE_PHRASE')],
  },
  DV_PARSABLE: { fields: [fieldRow('text', 'value', '', 'value'), fieldRow('text', 'formalism')] },
  DV_MULTIMEDIA: {
    fields: [
      fieldRow('uri', 'uri', '', 'url', 'value'),
      fieldRow('code', 'media_type', 'mediatype'),
      fieldRow('text', 'alternate_text', 'alternatetext'),
      fieldRow('integer', 'size'),
      fieldRow('text', 'data'),
      fieldRow('code', 'compression_algorithm'),
      fieldRow('text-bytes', 'integrity_check'),
      fieldRow('code', 'integrity_check_algorithm'),
    ],
    parts: [partRow('thumbnail', '_thumbnail', 'DV_MULTIMEDIA')],
  },
  DV_TEXT: {
    fields: [fieldRow('text', 'formatting')],
    parts: [
      partRow('language', '_language', 'CODE_PHRASE'),
      partRow('encoding', '_encoding', 'CODE_PHRASE'),
      partRow('mappings', '_mapping', 'TERM_MAPPING', { isList: true }),
    ],
  },
  FEEDER_AUDIT: {
    parts: [
      partRow('originating_system_audit', 'originating_system_audit', 'FEEDER_AUDIT_DETAILS'),
      partRow('feeder_system_audit', 'feeder_system_audit', 'FEEDER_AUDIT_DETAILS'),
      partRow('originating_system_item_ids', 'originating_system_item_id', 'DV_IDENTIFIER', { isList: true }),
      partRow('feeder_system_item_ids', 'feeder_system_item_id', 'DV_IDENTIFIER', { isList: true }),
    ],
  },
  FEEDER_AUDIT_DETAILS: {
    fields: [fieldRow('text', 'system_id'), fieldRow('text', 'version_id'), fieldRow('instant', 'time')],
    parts: [
      partRow('location', 'location', 'PARTY_IDENTIFIED'),
      partRow('provider', 'provider', 'PARTY_IDENTIFIED'),
      partRow('subject', 'subject', 'PARTY_PROXY'),
    ],
  },
  TERM_MAPPING: {
    fields: [fieldRow('text', 'match')],
    parts: [partRow('target', 'target', 'CODE_PHRASE'), partRow('purpose', 'purpose', 'DV_CODED_TEXT')],
  },
};

const TABLES = new Map<string, TypeTable>();

/** Fields and parts of a class with those it inherits; both empty for classes without. */
export function tableOf(type: string): TypeTable {
  let table = TABLES.get(type);
  if (table === undefined) {
    const own = Object.entries(OWN).filter(([name]) => isKindOf(type, name));
    table = {
      fields: counted(own).flatMap(([, { fields }]) => fields ?? []),
      parts: counted(own).flatMap(([, { parts }]) => parts ?? []),
    };
    TABLES.set(type, table);
  }
  return table;
}

/** Reads all fields and parts of a class into an object. Gives whether any key said something. */
export function readTable(type: string, object: JsonObject, scope: FlatScope, target: ReadTarget): boolean {
  const { fields, parts } = tableOf(type);
  let found = false;
  for (const field of counted(fields)) {
    const given = takeEither(scope, ...field.suffixes);
    if (given === undefined) continue;
    object[field.attribute] = READERS[field.kind](given, target.environment.now, field);
    found = true;
  }
  if (scope.children.size === 0) return found;
  for (const part of counted(parts)) {
    const value = readFlatPart(part, type, scope, target);
    if (value === null) continue;
    object[part.attribute] = value;
    found = true;
  }
  return found;
}

/** Writes all fields and parts of an object. */
export function writeTable(type: string, object: JsonObject, key: string, target: WriteTarget): void {
  const { fields, parts } = tableOf(type);
  const { out } = target.environment;
  for (const field of counted(fields)) {
    const value = object[field.attribute];
    if (value === undefined) continue;
    const written = flatFieldText(field, value);
    if (written !== null) out[suffixed(key, field.suffixes[0])] = written;
  }
  for (const part of counted(parts)) {
    const value = object[part.attribute];
    if (value !== undefined) writePart(part, value, key, target);
  }
}

/** A key with a suffix; none for the empty one. */
export function suffixed(key: string, suffix: string): string {
  return suffix === '' ? key : `${key}|${suffix}`;
}

/** How each kind of field becomes the value of its attribute. */
const READERS: Readonly<Record<FieldKind, (given: FlatValue, now: string, field: Field) => JsonValue>> = {
  text: textOf,
  number: numberOf,
  integer: integerOf,
  boolean: booleanOf,
  date: (given, now) => temporalOf(given, 'date', now),
  time: (given, now) => temporalOf(given, 'time', now),
  'date-time': (given, now) => temporalOf(given, 'date-time', now),
  instant: (given, now) => ({ _type: 'DV_DATE_TIME', value: temporalOf(given, 'date-time', now) }),
  uri: (given) => ({ _type: 'DV_URI', value: textOf(given) }),
  code: (given, _now, { attribute }) => codePhrase(valueSetOf(attribute)?.terminologyId, textOf(given)),
  'text-bytes': (given) => Buffer.from(textOf(given), 'utf8').toString('base64'),
};

function flatFieldText(field: Field, value: JsonValue): JsonValue {
  if (field.kind === 'uri' || field.kind === 'instant') return textAt(value, 'value') ?? null;
  if (field.kind === 'code') return textAt(value, 'code_string') ?? null;
  if (field.kind === 'text-bytes' && typeof value === 'string')
    return Buffer.from(value, 'base64').toString('utf8');
  return value;
}

function readFlatPart(part: Part, owner: string, scope: FlatScope, target: ReadTarget): JsonValue | null {
  const { environment } = target;
  const plan = partPlan(part, target.plan);
  const type = part.type === 'T' ? (target.parameter ?? ownPartType(plan, target.plan)) : part.type;
  if (type === null) return null;
  const parameter = part.parameter === 'OWNER' ? owner : target.parameter;
  const inner: ReadTarget = { environment, plan, attribute: part.attribute, parameter };
  if (part.id === null) return environment.readValue(type, scope, inner);
  if (part.isList !== true) {
    const child = childOf(scope, part.id);
    return child === undefined ? null : environment.readValue(type, child, inner);
  }
  const items: JsonValue[] = [];
  for (const [, child] of counted(instancesOf(scope, part.id))) {
    const item = environment.readValue(type, child, inner);
    if (item !== null) items.push(item);
  }
  return items.length === 0 ? null : items;
}

/** The type of a bound where the template constrains the bound but not the parameter of the interval. */
function ownPartType(part: ReadTarget['plan'], owner: ReadTarget['plan']): string | null {
  return part === null || part === owner ? null : part.type;
}

/** Ranges allow what the value they belong to allows; other parts have constraints of their own or none. */
function partPlan(part: Part, plan: ReadTarget['plan']): ReadTarget['plan'] {
  if (part.parameter !== undefined) return plan;
  const own = childPlan(plan, part.attribute);
  return own ?? (part.type === 'T' && plan?.type !== 'DV_INTERVAL' ? plan : null);
}

function writePart(part: Part, value: JsonValue, key: string, target: WriteTarget): void {
  const inner: WriteTarget = { environment: target.environment, plan: null };
  const { writeValue } = target.environment;
  if (part.id === null) writeValue(value, key, inner);
  else if (Array.isArray(value))
    counted(value).forEach((item, index) => writeValue(item, `${key}/${part.id ?? ''}:${index}`, inner));
  else writeValue(value, `${key}/${part.id}`, inner);
}
