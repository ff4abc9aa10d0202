import { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '../../../base/json.js';
import { textAt } from '../../../rm/access.js';
import { valueSetOf } from '../../../rm/terminology/attribute-value-sets.js';
import { codePhrase } from './coded.js';
import { childOf, instancesOf, takeEither, type FlatScope, type FlatValue } from '../keys/keys.js';
import { childPlan } from '../plan.js';
import type { ReadTarget, WriteTarget } from '../target.js';
import { tableOf, type Field, type FieldKind, type Part } from './type-table.js';
import { booleanOf, integerOf, numberOf, temporalOf, textOf } from './values.js';

/** Reads all fields and parts of a class into an object. Gives whether any key said something. */
export function readTable(type: string, object: JsonObject, scope: FlatScope, target: ReadTarget): boolean {
  const { fields, parts } = tableOf(type);
  let found = false;
  for (const field of fields) {
    const given = takeEither(scope, ...field.suffixes);
    if (given === undefined) continue;
    object[field.attribute] = READERS[field.kind](given, target.environment.now, field);
    found = true;
  }
  if (scope.children.size === 0) return found;
  for (const part of parts) {
    const value = readPart(part, type, scope, target);
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
  for (const field of fields) {
    const value = object[field.attribute];
    if (value === undefined) continue;
    const written = fieldText(field, value);
    if (written !== null) out[suffixed(key, field.suffixes[0])] = written;
  }
  for (const part of parts) {
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

function fieldText(field: Field, value: JsonValue): JsonValue {
  if (field.kind === 'uri' || field.kind === 'instant') return textAt(value, 'value') ?? null;
  if (field.kind === 'code') return textAt(value, 'code_string') ?? null;
  if (field.kind === 'text-bytes' && typeof value === 'string')
    return Buffer.from(value, 'base64').toString('utf8');
  return value;
}

function readPart(part: Part, owner: string, scope: FlatScope, target: ReadTarget): JsonValue | null {
  const { environment } = target;
  const plan = partPlan(part, target.plan);
  const type = part.type === 'T' ? (target.parameter ?? ownType(plan, target.plan)) : part.type;
  if (type === null) return null;
  const parameter = part.parameter === 'OWNER' ? owner : target.parameter;
  const inner: ReadTarget = { environment, plan, attribute: part.attribute, parameter };
  if (part.id === null) return environment.readValue(type, scope, inner);
  if (part.isList !== true) {
    const child = childOf(scope, part.id);
    return child === undefined ? null : environment.readValue(type, child, inner);
  }
  const items: JsonValue[] = [];
  for (const [, child] of instancesOf(scope, part.id)) {
    const item = environment.readValue(type, child, inner);
    if (item !== null) items.push(item);
  }
  return items.length === 0 ? null : items;
}

/** The type of a bound where the template constrains the bound but not the parameter of the interval. */
function ownType(part: ReadTarget['plan'], owner: ReadTarget['plan']): string | null {
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
    value.forEach((item, index) => writeValue(item, `${key}/${part.id ?? ''}:${index}`, inner));
  else writeValue(value, `${key}/${part.id}`, inner);
}
