import { isoWithZone } from './time-form.js';

/** What a field takes. */
export type TimeKind = 'date' | 'time' | 'datetime';

/** Words for days, by how far from today; in every language of the console. */
const DAYS: Readonly<Record<string, number>> = {
  today: 0,
  heute: 0,
  yesterday: -1,
  gestern: -1,
  tomorrow: 1,
  morgen: 1,
};
const NOW = /^(?:now|jetzt)$/i;
const MONTHS = 'jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez';
const MONTH_NUMBERS: Readonly<Record<string, number>> = {
  jan: 1,
  feb: 2,
  mar: 3,
  mär: 3,
  apr: 4,
  may: 5,
  mai: 5,
  jun: 6,
  jul: 7,
  aug: 8,
  sep: 9,
  oct: 10,
  okt: 10,
  nov: 11,
  dec: 12,
  dez: 12,
};

const NAMED_DAY = new RegExp(`^(\\d{1,2})\\.?\\s+(${MONTHS})[a-zä]*\\.?,?\\s+(\\d{4})$`, 'i');
const NAMED_MONTH = new RegExp(`^(${MONTHS})[a-zä]*\\.?\\s+(\\d{4})$`, 'i');
const ISO_DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const ISO_TIME = /^\d{2}(?::\d{2}){1,2}$/;
const TIME = /^(\d{1,2})(?:[:.](\d{2}))?(?:[:.](\d{2}))?\s*(am|pm|uhr|h)?$/i;

/**
 * What somebody typed as ISO 8601: `23.11.2026 14:30`, `23 Nov 2026`, `yesterday 7:15`, `now`. As partial as it was typed; a time
 * of a day gets the offset of this computer then. null: nobody knows what it says, or it is ISO already.
 */
export function readTime(kind: TimeKind, typed: string, now = new Date()): string | null {
  const text = typed.trim().replaceAll(/\s+/g, ' ');
  if (NOW.test(text)) return partOf(kind, isoWithZone(now));
  if (kind === 'time') return ISO_TIME.test(text) ? null : timeOf(text);
  const whole = dateOf(text, now);
  return whole !== null || kind === 'date' ? whole : momentOf(text, now);
}

function momentOf(text: string, now: Date): string | null {
  // The day, then the time of it: `23.11.2026, 14:30`, `today at 2 pm`, `2026-11-23 14:30`.
  const [, day = '', time = ''] =
    /^(.*?)(?:,? at|,? um|,)? ?(\d{1,2}(?:[:.]\d{2}){0,2} ?(?:am|pm|uhr|h)?)$/i.exec(text) ?? [];
  const iso = ISO_DAY.exec(day);
  const date = iso === null ? dateOf(day.trim(), now) : dayOf(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const clock = timeOf(time);
  return date?.length === 10 && clock !== null ? isoWithZone(new Date(`${date}T${clock}`)) : null;
}

function partOf(kind: TimeKind, iso: string): string {
  const [date = '', time = ''] = iso.split('T');
  if (kind === 'date') return date;
  return kind === 'time' ? time : iso;
}

function dateOf(text: string, now: Date): string | null {
  const days = DAYS[text.toLowerCase()];
  if (days !== undefined) {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 12);
    return partOf('date', isoWithZone(day));
  }
  const numbers = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(text);
  if (numbers !== null) return dayOf(Number(numbers[3]), Number(numbers[2]), Number(numbers[1]));
  const month = /^(\d{1,2})[./](\d{4})$/.exec(text);
  if (month !== null) return monthOf(Number(month[2]), Number(month[1]));
  const named = NAMED_DAY.exec(text);
  if (named !== null) return dayOf(Number(named[3]), numberOf(named[2]), Number(named[1]));
  const namedMonth = NAMED_MONTH.exec(text);
  return namedMonth === null ? null : monthOf(Number(namedMonth[2]), numberOf(namedMonth[1]));
}

function numberOf(name = ''): number {
  return MONTH_NUMBERS[name.toLowerCase()] ?? 0;
}

/** null: the calendar has no such day. */
function dayOf(year: number, month: number, day: number): string | null {
  const date = new Date(0);
  // Date.UTC takes 50 for 1950.
  date.setUTCFullYear(year, month - 1, day);
  const isThere = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isThere ? date.toISOString().slice(0, 10) : null;
}

function monthOf(year: number, month: number): string | null {
  return dayOf(year, month, 1)?.slice(0, 7) ?? null;
}

function timeOf(text: string): string | null {
  const [whole, hours, minutes = '', seconds = '', half = ''] = TIME.exec(text) ?? [];
  // `14` alone is a half-typed anything; `2 pm` is a time.
  if (whole === undefined || (minutes === '' && half === '')) return null;
  const hour = hourOf(Number(hours), half.toLowerCase());
  if (hour === null || Number(minutes) > 59 || Number(seconds) > 59) return null;
  return [String(hour), minutes, seconds].map((part) => part.padStart(2, '0')).join(':');
}

/** null: no day has it. */
function hourOf(hours: number, half: string): number | null {
  if (half !== 'am' && half !== 'pm') return hours > 23 ? null : hours;
  return hours > 12 ? null : (hours % 12) + (half === 'pm' ? 12 : 0);
}
