/** The parts of a duration in the order in which it is written. */
export const DURATION_PARTS = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'] as const;

/** Name of a part of a duration. */
export type DurationPart = (typeof DURATION_PARTS)[number];

const LETTERS: Readonly<Record<DurationPart, string>> = {
  year: 'Y',
  month: 'M',
  week: 'W',
  day: 'D',
  hour: 'H',
  minute: 'M',
  second: 'S',
};
const FORM =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/;

/** The numbers of an ISO 8601 duration; null: it is none that has parts, such as a negative one. */
export function partsOfDuration(text: string): Partial<Record<DurationPart, number>> | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const parts: Partial<Record<DurationPart, number>> = {};
  DURATION_PARTS.forEach((part, index) => {
    const digits = match[index + 1];
    if (digits !== undefined) parts[part] = Number(digits.replace(',', '.'));
  });
  return parts;
}

/** The duration of some numbers; empty without any. */
export function durationOf(parts: Partial<Record<DurationPart, number>>): string {
  const written = (names: readonly DurationPart[]): string =>
    names.map((name) => (parts[name] === undefined ? '' : `${parts[name]}${LETTERS[name]}`)).join('');
  const date = written(DURATION_PARTS.slice(0, 4));
  const time = written(DURATION_PARTS.slice(4));
  return date === '' && time === '' ? '' : `P${date}${time === '' ? '' : `T${time}`}`;
}
