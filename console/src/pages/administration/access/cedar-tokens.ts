/** What a piece of Cedar is to the eye; null: nothing in particular. */
export type CedarKind = 'keyword' | 'class' | 'parameter' | 'string' | 'number' | 'comment' | 'code' | null;

/** A piece of a line, up to `end`. */
interface CedarToken {
  readonly end: number;
  readonly kind: CedarKind;
}

const KEYWORDS = 'permit forbid when unless if then else in is has like true false';
const VARIABLES = 'principal action resource context';

/** Words that begin a policy and its clauses, and the operators that are words. */
export const CEDAR_WORDS: readonly string[] = KEYWORDS.split(' ');
/** Who asks, for what, about what. */
export const CEDAR_VARIABLES: readonly string[] = VARIABLES.split(' ');

/** In the order in which they are tried, each from where the line is. */
const RULES: readonly (readonly [RegExp, (found: string) => CedarKind])[] = [
  [/\s+/y, () => null],
  [/\/\/.*/y, () => 'comment'],
  [/"(?:[^"\\]|\\.)*"?/y, () => 'string'],
  [/@\s*[A-Za-z_]\w*/y, () => 'code'],
  [/\d+/y, () => 'number'],
  // What stands before `::` is a type.
  [/[A-Za-z_]\w*(?=\s*::)/y, () => 'class'],
  // What stands behind a point is an attribute, whatever it is called.
  [/\.\s*[A-Za-z_]\w*/y, () => null],
  [/[A-Za-z_]\w*/y, wordKind],
];

function wordKind(word: string): CedarKind {
  if (CEDAR_WORDS.includes(word)) return 'keyword';
  if (CEDAR_VARIABLES.includes(word)) return 'parameter';
  return /^[A-Z]/.test(word) ? 'class' : null;
}

/** The piece of a line of Cedar that begins at an offset; it knows no grammar. */
export function cedarToken(line: string, from: number): CedarToken {
  for (const [rule, kindOf] of RULES) {
    rule.lastIndex = from;
    const [found] = rule.exec(line) ?? [];
    if (found !== undefined) return { end: from + found.length, kind: kindOf(found) };
  }
  return { end: from + 1, kind: null };
}
