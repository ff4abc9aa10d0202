/** Longer texts are left to the server. Characters. */
const LONGEST = 200;
/** What may go back and forth without end in a browser: a group that repeats, a look around, a reference back. */
const ENDLESS = /\)[*+{]|\(\?(?!:)|\\[1-9k]/;
/** Parts that repeat without a limit. */
const REPEATS = /[*+]|\{\d+,\}/g;
const MOST_REPEATS = 3;

/**
 * Whether the whole of a text is what a regular expression of a template asks for; null: that is left to the server, which reads any of them
 * in linear time.
 */
export function fitsPattern(text: string, written: string): boolean | null {
  const pattern = /^\/(.*)\/$/s.exec(written)?.[1] ?? written;
  const isEndless = ENDLESS.test(pattern) || (pattern.match(REPEATS)?.length ?? 0) > MOST_REPEATS;
  if (text.length > LONGEST || isEndless) return null;
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text);
  } catch {
    return null;
  }
}
