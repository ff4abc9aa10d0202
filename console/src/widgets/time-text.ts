const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/**
 * Date and time of an ISO 8601 text with the digits that stand in it, never moved to another zone: `2026-01-05T07:12:00Z`
 * is `5 Jan 2026, 07:12`. A partial date keeps what it has; another text stays as it is.
 */
export function localTime(text: string, language: string): string {
  const match = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}:\d{2}))?)?)?/.exec(text);
  const [, year, month, day, time] = match ?? [];
  if (year === undefined) return text;
  const date = new Date(Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1)));
  const shown = new Intl.DateTimeFormat(language === 'de' ? 'de-DE' : 'en-GB', {
    timeZone: 'UTC',
    year: 'numeric',
    ...(month !== undefined && { month: 'short' }),
    ...(day !== undefined && { day: 'numeric' }),
  }).format(date);
  return time === undefined ? shown : `${shown}, ${time}`;
}

/** How long ago a time was, in one unit: `3 days ago`. Empty for what is no time. */
export function ago(text: string, language: string, now = Date.now()): string {
  const then = Date.parse(text);
  if (Number.isNaN(then)) return '';
  const seconds = (then - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  return format.format(Math.round(seconds), 'second');
}
