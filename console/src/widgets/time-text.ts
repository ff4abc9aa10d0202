import { epochOf } from '../record/values/instant.js';

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago a time was, in whole units of one kind: `3 days ago`. Empty for what is no time. */
export function ago(text: string, language: string, now = Date.now()): string {
  const then = epochOf(text);
  if (Number.isNaN(then)) return '';
  const seconds = (then - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit);
  return format.format(Math.trunc(seconds), 'second');
}
