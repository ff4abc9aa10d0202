import { parseAql } from '../../../aql/syntax/parse.js';
import { tokenize, type Token } from '../../../aql/syntax/lexer.js';
import { FUNCTION_WORDS, KEYWORDS } from '../../../aql/syntax/words.js';

/** Longest line that is not broken. */
const WIDTH = 100;
const CLAUSES = new Set(['SELECT', 'FROM', 'WHERE', 'ORDER', 'LIMIT']);
const BREAKING = new Set(['CONTAINS', 'AND', 'OR']);

/**
 * A query with one clause on a line, long clauses on several, words of the language in capitals. Tokens and comments stay
 * as they are, so it means the same; formatted again it is the same text. @throws CdrError of what cannot be read
 */
export function formatAql(text: string): string {
  parseAql(text);
  return clausesOf(wordsOf(text))
    .map((clause) => clauseText(clause))
    .join('\n');
}

/** A token as it is written out. */
interface Word {
  readonly text: string;
  readonly token: Token;
  /** Blank before it where it stands on the same line. */
  readonly spaced: boolean;
  /** Levels of parentheses and brackets around it. */
  readonly depth: number;
  /** Whether it stands in a predicate. */
  readonly inner: boolean;
  /** Comments before it; `own`: each on a line of its own. */
  readonly comments: readonly { readonly text: string; readonly own: boolean }[];
}

/** Where a token stands. */
interface Place {
  readonly depth: number;
  readonly predicates: number;
  readonly clause: string;
}

const OPENING = new Set(['(', '[', '{']);
const CLOSING = new Set([')', ']', '}']);

function wordsOf(text: string): readonly Word[] {
  const tokens = tokenize(text);
  let place: Place = { depth: 0, predicates: 0, clause: '' };
  return tokens.map((token, index): Word => {
    const source = text.slice(token.start, token.end);
    const sign = token.kind === 'symbol' ? source : '';
    const previous = tokens[index - 1];
    place = placeAt(place, token, sign, previous);
    const { depth, predicates, clause } = place;
    const inner = predicates > 0;
    place = {
      ...place,
      depth: depth + (OPENING.has(sign) ? 1 : 0),
      predicates: predicates + (sign === '[' ? 1 : 0),
    };
    return {
      text: written(token, source, tokens, { index, inner, clause }),
      token,
      spaced: previous !== undefined && isSpaced(tokens, index, clause),
      depth,
      inner,
      comments: commentsIn(text.slice(previous?.end ?? 0, token.start), index === 0),
    };
  });
}

/** A sign that closes stands where the one stands that opens. */
function placeAt(before: Place, token: Token, sign: string, previous: Token | undefined): Place {
  const depth = before.depth - (CLOSING.has(sign) ? 1 : 0);
  const predicates = before.predicates - (sign === ']' ? 1 : 0);
  const isClause =
    token.kind === 'word' && depth === 0 && CLAUSES.has(token.upper) && !isSymbol(previous, '/');
  return { depth, predicates, clause: isClause ? token.upper : before.clause };
}

function commentsIn(gap: string, isFirst: boolean): Word['comments'] {
  return [...gap.matchAll(/--[^\r\n]*/g)].map((match) => ({
    text: match[0].trimEnd(),
    own: isFirst || gap.slice(0, match.index).includes('\n'),
  }));
}

/** Words of the language in capitals; names, and attributes that are called like functions, as they are. */
function written(
  token: Token,
  source: string,
  tokens: readonly Token[],
  { index, inner, clause }: { readonly index: number; readonly inner: boolean; readonly clause: string },
): string {
  if (token.kind !== 'word' || isSymbol(tokens[index - 1], '/')) return source;
  if (KEYWORDS.has(token.upper)) return isAttribute(tokens, index) ? source : token.upper;
  if (!inner && FUNCTION_WORDS.has(token.upper) && isSymbol(tokens[index + 1], '(')) return token.upper;
  return !inner && clause === 'FROM' && isClass(tokens, index) ? token.upper : source;
}

/** `[order/value = 1]`: a path in a predicate may begin with any word. */
function isAttribute(tokens: readonly Token[], index: number): boolean {
  return isSymbol(tokens[index + 1], '/');
}

/** Whether a word of FROM is a class. */
function isClass(tokens: readonly Token[], index: number): boolean {
  let before = index - 1;
  while (isSymbol(tokens[before], '(')) before--;
  const word = tokens[before];
  return word?.kind === 'word' && ['FROM', 'CONTAINS', 'AND', 'OR'].includes(word.upper);
}

function isSymbol(token: Token | undefined, sign: string): boolean {
  return token?.kind === 'symbol' && token.text === sign;
}

function isSpaced(tokens: readonly Token[], index: number, clause: string): boolean {
  const token = tokens[index];
  const previous = tokens[index - 1];
  const signOf = (each: Token | undefined) => (each?.kind === 'symbol' ? each.text : '');
  if (['/', ',', ']', ')', '}', ';', '['].includes(signOf(token))) return false;
  if (['/', '(', '[', '{'].includes(signOf(previous))) return false;
  const isCall =
    previous?.kind === 'word' && FUNCTION_WORDS.has(previous.upper) && !BREAKING.has(previous.upper);
  // CONTAINS is a word of FROM and the name of a function.
  const isContainsCall = previous?.upper === 'CONTAINS' && clause !== 'FROM';
  return !(signOf(token) === '(' && (isCall || isContainsCall));
}

function clausesOf(words: readonly Word[]): readonly (readonly Word[])[] {
  const clauses: Word[][] = [[]];
  for (const [index, word] of words.entries()) {
    const last = clauses[clauses.length - 1];
    if (index > 0 && startsClause(word, last?.[0]?.text ?? '')) clauses.push([word]);
    else if (word.token.kind !== 'end' || word.comments.length > 0) last?.push(word);
  }
  return clauses;
}

/** OFFSET stays with its LIMIT. */
function startsClause({ token, depth, text }: Word, clause: string): boolean {
  if (token.kind !== 'word' || depth > 0 || text !== token.upper) return false;
  return CLAUSES.has(token.upper) || (token.upper === 'OFFSET' && clause !== 'LIMIT');
}

function clauseText(words: readonly Word[]): string {
  const hasComments = words.some(({ comments }, index) => index > 0 && comments.length > 0);
  const line = words.map((word, index) => (index > 0 && word.spaced ? ' ' : '') + word.text).join('');
  const before = (words[0]?.comments ?? []).map(({ text }) => `${text}\n`).join('');
  if (!hasComments && line.length <= WIDTH) return before + line;
  return before + broken(words);
}

/** A clause on several lines: one for each column, each CONTAINS, each condition. */
function broken(words: readonly Word[]): string {
  const pieces = words.map((word, index) => (index === 0 ? '' : before(words, index)) + word.text);
  return pieces.join('').trimEnd();
}

/** What stands between a word and the one before it. */
function before(words: readonly Word[], index: number): string {
  const { comments = [], depth = 0, spaced = false } = words[index] ?? {};
  const indent = `\n${'  '.repeat(depth + 1)}`;
  const said = comments.map(({ text, own }, number) => (own || number > 0 ? indent : ' ') + text).join('');
  const isColumn = words[0]?.text === 'SELECT' && isColumnEnd(words[index - 1]);
  if (said !== '' || isColumn || isLineStart(words, index)) return said + indent;
  return spaced ? ' ' : '';
}

function isColumnEnd(previous: Word | undefined): boolean {
  return previous?.text === ',' && previous.depth === 0;
}

/** Whether a line begins here: NOT stays with the CONTAINS behind it. */
function isLineStart(words: readonly Word[], index: number): boolean {
  const word = words[index];
  if (word === undefined || word.inner || word.token.kind !== 'word') return false;
  const isFrom = words[0]?.text === 'FROM';
  if (word.text === 'NOT') return isFrom && words[index + 1]?.text === 'CONTAINS';
  if (word.text === 'CONTAINS') return isFrom && words[index - 1]?.text !== 'NOT';
  return BREAKING.has(word.text);
}
