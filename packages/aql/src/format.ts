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

function wordsOf(text: string): readonly Word[] {
  const tokens = tokenize(text);
  const words: Word[] = [];
  let depth = 0;
  let predicates = 0;
  let end = 0;
  let clause = '';
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1];
    const source = text.slice(token.start, token.end);
    const isClosing = source === ')' || source === ']' || source === '}';
    if (isClosing) depth--;
    if (source === ']') predicates--;
    if (token.kind === 'word' && depth === 0 && CLAUSES.has(token.upper) && !isSymbol(previous, '/'))
      clause = token.upper;
    words.push({
      text: written(token, source, tokens, { index, inner: predicates > 0, clause }),
      token,
      spaced: previous !== undefined && isSpaced(tokens, index, clause),
      depth,
      inner: predicates > 0,
      comments: commentsIn(text.slice(end, token.start), index === 0),
    });
    if (source === '(' || source === '[' || source === '{') depth++;
    if (source === '[') predicates++;
    end = token.end;
  }
  return words;
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
  const clauses: Word[][] = [];
  for (const word of words) {
    const { token, depth } = word;
    const isNew =
      token.kind === 'word' && depth === 0 && CLAUSES.has(token.upper) && word.text === token.upper;
    const isOffset = token.upper === 'OFFSET' && clauses[clauses.length - 1]?.[0]?.text !== 'LIMIT';
    if (clauses.length === 0 || isNew || (isOffset && depth === 0 && token.kind === 'word')) clauses.push([]);
    if (token.kind !== 'end' || word.comments.length > 0) clauses[clauses.length - 1]?.push(word);
  }
  return clauses;
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
  let text = '';
  let mustBreak = false;
  const isSelect = words[0]?.text === 'SELECT';
  for (const [index, word] of words.entries()) {
    const previous = words[index - 1];
    const indent = `\n${'  '.repeat(word.depth + 1)}`;
    if (index > 0)
      for (const comment of word.comments) {
        text += comment.own || mustBreak ? `${indent}${comment.text}` : ` ${comment.text}`;
        mustBreak = true;
      }
    const isBroken = mustBreak || isLineStart(words, index) || (isSelect && isColumnEnd(previous));
    text += isBroken && index > 0 ? indent : index > 0 && word.spaced ? ' ' : '';
    text += word.text;
    mustBreak = false;
  }
  return text;
}

function isColumnEnd(previous: Word | undefined): boolean {
  return previous?.text === ',' && previous.depth === 0;
}

/** Whether a line begins here: NOT stays with the CONTAINS behind it. */
function isLineStart(words: readonly Word[], index: number): boolean {
  const word = words[index];
  if (word === undefined || word.inner || word.token.kind !== 'word') return false;
  const next = words[index + 1];
  if (word.text === 'NOT') return next?.text === 'CONTAINS' && words[0]?.text === 'FROM';
  if (!BREAKING.has(word.text) || next === undefined) return false;
  if (word.text === 'CONTAINS') return words[0]?.text === 'FROM' && words[index - 1]?.text !== 'NOT';
  return true;
}
