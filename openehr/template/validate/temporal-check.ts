import { parseDate, parseDateTime, parseDuration, parseTime } from '../../base/iso8601.js';
import { DURATION_PATTERN } from '../../rm/lenient.js';
import type { Interval, TemporalConstraint } from '../opt/constraint.js';
import { brokenBound, isWithin, temporalRange, type Expected } from '../opt/constraint-text.js';
import { counted } from '../../base/work.js';

/** Null when a text is as the constraint says, else what it must be. Texts that cannot be read pass. */
export type TextCheck = (text: string) => Expected | null;

/** RM: Validity_kind. */
export const MANDATORY_ZONE = 1001;
export const FORBIDDEN_ZONE = 1003;

/** The check of a C_DATE, C_TIME, C_DATE_TIME or C_DURATION (docs/spec/formats.md#template-rules). */
export function temporalCheck(constraint: TemporalConstraint): TextCheck {
  const { kind, pattern, range, timezoneValidity } = constraint;
  const checks: TextCheck[] = [];
  if (kind === 'duration') {
    if (pattern !== null && DURATION_PATTERN_FORM.test(pattern)) checks.push(unitsCheck(pattern));
  } else {
    if (pattern !== null) checks.push(patternCheck(pattern));
    if (timezoneValidity === MANDATORY_ZONE)
      checks.push((text) => (hasZone(text) ? null : expectedOnly('with a time zone')));
    if (timezoneValidity === FORBIDDEN_ZONE)
      checks.push((text) => (hasZone(text) ? expectedOnly('without a time zone') : null));
  }
  if (range !== null) checks.push(rangeCheck(kind, range));
  return (text) => {
    for (const check of counted(checks)) {
      const expected = check(text);
      if (expected !== null) return expected;
    }
    return null;
  };
}

const DURATION_PATTERN_FORM = /^P[YMWD]*(?:T[HMS]*)?$/i;

/** Units of durations as they stand in a pattern, before and behind its `T`. */
const DURATION_UNITS = [
  { unit: 'years', letter: 'Y', inTime: false },
  { unit: 'months', letter: 'M', inTime: false },
  { unit: 'weeks', letter: 'W', inTime: false },
  { unit: 'days', letter: 'D', inTime: false },
  { unit: 'hours', letter: 'H', inTime: true },
  { unit: 'minutes', letter: 'M', inTime: true },
  { unit: 'seconds', letter: 'S', inTime: true },
] as const;

type DurationUnit = (typeof DURATION_UNITS)[number]['unit'];

/**
 * The units that a duration may not use by a pattern such as `PYMWDTHMS`; none when it is no such pattern.
 * AOM 1.4: C_DURATION.years_allowed and so on.
 */
export function excludedUnits(pattern: string | null): readonly DurationUnit[] {
  if (pattern === null || !DURATION_PATTERN_FORM.test(pattern)) return [];
  const [date = '', time = ''] = pattern.toUpperCase().slice(1).split('T');
  return DURATION_UNITS.filter(({ letter, inTime }) => !(inTime ? time : date).includes(letter)).map(
    ({ unit }) => unit,
  );
}

/** None of the units that the pattern has must be there. */
function unitsCheck(pattern: string): TextCheck {
  const others = excludedUnits(pattern);
  const expected = { text: `of the pattern ${pattern}`, value: { pattern }, rule: DURATION_PATTERN };
  return (text) => {
    const duration = parseDuration(text);
    return duration !== null && counted(others).some((unit) => duration[unit] > 0) ? expected : null;
  };
}

function expectedOnly(text: string): Expected {
  return { text, value: text };
}

function hasZone(text: string): boolean {
  const time = text.slice(text.indexOf('T') + 1);
  return /Z$|[+-]\d\d(?::?\d\d)?$/.test(time);
}

/** What a pattern says of one part of a date or time. */
type PatternPart = 'required' | 'optional' | 'forbidden';

/**
 * `yyyy-mm-ddTHH:MM:SS`: letters ask for a part, `??` leaves it open, `XX` forbids it
 * (docs/spec/formats.md#opt-primitives).
 */
function patternCheck(pattern: string): TextCheck {
  const parts = patternParts(pattern);
  return (text) => {
    const given = splitParts(withoutZone(text));
    const fits = counted(parts).every(
      (part, index) => part === 'optional' || (part === 'required') === index < given.length,
    );
    return fits ? null : { text: pattern, value: { pattern } };
  };
}

/** What a pattern says of year, month, day, hour … in their order. */
export function patternParts(pattern: string): readonly PatternPart[] {
  return counted(splitParts(pattern)).map(partOf);
}

function partOf(text: string): PatternPart {
  if (/^x+$/i.test(text)) return 'forbidden';
  return text.includes('?') ? 'optional' : 'required';
}

function splitParts(text: string): string[] {
  return counted(text.split(/[-:T]/)).filter((part) => part !== '');
}

function withoutZone(text: string): string {
  const time = text.indexOf('T');
  const date = time < 0 ? (text.includes(':') ? '' : text) : text.slice(0, time);
  const rest = text.slice(date.length).replace(/(?:Z|[+-]\d\d(?::?\d\d)?)$/, '');
  return date === '' ? rest : `${date}${rest}`;
}

function rangeCheck(kind: TemporalConstraint['kind'], range: Interval<string>): TextCheck {
  const bounds = temporalBounds(kind, range);
  return (text) => {
    const value = sizeOf(kind, text);
    if (value === null || isWithin(value, bounds)) return null;
    return temporalRange(range, brokenBound(range, bounds, value));
  };
}

/** A range of durations, dates or times as numbers that order them. */
export function temporalBounds(kind: TemporalConstraint['kind'], range: Interval<string>): Interval<number> {
  return {
    ...range,
    lower: range.lower === null ? null : sizeOf(kind, range.lower),
    upper: range.upper === null ? null : sizeOf(kind, range.upper),
  };
}

function sizeOf(kind: TemporalConstraint['kind'], text: string): number | null {
  return SIZES[kind](text) ?? null;
}

const SIZES: Readonly<Record<TemporalConstraint['kind'], (text: string) => number | undefined>> = {
  duration: (text) => parseDuration(text)?.totalSeconds,
  date: (text) => parseDate(text)?.lower,
  time: (text) => parseTime(text)?.lower,
  'date-time': (text) => parseDateTime(text)?.lower,
};
