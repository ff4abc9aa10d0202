import { parseDate, parseDateTime, parseDuration, parseTime } from '../base/iso8601.js';
import type { JsonObject, JsonValue } from '../base/json.js';
import { textAt } from './access.js';

/** What a value can be compared with: values of different domains are never equal (docs/spec/aql.md#domains). */
export type ValueDomain = 'number' | 'duration' | 'time' | 'date' | 'instant' | 'text' | 'boolean';

const DOMAINS: ReadonlyMap<string, ValueDomain> = new Map([
  ['DV_QUANTITY', 'number'],
  ['DV_COUNT', 'number'],
  ['DV_PROPORTION', 'number'],
  ['DV_ORDINAL', 'number'],
  ['DV_SCALE', 'number'],
  ['DV_DURATION', 'duration'],
  ['DV_TIME', 'time'],
  ['DV_DATE', 'date'],
  ['DV_DATE_TIME', 'instant'],
  ['DV_TEXT', 'text'],
  ['DV_CODED_TEXT', 'text'],
  ['CODE_PHRASE', 'text'],
  ['DV_BOOLEAN', 'boolean'],
]);

/**
 * The domain that an object of an RM class is compared in; null when it is never compared. See
 * docs/spec/aql.md#domains.
 */
export function domainOf(type: string): ValueDomain | null {
  return DOMAINS.get(type) ?? null;
}

/** Basic forms (`20240229`) are stored as they came, so they are read here too. */
const FORMS = { basic: true };

const ORDERED: ReadonlyMap<JsonValue | undefined, (value: JsonObject) => number | null> = new Map([
  ['DV_QUANTITY', magnitude],
  ['DV_COUNT', magnitude],
  ['DV_PROPORTION', ratio],
  ['DV_ORDINAL', (value) => numberIn(value.value)],
  ['DV_SCALE', (value) => numberIn(value.value)],
  ['DV_DURATION', (value) => parseDuration(temporalText(value))?.totalSeconds ?? null],
  ['DV_TIME', (value) => parseTime(temporalText(value), FORMS)?.lower ?? null],
  ['DV_DATE', (value) => parseDate(temporalText(value), FORMS)?.lower ?? null],
  ['DV_DATE_TIME', (value) => parseDateTime(temporalText(value), FORMS)?.lower ?? null],
]);

/**
 * The number that a DV_ORDERED is compared and sorted by, in its domain: magnitude (units are not converted),
 * ratio, ordinal value, seconds of a duration (nominal, with sign), seconds of the day (zone ignored), days since
 * 1970-01-01, ms since then in UTC (without zone read as UTC). Partial values count from their first moment.
 * Null for other types and for what has no such number. See docs/spec/aql.md#domains.
 */
export function orderedValue(dataValue: JsonObject): number | null {
  return ORDERED.get(dataValue._type)?.(dataValue) ?? null;
}

/** As `orderedValue`, but a partial value or a duration in months counts as the least it can mean. */
export function firstPossibleValue(dataValue: JsonObject): number | null {
  return extent(dataValue)?.lower ?? orderedValue(dataValue);
}

/** As `orderedValue`, but a partial value or a duration in months counts as the most it can mean. */
export function lastPossibleValue(dataValue: JsonObject): number | null {
  return extent(dataValue)?.upper ?? orderedValue(dataValue);
}

/** Whether two values can be put in order: the same domain, and quantities of the same unit. */
export function valuesCompare(one: JsonObject, other: JsonObject): boolean {
  const type = one._type;
  const domain = typeof type === 'string' ? domainOf(type) : null;
  const otherType = other._type;
  if (domain === null || typeof otherType !== 'string' || domainOf(otherType) !== domain) return false;
  return one.units === other.units;
}

function extent(dataValue: JsonObject): { readonly lower: number; readonly upper: number } | null {
  const text = temporalText(dataValue);
  switch (dataValue._type) {
    case 'DV_DATE':
      return parseDate(text, FORMS);
    case 'DV_TIME':
      return parseTime(text, FORMS);
    case 'DV_DATE_TIME':
      return parseDateTime(text, FORMS);
    case 'DV_DURATION':
      return parseDuration(text);
    default:
      return null;
  }
}

function magnitude(value: JsonObject): number | null {
  return numberIn(value.magnitude);
}

function ratio(value: JsonObject): number | null {
  const numerator = numberIn(value.numerator);
  const denominator = numberIn(value.denominator);
  return numerator === null || denominator === null || denominator === 0 ? null : numerator / denominator;
}

function numberIn(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

function temporalText(value: JsonObject): string {
  return textAt(value, 'value') ?? '';
}
