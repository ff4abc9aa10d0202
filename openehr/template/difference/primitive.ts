import type { JsonObject, JsonValue } from '../../base/json.js';
import type {
  Interval,
  NumberConstraint,
  PrimitiveConstraint,
  StringConstraint,
  TemporalConstraint,
} from '../opt/constraint.js';
import { withoutSlashes } from '../opt/whole-text-pattern.js';
import { primitiveCheck } from '../validate/primitive-check.js';
import {
  excludedUnits,
  FORBIDDEN_ZONE,
  MANDATORY_ZONE,
  patternParts,
  temporalBounds,
} from '../validate/temporal-check.js';
import { textMatching } from '../example/pattern-example.js';
import { intervalValue } from '../opt/constraint-text.js';
import { isRangeWithin, rangeSamples, UNBOUNDED, wholeRange } from './range.js';

/** Whether a value is as a constraint says. */
function isAccepted(constraint: PrimitiveConstraint, value: JsonValue): boolean {
  const check = primitiveCheck(constraint);
  return check === null || check(value).length === 0;
}

/**
 * Whether it is proven that all that the inner constraint accepts is accepted by the outer one. `isWhole`: of an attribute
 * that holds whole numbers.
 */
export function isPrimitiveWithin(
  inner: PrimitiveConstraint,
  outer: PrimitiveConstraint,
  isWhole: boolean,
): boolean {
  if (isOpenPrimitive(outer)) return true;
  if (isOpenPrimitive(inner)) return false;
  if (isNumber(inner) && isNumber(outer)) return isNumberWithin(inner, outer, isWhole);
  if (isTemporal(inner) && isTemporal(outer)) return isTemporalWithin(inner, outer);
  if (inner.kind === 'string' && outer.kind === 'string') return isTextWithin(inner, outer);
  return inner.kind === 'boolean' && outer.kind === 'boolean' && inner.trueValid === outer.trueValid;
}

/** Whether any value will do. */
export function isOpenPrimitive(constraint: PrimitiveConstraint): boolean {
  if (!isTemporal(constraint)) return primitiveCheck(constraint) === null;
  const { kind, pattern, range, timezoneValidity } = constraint;
  if (range !== null) return false;
  if (kind === 'duration') return excludedUnits(pattern).length === 0;
  return pattern === null && timezoneValidity !== MANDATORY_ZONE && timezoneValidity !== FORBIDDEN_ZONE;
}

function isNumber(constraint: PrimitiveConstraint): constraint is NumberConstraint {
  return constraint.kind === 'integer' || constraint.kind === 'real';
}

function isTemporal(constraint: PrimitiveConstraint): constraint is TemporalConstraint {
  return 'timezoneValidity' in constraint;
}

function isTextWithin(inner: StringConstraint, outer: StringConstraint): boolean {
  if (!inner.list.every((text) => isAccepted(outer, text))) return false;
  if (inner.pattern === null) return true;
  return outer.pattern !== null && withoutSlashes(inner.pattern) === withoutSlashes(outer.pattern);
}

function isNumberWithin(inner: NumberConstraint, outer: NumberConstraint, isWhole: boolean): boolean {
  if (!inner.list.every((number) => isAccepted(outer, number))) return false;
  if (inner.range === null) return true;
  if (outer.range === null) return false;
  return isWhole
    ? isRangeWithin(wholeRange(inner.range), wholeRange(outer.range))
    : isRangeWithin(inner.range, outer.range);
}

function isTemporalWithin(inner: TemporalConstraint, outer: TemporalConstraint): boolean {
  if (inner.kind !== outer.kind || !isTemporalRangeWithin(inner, outer)) return false;
  if (outer.kind === 'duration') {
    const excluded = new Set<string>(excludedUnits(inner.pattern));
    return excludedUnits(outer.pattern).every((unit) => excluded.has(unit));
  }
  const hasZoneRule = [MANDATORY_ZONE, FORBIDDEN_ZONE].some(
    (validity) => validity === outer.timezoneValidity,
  );
  if (hasZoneRule && inner.timezoneValidity !== outer.timezoneValidity) return false;
  return isPatternWithin(inner.pattern, outer.pattern);
}

function isTemporalRangeWithin(inner: TemporalConstraint, outer: TemporalConstraint): boolean {
  if (outer.range === null) return true;
  if (inner.range === null) return false;
  return isRangeWithin(temporalBounds(inner.kind, inner.range), temporalBounds(outer.kind, outer.range));
}

/** Patterns ask for parts, from the year or hour on, and end them: what counts is how many parts a text may have. */
function isPatternWithin(inner: string | null, outer: string | null): boolean {
  if (outer === null) return true;
  const parts = inner === null ? [] : patternParts(inner);
  const least = Math.max(1, parts.lastIndexOf('required') + 1);
  const firstForbidden = parts.indexOf('forbidden');
  const most = firstForbidden < 0 ? Infinity : firstForbidden;
  return patternParts(outer).every(
    (part, index) => part === 'optional' || (part === 'required' ? index < least : index >= most),
  );
}

/** Values of which one is accepted by the first constraint and not by the second, where such a one is easily found. */
export function primitiveSamples(before: PrimitiveConstraint, after: PrimitiveConstraint): JsonValue[] {
  if (before.kind === 'boolean' || after.kind === 'boolean') return [true, false];
  if (isNumber(before) && isNumber(after)) return numberSamples(before, after);
  if (isTemporal(before)) return temporalSamples(before, after);
  return before.kind === 'string' ? textSamples(before, after) : [];
}

/** Of a value that may be anything before. */
export function anySamples(after: PrimitiveConstraint): JsonValue[] {
  return primitiveSamples(anyOf(after), after);
}

/** The constraint of a kind that accepts everything. */
function anyOf(constraint: PrimitiveConstraint): PrimitiveConstraint {
  switch (constraint.kind) {
    case 'boolean':
      return { ...constraint, trueValid: true, falseValid: true };
    case 'string':
      return { ...constraint, pattern: null, list: [], listOpen: true };
    case 'integer':
    case 'real':
      return { ...constraint, list: [], range: null };
    default:
      return { ...constraint, pattern: null, timezoneValidity: null, range: null };
  }
}

function numberSamples(before: NumberConstraint, after: NumberConstraint): JsonValue[] {
  const near = [...before.list, ...after.list].flatMap((number) => [number, number + 1, number - 1]);
  const between = rangeSamples(before.range ?? UNBOUNDED, after.range ?? UNBOUNDED);
  const samples = [...near, ...between, 1_000_001, -1_000_001];
  return before.kind === 'integer' ? samples.map((number) => Math.round(number)) : samples;
}

const TEXTS = ['Example', 'x', '1', 'A longer text, with 2 numbers: 12 and 34.'];

function textSamples(before: StringConstraint, after: PrimitiveConstraint): JsonValue[] {
  const matching = before.pattern === null ? null : textMatching(before.pattern);
  const more = after.kind === 'string' ? after.list.map((text) => `${text}x`) : [];
  return [...before.list, ...(matching === null ? [] : [matching]), ...TEXTS, ...more];
}

const MOMENTS: Readonly<Record<TemporalConstraint['kind'], readonly string[]>> = {
  date: ['2022-02-03', '2022-02', '2022', '0001-01-01', '9999-12-31'],
  time: ['04:05:06', '04:05:06Z', '04:05', '04', '00:00:00', '23:59:59'],
  'date-time': [
    '2022-02-03T04:05:06Z',
    '2022-02-03T04:05:06',
    '2022-02-03T04:05',
    '2022-02-03T04',
    '2022-02-03',
    '2022-02',
    '2022',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ],
  duration: ['P1Y', 'P1M', 'P1W', 'P1D', 'PT1H', 'PT1M', 'PT1S', 'PT0S', 'P100Y', 'PT1000H'],
};

function temporalSamples(before: TemporalConstraint, after: PrimitiveConstraint): JsonValue[] {
  const ranges = [before.range, isTemporal(after) ? after.range : null].filter((range) => range !== null);
  const bounds = ranges.flatMap(({ lower, upper }) => [lower, upper]).filter((bound) => bound !== null);
  return [...bounds, ...MOMENTS[before.kind]];
}

/** A constraint as a change shows it; null when it accepts everything. */
export function shownPrimitive(constraint: PrimitiveConstraint): JsonValue {
  if (isOpenPrimitive(constraint)) return null;
  switch (constraint.kind) {
    case 'boolean':
      return constraint.trueValid;
    case 'string':
      return { ...listed(constraint.list), ...patterned(constraint.pattern) };
    case 'integer':
    case 'real':
      return { ...listed(constraint.list), ...ranged(constraint.range) };
    default:
      return shownTemporal(constraint);
  }
}

function listed(list: readonly (string | number)[]): JsonObject {
  return list.length === 0 ? {} : { list: [...list] };
}

function patterned(pattern: string | null): JsonObject {
  return pattern === null ? {} : { pattern };
}

function ranged(range: Interval<number | string> | null): JsonObject {
  return range === null ? {} : intervalValue(range);
}

function shownTemporal({ pattern, range, timezoneValidity }: TemporalConstraint): JsonValue {
  const zone = timezoneValidity === null ? {} : { timezone_validity: timezoneValidity };
  return { ...patterned(pattern), ...zone, ...ranged(range) };
}
