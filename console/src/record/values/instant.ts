import type { ValueReader } from './value-reader.js';

/**
 * A date, a time or both of ISO 8601 as it was written: extended or compact, partial, with a comma or a point before the
 * fraction, with or without a zone.
 */
export interface Instant {
  /** Year, month, day, as many as were written; empty: a time of any day. */
  readonly date: readonly number[];
  /** Hour, minute, second, as many as were written. */
  readonly time: readonly number[];
  /** Digits after the second. */
  readonly fraction: string;
  /** Minutes east of UTC; null: no zone was written. */
  readonly offset: number | null;
}

/** An instant in words, and as it was stored where the reader's zone makes it another. */
export interface InstantText {
  readonly text: string;
  /** Such as `stored 16:11 UTC`. */
  readonly note?: string;
}

const DATE = String.raw`(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2}))?|(?<month2>\d{2})(?<day2>\d{2})?)?`;
const FRACTION = String.raw`[.,](?<fraction>\d+)`;
const EXTENDED = String.raw`:(?<minute>\d{2})(?::(?<second>\d{2})(?:${FRACTION})?)?`;
const COMPACT = String.raw`(?<minute2>\d{2})(?:(?<second2>\d{2})(?:${FRACTION.replace('fraction', 'fraction2')})?)?`;
const CLOCK = String.raw`(?<hour>\d{2})(?:${EXTENDED}|${COMPACT})?`;
const ZONE = String.raw`(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?`;
const DATE_TIME = new RegExp(`^${DATE}(?:T${CLOCK}${ZONE})?$`);
const TIME = new RegExp(`^T?${CLOCK}${ZONE}$`);

/** Reads a date with or without a time; `kind` time: a time of any day. null: it is none of the calendar. */
export function instantOf(text: string, kind: 'date-time' | 'time' = 'date-time'): Instant | null {
  const groups = (kind === 'time' ? TIME : DATE_TIME).exec(text)?.groups;
  if (groups === undefined) return null;
  const part = (name: string): string | undefined => groups[name] ?? groups[`${name}2`];
  const instant = {
    date: numbers(['year', 'month', 'day'].map(part)),
    time: numbers(['hour', 'minute', 'second'].map(part)),
    fraction: part('fraction') ?? '',
    offset: offsetOf(groups['zone']),
  };
  return isOfCalendar(instant) ? instant : null;
}

/**
 * Milliseconds since 1970 of an instant, the first of those that a partial one may mean; NaN: it is none. Without a zone it
 * is a time of this computer.
 */
export function epochOf(text: string): number {
  const instant = instantOf(text);
  if (instant === null) return NaN;
  const { fraction, offset, time } = instant;
  const wall = wallOf(instant).getTime() + Math.floor(Number(`0.${fraction || 0}`) * 1000);
  if (offset !== null) return wall - offset * 60_000;
  const utc = new Date(wall);
  const local = new Date(2000, 0, 1, ...(time as []));
  local.setFullYear(utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate());
  local.setHours(utc.getUTCHours(), utc.getUTCMinutes(), utc.getUTCSeconds(), utc.getUTCMilliseconds());
  return local.getTime();
}

/** An order of texts by time: what is no time comes first. */
export function byEpoch(left: string, right: string): number {
  const [a, b] = [epochOf(left), epochOf(right)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
  return a - b;
}

/**
 * An instant in words. One with a zone is said in the reader's, which is named, and as it was stored where that differs; one
 * without is said as it stands there. `isExact`: with seconds too. What is no instant stays as it is.
 */
export function instantText(
  written: string,
  reader: ValueReader,
  { kind, isExact = false }: { readonly kind?: 'date-time' | 'time'; readonly isExact?: boolean } = {},
): InstantText {
  const instant = instantOf(written, kind);
  if (instant === null) return { text: written };
  const { date, time, offset } = instant;
  const day = date.length === 0 ? '' : dateText(wallOf(instant), date.length, reader.language);
  if (time.length === 0) return { text: day };
  const clock = clockText(instant, isExact);
  const stored = offset === null ? clock : `${clock} ${offsetText(offset)}`;
  if (day === '') return { text: stored };
  if (offset === null) return { text: `${day}, ${stored}`, note: reader.t('time.noZone') };
  // An hour alone is none of another zone.
  return time.length < 2 ? { text: `${day}, ${stored}` } : inZone(instant, { day, stored, isExact }, reader);
}

function inZone(
  instant: Instant,
  { day, stored, isExact }: { readonly day: string; readonly stored: string; readonly isExact: boolean },
  { language, zone, t }: ValueReader,
): InstantText {
  const at = wallOf(instant).getTime() - (instant.offset ?? 0) * 60_000;
  const { wall, name } = seenFrom(at, zone, language);
  const shown = dateText(wall, 3, language);
  const time = [wall.getUTCHours(), wall.getUTCMinutes(), wall.getUTCSeconds()].slice(0, instant.time.length);
  const text = `${shown}, ${clockText({ ...instant, time }, isExact)} ${name}`;
  if (wall.getTime() - at === (instant.offset ?? 0) * 60_000) return { text };
  return { text, note: t('time.stored', { time: shown === day ? stored : `${day}, ${stored}` }) };
}

function numbers(parts: readonly (string | undefined)[]): number[] {
  return parts.filter((part) => part !== undefined).map(Number);
}

function offsetOf(zone: string | undefined): number | null {
  if (zone === undefined) return null;
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0);
  return zone.startsWith('-') ? -minutes : minutes;
}

function isOfCalendar({ date, time }: Instant): boolean {
  const [year = 2000, month = 1, day = 1] = date;
  const days = utc([year, month + 1, 0], []).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > days) return false;
  // Only a whole day has a time, and a time of any day has no date.
  if (time.length > 0 && date.length > 0 && date.length < 3) return false;
  return time.every((part, index) => part < (index === 0 ? 24 : 60));
}

/** The digits of a wall clock, as if it hung in Greenwich. */
function wallOf({ date, time }: Instant): Date {
  return utc(date, time);
}

function utc(
  [year = 2000, month = 1, day = 1]: readonly number[],
  [h = 0, m = 0, s = 0]: readonly number[],
): Date {
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day);
  moment.setUTCHours(h, m, s, 0);
  return moment;
}

function clockText({ time, fraction }: Pick<Instant, 'time' | 'fraction'>, isExact: boolean): string {
  const [hour = 0, minute, second = 0] = time;
  const two = (number: number): string => String(number).padStart(2, '0');
  if (minute === undefined) return `${two(hour)} h`;
  const isWhole = second === 0 && !/[1-9]/.test(fraction);
  const seconds = isExact && !isWhole ? `:${two(second)}${fraction === '' ? '' : `.${fraction}`}` : '';
  return `${two(hour)}:${two(minute)}${seconds}`;
}

function offsetText(offset: number): string {
  if (offset === 0) return 'UTC';
  const two = (number: number): string => String(number).padStart(2, '0');
  const minutes = Math.abs(offset);
  return `UTC${offset < 0 ? '−' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function dateText(wall: Date, parts: number, language: string): string {
  const format = formatOf(localeOf(language), {
    timeZone: 'UTC',
    year: 'numeric',
    ...(parts > 1 && { month: 'short' }),
    ...(parts > 2 && { day: 'numeric' }),
  });
  return format.format(wall);
}

/** The wall clock of a zone at a moment, and what the zone is called then. */
function seenFrom(
  at: number,
  zone: string,
  language: string,
): { readonly wall: Date; readonly name: string } {
  const parts = formatOf(localeOf(language), {
    timeZone: zone,
    calendar: 'iso8601',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
    timeZoneName: 'short',
  }).formatToParts(at);
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? '';
  const number = (type: string): number => Number(part(type));
  const wall = utc(
    [number('year'), number('month'), number('day')],
    [number('hour'), number('minute'), number('second')],
  );
  return { wall, name: part('timeZoneName') };
}

function localeOf(language: string): string {
  return language === 'de' ? 'de-DE' : 'en-GB';
}

/** Making a format costs more than a thousand uses of it. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options);
  const known = FORMATS.get(key) ?? new Intl.DateTimeFormat(locale, options);
  FORMATS.set(key, known);
  return known;
}
