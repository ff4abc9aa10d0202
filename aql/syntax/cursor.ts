import { syntaxError } from './aql-error.js';
import { nearestWord } from '../../openehr/base/text.js';
import { tokenize, type Token } from './lexer.js';
import { COUNTED_NAMES, MAX_COUNTS, MAX_NESTING, type Counted } from './limits.js';
import { FUNCTION_WORDS, KEYWORDS } from './words.js';
import { expressionNodes } from '../../openehr/base/work.js';

/** What is a node of an expression by itself. */
const NODES: ReadonlySet<Counted> = new Set(['conditions', 'operands', 'literals']);

/** The tokens of a query with a reading position. Every failure is a `CdrError` `invalid` with line and column. */
export class Cursor {
  private readonly tokens: readonly Token[];
  private index = 0;
  private depth = 0;
  private isInList = false;
  private readonly counts = new Map<Counted, number>();

  constructor(private readonly text: string) {
    this.tokens = tokenize(text);
  }

  /** The token at the reading position. */
  get token(): Token {
    return this.tokenAt(this.index);
  }

  /** A token further on. */
  peek(distance: number): Token {
    return this.tokenAt(this.index + distance);
  }

  /** Takes the token at the reading position. */
  advance(): Token {
    const token = this.token;
    if (this.index < this.tokens.length - 1) this.index++;
    return token;
  }

  isWord(upper: string): boolean {
    const token = this.token;
    return token.kind === 'word' && token.upper === upper;
  }

  isSymbol(sign: string): boolean {
    const token = this.token;
    return token.kind === 'symbol' && token.text === sign;
  }

  /** Takes a keyword when it stands here. */
  takeWord(...uppers: string[]): Token | null {
    const token = this.token;
    return token.kind === 'word' && uppers.includes(token.upper) ? this.advance() : null;
  }

  /** Takes a sign when it stands here. */
  takeSymbol(...signs: string[]): Token | null {
    const token = this.token;
    return token.kind === 'symbol' && signs.includes(token.text) ? this.advance() : null;
  }

  /** Takes a keyword. @throws invalid when another token stands here */
  expectWord(upper: string): Token {
    return this.takeWord(upper) ?? this.fail(upper, [upper]);
  }

  /** Takes a sign. @throws invalid when another token stands here */
  expectSymbol(sign: string, alternatives: readonly string[] = []): Token {
    return this.takeSymbol(sign) ?? this.fail([...alternatives, `'${sign}'`].join(', '), alternatives);
  }

  /** Takes a name that is no reserved word; `what`: what the name would be, for the message. @throws invalid */
  expectName(what: string): Token {
    const { kind, upper, text } = this.token;
    if (kind === 'word') {
      if (KEYWORDS.has(upper) || FUNCTION_WORDS.has(upper))
        this.fail(`${what} (${upper} is a reserved word)`);
      return this.advance();
    }
    // `id1` looks like a node code, but no node code can stand where a name is expected.
    if (kind === 'node-code' && !text.includes('.')) return this.advance();
    return this.fail(what);
  }

  /** Runs `read` one level deeper. @throws invalid past `MAX_NESTING` levels */
  nested<T>(read: () => T): T {
    if (++this.depth > MAX_NESTING)
      throw syntaxError(
        this.token.at,
        `a query can be nested at most ${MAX_NESTING} levels deep, here starts level ${this.depth}`,
      );
    const result = read();
    this.depth--;
    return result;
  }

  /** Reads the members of a list, which are values of one node and have limits of their own. */
  list<T>(read: () => T): T {
    this.isInList = true;
    const result = read();
    this.isInList = false;
    return result;
  }

  /**
   * Counts what starts at the reading position. @throws invalid past the limit of `MAX_COUNTS`; unprocessable past
   * `expressionNodes` of the request
   */
  count(what: Counted): void {
    const count = (this.counts.get(what) ?? 0) + 1;
    const most = MAX_COUNTS[what];
    if (count > most)
      throw syntaxError(
        this.token.at,
        `a query can have at most ${most} ${COUNTED_NAMES[what]}, here starts number ${count}`,
      );
    this.counts.set(what, count);
    if (NODES.has(what) && !this.isInList) expressionNodes();
  }

  /** Source text from a token to the one before the reading position. */
  textSince(first: Token): string {
    return this.text.slice(first.start, this.tokenAt(this.index - 1).end);
  }

  /** Refuses the token at the reading position; `words` are the keywords that a misspelling may have meant. */
  fail(expected: string, words: readonly string[] = []): never {
    const token = this.token;
    const nearest = token.kind === 'word' ? nearestWord(token.text, words) : null;
    const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
    throw syntaxError(token.at, `expected ${expected}, found ${describeToken(token)}${meant}`);
  }

  private tokenAt(index: number): Token {
    const token = this.tokens[Math.min(index, this.tokens.length - 1)];
    if (token === undefined) throw new TypeError('no token');
    return token;
  }
}

function describeToken(token: Token): string {
  if (token.kind === 'end') return 'the end of the query';
  const text = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
  if (token.kind === 'parameter') return `parameter $${text}`;
  if (token.kind === 'string') return `string ${JSON.stringify(text)}`;
  return `'${text}'`;
}
