/** Parts of a date and time, of an example, with what stands before each. */
const PARTS = [
  { before: '', shown: '2026' },
  { before: '-', shown: '11' },
  { before: '-', shown: '23' },
  { before: 'T', shown: '14' },
  { before: ':', shown: '30' },
  { before: ':', shown: '00' },
] as const;
const DEFAULTS = {
  date: 'yyyy-??-??',
  time: 'HH:??:??',
  datetime: 'yyyy-??-??T??:??:??',
} as const;

/** What is asked of each part of a date or time: `??` may be there, `XX` may not, all else has to. Without a pattern as the class has it. */
export function timeRules(input: keyof typeof DEFAULTS, pattern?: string): string[] {
  return (pattern ?? DEFAULTS[input]).split(/[-T:]/);
}

/**
 * Examples of how a date or time may be written, with the fewest parts first: `yyyy-??-XX` is 2026 and 2026-11. Without a
 * pattern whatever the class allows.
 */
export function timeExamples(input: keyof typeof DEFAULTS, pattern?: string): string[] {
  const given = timeRules(input, pattern);
  const parts = input === 'time' ? PARTS.slice(3) : input === 'date' ? PARTS.slice(0, 3) : PARTS;
  const examples: string[] = [];
  let text = '';
  for (const [index, { before, shown }] of parts.entries()) {
    const rule = given[index] ?? '??';
    if (rule.toUpperCase() === 'XX') break;
    if (rule === '??' && text !== '') examples.push(text);
    text += (index === 0 ? '' : before) + shown;
  }
  return [...examples, text];
}

/** A time with the offset of this computer, to the second. */
export function isoWithZone(time: Date): string {
  const offset = -time.getTimezoneOffset();
  const local = new Date(time.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const digits = (number: number): string => String(Math.floor(Math.abs(number))).padStart(2, '0');
  return `${local}${offset < 0 ? '-' : '+'}${digits(offset / 60)}:${digits(offset % 60)}`;
}
