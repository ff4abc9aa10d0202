import { wholeTextPattern, withoutSlashes } from '../opt/whole-text-pattern.js';

/** One alternative of a pattern, as a text that has been put together so far and where reading goes on. */
interface Position {
  readonly text: string;
  readonly next: number;
}

const MAX_LENGTH = 500;

/**
 * A text that matches a pattern as a whole: first alternatives, least repetitions. Null when none is found, since
 * only the usual parts of regular expressions are read.
 */
export function textMatching(pattern: string): string | null {
  if (pattern.length > MAX_LENGTH) return null;
  const expression = wholeTextPattern(pattern);
  const { text } = alternatives(withoutSlashes(pattern), 0);
  return [text, 'Example', '1', 'a'].find((candidate) => expression.test(candidate)) ?? null;
}

/** Reads up to the closing bracket of a group, or to the end: the first alternative counts. */
function alternatives(pattern: string, start: number): Position {
  let first: string | null = null;
  let text = '';
  let position = start;
  while (position < pattern.length && pattern[position] !== ')') {
    if (pattern[position] === '|') {
      first ??= text;
      text = '';
      position += 1;
      continue;
    }
    const part = repeatedAtom(pattern, atom(pattern, position));
    text += part.text;
    position = part.next;
  }
  return { text: first ?? text, next: position };
}

const ESCAPED: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', b: '', t: '\t', n: '\n' };

function atom(pattern: string, start: number): Position {
  const character = pattern[start] ?? '';
  switch (character) {
    case '\\': {
      const escaped = pattern[start + 1] ?? '';
      return { text: ESCAPED[escaped] ?? escaped, next: start + 2 };
    }
    case '[':
      return characterClass(pattern, start);
    case '(': {
      const opening = /^\((?:\?(?::|<\w+>))?/.exec(pattern.slice(start))?.[0] ?? '(';
      const group = alternatives(pattern, start + opening.length);
      return { text: group.text, next: group.next + 1 };
    }
    default:
      return { text: SPECIAL[character] ?? character, next: start + 1 };
  }
}

const SPECIAL: Readonly<Record<string, string>> = { '.': 'a', '^': '', $: '' };

function characterClass(pattern: string, start: number): Position {
  const end = pattern.indexOf(']', start + 2);
  const inside = pattern.slice(start + 1, end < 0 ? undefined : end);
  return { text: memberOf(inside), next: end < 0 ? pattern.length : end + 1 };
}

function memberOf(members: string): string {
  if (members.startsWith('^')) return 'a';
  return members.startsWith('\\') ? (ESCAPED[members[1] ?? ''] ?? members[1] ?? '') : (members[0] ?? '');
}

function repeatedAtom(pattern: string, { text, next }: Position): Position {
  const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(pattern.slice(next));
  if (quantifier === null) return { text, next };
  const least = quantifier[1] === undefined ? (quantifier[0].startsWith('+') ? 1 : 0) : Number(quantifier[1]);
  return { text: text.repeat(Math.min(least, MAX_LENGTH)), next: next + quantifier[0].length };
}
