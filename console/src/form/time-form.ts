/** Parts of a date and time with what stands before each. */
const PARTS = [
  { before: '', shown: 'YYYY' },
  { before: '-', shown: 'MM' },
  { before: '-', shown: 'DD' },
  { before: 'T', shown: 'hh' },
  { before: ':', shown: 'mm' },
  { before: ':', shown: 'ss' },
] as const;
const DEFAULTS = {
  date: 'yyyy-??-??',
  time: 'HH:??:??',
  datetime: 'yyyy-??-??T??:??:??',
} as const;

/**
 * How a date or time is written, with what may be left out in brackets: `yyyy-??-XX` is `YYYY[-MM]`. Without a pattern
 * whatever the class allows.
 */
export function timeForm(input: 'date' | 'time' | 'datetime', pattern?: string): string {
  const given = (pattern ?? DEFAULTS[input]).split(/[-T:]/);
  const parts = input === 'time' ? PARTS.slice(3) : input === 'date' ? PARTS.slice(0, 3) : PARTS;
  let text = '';
  let open = 0;
  for (const [index, { before, shown }] of parts.entries()) {
    const rule = given[index] ?? '??';
    if (rule.toUpperCase() === 'XX') break;
    if (rule === '??') {
      text += '[';
      open += 1;
    }
    text += (index === 0 ? '' : before) + shown;
  }
  return text + ']'.repeat(open);
}

/** A time with the offset of this computer, to the second. */
export function isoWithZone(time: Date): string {
  const offset = -time.getTimezoneOffset();
  const local = new Date(time.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const digits = (number: number): string => String(Math.floor(Math.abs(number))).padStart(2, '0');
  return `${local}${offset < 0 ? '-' : '+'}${digits(offset / 60)}:${digits(offset % 60)}`;
}
