import { isJsonObject, type JsonObject } from '../../../base/json.js';
import { PROPORTION_TYPES } from '../../../template/web-template/web-template.js';
import { textAt, objectAt } from '../../../rm/access.js';
import { readTable, writeTable } from './fields.js';
import { conflict, take, takeEither, type FlatScope, type FlatValue } from '../keys/keys.js';
import { type PlanNode, childPlan } from '../plan.js';
import type { Codec, ReadTarget } from '../plan.js';
import { booleanOf, integerOf, numberOf, temporalOf } from './values.js';
import { DV_CODED_TEXT } from './texts.js';
import { counted } from '../../../base/work.js';

/** Every class whose keys are all in the table (`type-table.ts`). */
export const BY_TABLE: Codec = {
  read(scope, target, type) {
    const object: JsonObject = { _type: type };
    return readTable(type, object, scope, target) ? object : null;
  },
  write(value, key, target) {
    writeTable(textAt(value, '_type') ?? '', value, key, target);
  },
};

/** DV_QUANTITY: the unit is taken from the template when it allows only one. */
export const DV_QUANTITY: Codec = {
  read(scope, target, type) {
    const quantity = readByTable(scope, target, type);
    const unit = onlyUnit(target.plan);
    if (quantity !== null && unit !== undefined) quantity.units ??= unit;
    return quantity;
  },
  write: BY_TABLE.write,
};

/** DV_PROPORTION: the value without suffix is the ratio, written only. */
export const DV_PROPORTION: Codec = {
  read(scope, target, type) {
    for (const ratio of ['', 'value']) take(scope, ratio);
    const proportion = readByTable(scope, target, type);
    const [only, ...others] = target.plan?.node.proportionTypes ?? [];
    if (proportion !== null && only !== undefined && others.length === 0)
      proportion.type ??= PROPORTION_TYPES.indexOf(only);
    return proportion;
  },
  write(value, key, target) {
    const { numerator, denominator } = value;
    if (typeof numerator === 'number' && typeof denominator === 'number' && denominator !== 0)
      target.environment.out[key] = numerator / denominator;
    BY_TABLE.write(value, key, target);
  },
};

const DATE_PARTS = [
  ['year', 'Y'],
  ['month', 'M'],
  ['week', 'W'],
  ['day', 'D'],
] as const;
const TIME_PARTS = [
  ['hour', 'H'],
  ['minute', 'M'],
  ['second', 'S'],
] as const;

/** DV_DURATION: ISO 8601 text, or on input its parts. */
export const DV_DURATION: Codec = {
  read(scope, target, type) {
    const object: JsonObject = { _type: type };
    const found = readTable(type, object, scope, target);
    const plain = takeEither(scope, '', 'value');
    const date = flatDurationParts(scope, DATE_PARTS);
    const time = flatDurationParts(scope, TIME_PARTS);
    const [part] = [...date.given, ...time.given];
    if (plain !== undefined && part !== undefined) throw conflict(plain.key, part.key);
    if (plain !== undefined) object.value = temporalOf(plain, 'duration', target.environment.now);
    else if (part !== undefined) {
      const text = `P${date.text}${time.text === '' ? '' : `T${time.text}`}`;
      object.value = temporalOf({ ...part, value: text }, 'duration', target.environment.now);
    }
    return found || object.value !== undefined ? object : null;
  },
  write(value, key, target) {
    if (value.value !== undefined) target.environment.out[key] = value.value;
    writeTable('DV_DURATION', value, key, target);
  },
};

/** DV_INTERVAL: a bound that is not given is unbounded, and then not included. */
export const DV_INTERVAL: Codec = {
  read(scope, target, type) {
    const object: JsonObject = { _type: type };
    let found = readTable(type, object, scope, target);
    for (const bound of ['lower', 'upper'] as const) {
      const unbounded = take(scope, `${bound}_unbounded`);
      const included = take(scope, `${bound}_included`);
      found ||= unbounded !== undefined || included !== undefined;
      const isUnbounded = unbounded === undefined ? object[bound] === undefined : booleanOf(unbounded);
      object[`${bound}_unbounded`] = isUnbounded;
      object[`${bound}_included`] = included === undefined ? !isUnbounded : booleanOf(included);
    }
    return found ? object : null;
  },
  write(value, key, target) {
    const { out } = target.environment;
    writeTable('DV_INTERVAL', value, key, target);
    for (const bound of ['lower', 'upper'] as const) {
      if (value[`${bound}_unbounded`] === true) out[`${key}|${bound}_unbounded`] = true;
      if (value[`${bound}_included`] === false) out[`${key}|${bound}_included`] = false;
    }
  },
};

/** The class of the bounds of an interval in data; null when it has none. */
export function boundType(interval: JsonObject): string | null {
  for (const bound of [interval.lower, interval.upper])
    if (isJsonObject(bound) && typeof bound._type === 'string') return bound._type;
  return null;
}

function readByTable(scope: FlatScope, target: ReadTarget, type: string): JsonObject | null {
  const object: JsonObject = { _type: type };
  return readTable(type, object, scope, target) ? object : null;
}

function onlyUnit(plan: PlanNode | null): string | undefined {
  const units = counted(plan?.inputs)?.find((input) => input.suffix === 'unit')?.list ?? [];
  return units.length === 1 ? units[0]?.value : undefined;
}

interface DurationParts {
  readonly text: string;
  readonly given: readonly FlatValue[];
}

function flatDurationParts(scope: FlatScope, parts: readonly (readonly [string, string])[]): DurationParts {
  let text = '';
  const given: FlatValue[] = [];
  for (const [suffix, letter] of counted(parts)) {
    const value = take(scope, suffix);
    if (value === undefined) continue;
    given.push(value);
    text += `${suffix === 'second' ? numberOf(value) : integerOf(value)}${letter}`;
  }
  return { text, given };
}

/** DV_SCALE: `|code`, `|value` and `|terminology` of its symbol, `|ordinal` for its value. */
export const DV_SCALE: Codec = {
  read(scope, target) {
    const object: JsonObject = { _type: 'DV_SCALE' };
    const value = take(scope, 'ordinal');
    const isOrdered = readTable('DV_SCALE', object, scope, target);
    const plan = childPlan(target.plan, 'symbol');
    const symbol = DV_CODED_TEXT.read(scope, { ...target, plan, attribute: 'symbol' }, 'DV_CODED_TEXT');
    if (value !== undefined) object.value = numberOf(value);
    if (symbol !== null) object.symbol = symbol;
    return isOrdered || value !== undefined || symbol !== null ? object : null;
  },
  write(value, key, target) {
    const symbol = objectAt(value, 'symbol');
    if (symbol !== undefined) DV_CODED_TEXT.write(symbol, key, target);
    if (value.value !== undefined) target.environment.out[`${key}|ordinal`] = value.value;
    writeTable('DV_SCALE', value, key, target);
  },
};
