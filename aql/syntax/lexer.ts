import { CdrError } from '../../openehr/base/errors.js';
import { syntaxError } from './aql-error.js';
import type { Position } from './ast.js';
import { MAX_QUERY_BYTES } from './limits.js';
import { illegalEscape } from './string-literal.js';

/** What a token is; `word` covers keywords and identifiers. */
type TokenKind =
  | 'word'
  | 'node-code'
  | 'archetype-id'
  | 'term-code'
  | 'parameter'
  | 'string'
  | 'integer'
  | 'real'
  | 'regex'
  | 'uri'
  | 'symbol'
  | 'end';

/** One token with its position. */
export interface Token {
  readonly kind: TokenKind;
  /** As written; strings without their quotes, parameters without `$`, `{/…/}` and `{URI}` whole. */
  readonly text: string;
  /** Upper-cased when the kind is `word`, else as `text`. */
  readonly upper: string;
  readonly start: number;
  readonly end: number;
  readonly at: Position;
}

const BLANK = /(?:[ \t\r\n\uFEFF]+|--(?: [^\r\n]*|(?=[\r\n])|$))+/y;
const WORD = /[A-Za-z]\w*/y;
const ATTRIBUTE = /_?[A-Za-z]\w*/y;
const NODE_CODE = /(?:at|id)\d+(?:\.\d+)*(?![\w-])/y;
const ARCHETYPE_ID =
  /(?:[A-Za-z][\w.-]*::)?[A-Za-z]\w*-\w+-\w+\.[A-Za-z][\w-]*?\.v\d+(?:\.\d+){0,2}(?:-(?:rc|alpha)(?:\.\d+)?)?(?![\w-])/y;
const TERM_CODE = /[A-Za-z][\w.-]*(?:\([\w.-]+\))?::[\w.-]+(?:\|[^|\]]*\|)?/y;
const NUMBER = /-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
const STRING = /'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"/y;
const REGEX =
  /\{\s*\/(?:[^/\\\r\n]|\\[^\r\n])*\/\s*(?:;\s*(?:'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"))?\s*\}/y;
const URI = /\{\s*[A-Za-z][A-Za-z0-9+.-]*:[^\s{}<>"'\\^`|]+\s*\}/y;
/** Signs after a word that can continue an archetype id or a term code: - . : ( */
const CONTINUED: ReadonlySet<number> = new Set([0x2d, 0x2e, 0x3a, 0x28]);
const SYMBOL = /!=|<>|<=|>=|[=<>()[\]{},/*;]/y;

/** Cuts a query into tokens, the last of kind `end`. AQL 1.1 lexer. @throws invalid with line and column */
export function tokenize(text: string): readonly Token[] {
  const bytes = byteLength(text);
  if (bytes > MAX_QUERY_BYTES)
    throw new CdrError(
      'invalid',
      `the query text has ${bytes} bytes, at most ${MAX_QUERY_BYTES} are possible`,
    );
  return new Lexer(text).tokens();
}

/** In UTF-8, also in browsers, where there is no `Buffer`. */
function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

class Lexer {
  private readonly result: Token[] = [];
  private offset = 0;
  private line = 1;
  private lineStart = 0;
  /** Where the line ends that is read. */
  private lineEnd: number;
  private predicateDepth = 0;

  constructor(private readonly text: string) {
    this.lineEnd = this.lineEndFrom(0);
  }

  tokens(): Token[] {
    this.skipBlank();
    while (this.offset < this.text.length) {
      this.next();
      this.skipBlank();
    }
    this.push('end', '', this.offset);
    return this.result;
  }

  private next(): void {
    const unit = this.text.charCodeAt(this.offset);
    if (isLetter(unit) || unit === 0x5f) this.word();
    else if (isDigit(unit) || unit === 0x2d || unit === 0x2e) this.number();
    else if (unit === 0x27 || unit === 0x22) this.string();
    else if (unit === 0x24) this.parameter();
    else this.symbol();
  }

  private word(): void {
    const previous = this.previous();
    if (previous?.kind === 'symbol' && previous.text === '/') {
      if (!this.take('word', ATTRIBUTE)) this.fail('an attribute name');
      return;
    }
    if (this.take('node-code', NODE_CODE)) return;
    const end = this.matchEnd(WORD);
    if (end < 0) this.fail('a name that starts with a letter');
    if (CONTINUED.has(this.text.charCodeAt(end))) {
      if (this.take('archetype-id', ARCHETYPE_ID)) return;
      if (this.take('term-code', TERM_CODE)) return;
    }
    this.push('word', this.text.slice(this.offset, end), end);
  }

  private number(): void {
    const end = this.matchEnd(NUMBER);
    if (end < 0) this.fail(this.text.startsWith('--', this.offset) ? "a blank after '--'" : 'a number');
    const text = this.text.slice(this.offset, end);
    this.push(/[.eE]/.test(text) ? 'real' : 'integer', text, end);
  }

  private string(): void {
    const end = this.matchEnd(STRING);
    if (end < 0) this.failAt(this.offset, 'the string that starts here has no end');
    const inner = this.text.slice(this.offset + 1, end - 1);
    const illegal = illegalEscape(inner);
    if (illegal >= 0)
      this.failAt(this.offset + 1 + illegal, 'a backslash here is not a legal escape; write \\\\ for one');
    this.push('string', inner, end);
    this.countLines(end);
  }

  private parameter(): void {
    this.offset++;
    const end = this.matchEnd(WORD);
    this.offset--;
    if (end < 0) this.fail("a parameter name right after '$'");
    this.push('parameter', this.text.slice(this.offset + 1, end), end);
  }

  private symbol(): void {
    const before = this.offset;
    if (this.text[before] === '{' && this.previous()?.upper === 'MATCHES') {
      const isTaken = this.predicateDepth > 0 ? this.take('regex', REGEX) : this.take('uri', URI);
      if (isTaken) {
        this.countLines(this.offset);
        return;
      }
    }
    if (!this.take('symbol', SYMBOL)) this.fail('a query word, name, value or sign');
    const sign = this.text[before];
    if (sign === '[') this.predicateDepth++;
    else if (sign === ']' && this.predicateDepth > 0) this.predicateDepth--;
  }

  private take(kind: TokenKind, pattern: RegExp): boolean {
    const end = this.matchEnd(pattern);
    if (end < 0) return false;
    this.push(kind, this.text.slice(this.offset, end), end);
    return true;
  }

  private matchEnd(pattern: RegExp): number {
    pattern.lastIndex = this.offset;
    return pattern.test(this.text) ? pattern.lastIndex : -1;
  }

  private push(kind: TokenKind, text: string, end: number): void {
    const at = this.position(this.offset);
    const upper = kind === 'word' ? text.toUpperCase() : text;
    this.result.push({ kind, text, upper, start: this.offset, end, at });
    this.offset = end;
  }

  private previous(): Token | undefined {
    return this.result[this.result.length - 1];
  }

  private skipBlank(): void {
    const end = this.matchEnd(BLANK);
    if (end < 0) return;
    this.offset = end;
    this.countLines(end);
  }

  /** Each line's end is looked for once: a query may be one line of many tokens. */
  private countLines(to: number): void {
    while (this.lineEnd < to) {
      this.line++;
      this.lineStart = this.lineEnd + 1;
      this.lineEnd = this.lineEndFrom(this.lineStart);
    }
  }

  private lineEndFrom(offset: number): number {
    const at = this.text.indexOf('\n', offset);
    return at < 0 ? Infinity : at;
  }

  private position(offset: number): Position {
    return { line: this.line, column: offset - this.lineStart + 1 };
  }

  private fail(expected: string): never {
    const found = this.text.slice(this.offset, this.offset + 10).replace(/[\r\n][\s\S]*$/, '');
    this.failAt(this.offset, `expected ${expected}, found ${JSON.stringify(found)}`);
  }

  private failAt(offset: number, what: string): never {
    this.countLines(offset);
    throw syntaxError(this.position(offset), what);
  }
}

function isLetter(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
