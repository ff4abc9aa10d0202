import { CdrError } from './errors.js';

/** How much of a date, time or date/time is given. */
type TemporalPrecision = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction';

/** A complete or partial ISO 8601 date. RM: DV_DATE. */
export interface Iso8601Date {
  readonly precision: TemporalPrecision;
  readonly year: number;
  readonly month: number | null;
  readonly day: number | null;
  /** First and last possible day, as days since 1970-01-01. */
  readonly lower: number;
  readonly upper: number;
}

/** A complete or partial ISO 8601 time of day. RM: DV_TIME. */
export interface Iso8601Time {
  readonly precision: TemporalPrecision;
  /** First and last possible moment, as seconds of the day with their fraction; the zone is not applied. */
  readonly lower: number;
  readonly upper: number;
  /** Minutes east of UTC; null when none is given. */
  readonly offset: number | null;
}

/** A complete or partial ISO 8601 date/time. RM: DV_DATE_TIME. */
export interface Iso8601DateTime {
  readonly precision: TemporalPrecision;
  /** First and last possible instant in ms since 1970-01-01T00:00Z; without zone read as UTC; finer digits are cut. */
  readonly lower: number;
  readonly upper: number;
  /** Minutes east of UTC; null when none is given. */
  readonly offset: number | null;
}

/** An ISO 8601 duration, weeks and a leading minus allowed beside the other units. RM: DV_DURATION. */
export interface Iso8601Duration {
  readonly precision: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second';
  readonly negative: boolean;
  readonly years: number;
  readonly months: number;
  readonly weeks: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  /** With their fraction. */
  readonly seconds: number;
  /** Length in seconds with its sign: a year counts 365.2425 days, a month 30.436875 (docs/spec/aql.md#domains). */
  readonly totalSeconds: number;
  /** Shortest and longest possible length in seconds with its sign (a month has 28 to 31 days). */
  readonly lower: number;
  readonly upper: number;
}

/** Which forms are read: extended (`2024-02-29`) always, basic (`20240229`) only when asked for. */
export interface Iso8601Options {
  readonly basic?: boolean;
}

const SECONDS_PER_DAY = 86_400;
const MS_PER_DAY = 86_400_000;

const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/;
const BASIC_DATE = /^(\d{4})(?:(\d\d)(\d\d)?)?$/;
const ZONE = '(Z|[+-]\\d\\d(?::?\\d\\d)?)?';
const TIME = new RegExp(`^(\\d\\d)(?::(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?)?${ZONE}$`);
const BASIC_TIME = new RegExp(`^(\\d\\d)(?:(\\d\\d)(?:(\\d\\d)(?:[.,](\\d+))?)?)?${ZONE}$`);
const DURATION =
  /^(-)?P(?=[\dT])(?:(\d{1,12})Y)?(?:(\d{1,12})M)?(?:(\d{1,12})W)?(?:(\d{1,12})D)?(?:T(?=\d)(?:(\d{1,12})H)?(?:(\d{1,12})M)?(?:(\d{1,12}(?:[.,]\d{1,20})?)S)?)?$/;

const VERSION_AT_TIME = /^\d{4}-\d\d-\d\dT\d\d(?::\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/** Reads a date: `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, valid in the calendar. Null when the text is none. */
export function parseDate(text: string, options: Iso8601Options = {}): Iso8601Date | null {
  const found = DATE.exec(text) ?? (options.basic === true ? BASIC_DATE.exec(text) : null);
  if (found === null) return null;
  const year = Number(found[1]);
  if (found[2] === undefined) return dateOf(year, null, null);
  const month = Number(found[2]);
  if (month < 1 || month > 12) return null;
  if (found[3] === undefined) return dateOf(year, month, null);
  const day = Number(found[3]);
  return day < 1 || day > daysInMonth(year, month) ? null : dateOf(year, month, day);
}

function dateOf(year: number, month: number | null, day: number | null): Iso8601Date {
  const lower = dayNumber(year, month ?? 1, day ?? 1);
  if (day !== null) return { precision: 'day', year, month, day, lower, upper: lower };
  const upper = dayNumber(year, month ?? 12, daysInMonth(year, month ?? 12));
  return { precision: month === null ? 'year' : 'month', year, month, day, lower, upper };
}

/** Reads a time: `hh`, `hh:mm`, `hh:mm:ss`, `hh:mm:ss.s…`, each with an optional zone. Null when it is none. */
export function parseTime(text: string, options: Iso8601Options = {}): Iso8601Time | null {
  const parts = timeParts(text, options);
  if (parts === null) return null;
  const { precision, seconds, fraction, offset } = parts;
  const lower = seconds + Number(`0.${fraction}`);
  return { precision, lower, upper: lower + openMs(parts) / 1000, offset };
}

/**
 * Reads a date/time: a partial or complete date, or a complete date, `T` and a time with optional zone.
 * Null when the text is none.
 */
export function parseDateTime(text: string, options: Iso8601Options = {}): Iso8601DateTime | null {
  const cut = text.indexOf('T');
  const date = parseDate(cut < 0 ? text : text.slice(0, cut), options);
  if (date === null) return null;
  const start = date.lower * MS_PER_DAY;
  if (cut < 0)
    return {
      precision: date.precision,
      lower: start,
      upper: (date.upper + 1) * MS_PER_DAY - 1,
      offset: null,
    };
  const parts = date.day === null ? null : timeParts(text.slice(cut + 1), options);
  if (parts === null) return null;
  const cutFraction = Number(`${parts.fraction}000`.slice(0, 3));
  const lower = start + parts.seconds * 1000 + cutFraction - (parts.offset ?? 0) * 60_000;
  return { precision: parts.precision, lower, upper: lower + openMs(parts), offset: parts.offset };
}

interface TimeParts {
  readonly precision: 'hour' | 'minute' | 'second' | 'fraction';
  readonly seconds: number;
  /** Digits of the second's fraction; '' when there are none. */
  readonly fraction: string;
  readonly offset: number | null;
}

function timeParts(text: string, options: Iso8601Options): TimeParts | null {
  const found = TIME.exec(text) ?? (options.basic === true ? BASIC_TIME.exec(text) : null);
  if (found === null) return null;
  const [, hour, minute, second, fraction, zone] = found;
  const seconds = secondsOfDay(Number(hour), Number(minute ?? 0), Number(second ?? 0));
  const offset = zoneOffset(zone);
  if (seconds === null || offset === undefined) return null;
  if (seconds === SECONDS_PER_DAY && Number(fraction ?? 0) > 0) return null;
  return { precision: timePrecision(minute, second, fraction), seconds, fraction: fraction ?? '', offset };
}

/** Milliseconds from the first to the last moment that a partial time leaves open. */
function openMs(parts: TimeParts): number {
  // 24:00:00 is the one moment that no later one of its hour follows.
  return parts.seconds === SECONDS_PER_DAY ? 0 : OPEN_MS[parts.precision];
}

/** Reads a duration such as `P1Y3M4DT2H14M15.5S`, `P1W`, `-P2M`; only seconds have a fraction. Null when it is none. */
export function parseDuration(text: string): Iso8601Duration | null {
  const found: readonly (string | undefined)[] | null = DURATION.exec(text);
  if (found === null) return null;
  const [years, months, weeks, days] = [
    amount(found[2]),
    amount(found[3]),
    amount(found[4]),
    amount(found[5]),
  ];
  const [hours, minutes, seconds] = [amount(found[6]), amount(found[7]), amount(found[8])];
  const rest = (weeks * 7 + days) * SECONDS_PER_DAY + hours * 3600 + minutes * 60 + seconds;
  const total = (years * 365.2425 + months * 30.436875) * SECONDS_PER_DAY + rest;
  const shortest = (years * 365 + months * 28) * SECONDS_PER_DAY + rest;
  const longest = (years * 366 + months * 31) * SECONDS_PER_DAY + rest;
  const isNegative = found[1] !== undefined;
  const last = found.findLastIndex((part) => part !== undefined);
  return {
    ...{ years, months, weeks, days, hours, minutes, seconds },
    precision: DURATION_UNITS[last - 2] ?? 'second',
    negative: isNegative,
    totalSeconds: isNegative ? minus(total) : total,
    lower: isNegative ? minus(longest) : shortest,
    upper: isNegative ? minus(shortest) : longest,
  };
}

function amount(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits.replace(',', '.'));
}

/** Date as `YYYY-MM-DDThh:mm:ss.ssssssZ`: UTC with six fraction digits, the form of times that the server sets. */
export function formatUtc(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar; month 1 to 12. */
export function dayNumber(year: number, month: number, day: number): number {
  // Counted from March, so that the leap day is the last of its year.
  const shifted = month <= 2 ? year - 1 : year;
  const monthFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leapDays + dayOfYear - 719_468;
}

/** Number of days of a month (1 to 12) in the proleptic Gregorian calendar. */
function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const DURATION_UNITS = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'] as const;

const OPEN_MS = { hour: 3_599_999, minute: 59_999, second: 999, fraction: 0 } as const;

function timePrecision(minute?: string, second?: string, fraction?: string): TimeParts['precision'] {
  if (fraction !== undefined) return 'fraction';
  if (second !== undefined) return 'second';
  return minute === undefined ? 'hour' : 'minute';
}

/** Null unless the parts are a time of day; 24:00:00 is one (BASE: valid_hour). */
function secondsOfDay(hour: number, minute: number, second: number): number | null {
  const isMidnightAtEnd = hour === 24 && minute === 0 && second === 0;
  if ((hour > 23 && !isMidnightAtEnd) || minute > 59 || second > 59) return null;
  return hour * 3600 + minute * 60 + second;
}

/** Minutes east of UTC, null without zone, undefined when out of -12:00 to +14:00. */
function zoneOffset(zone: string | undefined): number | null | undefined {
  if (zone === undefined) return null;
  if (zone === 'Z') return 0;
  const minutes = zone.length > 3 ? Number(zone.slice(-2)) : 0;
  const total = (Number(zone.slice(1, 3)) * 60 + minutes) * (zone.startsWith('-') ? -1 : 1);
  return minutes > 59 || total < -720 || total > 840 ? undefined : total === 0 ? 0 : total;
}

/** The opposite number, without negative zero. */
function minus(value: number): number {
  return value === 0 ? 0 : -value;
}

/**
 * The instant that a request parameter such as `version_at_time` names (`parameter`: its name for the error). A space
 * counts as the `+` that form decoding made of it; without offset the time is of `defaultTimezone` (`Z`, `±hh:mm` or
 * an IANA name).
 * ITS-REST: version_at_time.
 * @throws invalid when it is no complete date with a time, or not in the calendar
 */
export function parseVersionAtTime(
  text: string,
  defaultTimezone: string,
  parameter = 'version_at_time',
): Date {
  const given = text.trim().replace(' ', '+');
  const found = VERSION_AT_TIME.exec(given);
  const isZoned = found?.[1] !== undefined;
  const instant =
    found === null ? null : parseDateTime(isZoned ? given : given + fixedOffset(defaultTimezone));
  if (instant === null)
    throw new CdrError(
      'invalid',
      `${parameter} must be a date and time in extended ISO 8601 form, such as 2024-02-29T10:30:00Z`,
    );
  if (isZoned || fixedOffset(defaultTimezone) !== '') return new Date(instant.lower);
  return new Date(localToUtc(instant.lower, defaultTimezone));
}

/** The offset itself when the zone is one, '' for a named zone. */
function fixedOffset(timezone: string): string {
  return /^(?:Z|[+-]\d\d:\d\d)$/.test(timezone) ? timezone : '';
}

function localToUtc(localMs: number, timezone: string): number {
  const guess = localMs - offsetMs(localMs, timezone);
  // The offset may differ between the guess and the instant meant when clocks change in between.
  return localMs - offsetMs(guess, timezone);
}

/** What a named zone is ahead of UTC at an instant, in ms. */
function offsetMs(instant: number, timezone: string): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const found = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name);
  if (found === null) return 0;
  const seconds = Number(found[2]) * 3600 + Number(found[3]) * 60 + Number(found[4] ?? 0);
  return seconds * (found[1] === '-' ? -1000 : 1000);
}
