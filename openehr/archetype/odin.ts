import { CdrError } from '../base/errors.js';
import { characters, step } from '../base/work.js';
import { syntaxViolation } from '../base/violation.js';

/** What a text in ODIN (dADL) holds: attributes and keys by their names. Of other values than texts the text itself is kept. */
export interface OdinBlock {
  readonly [name: string]: OdinValue;
}

/** A value of ODIN. Of a list of values the first counts: no section that is read has others. */
export type OdinValue = string | OdinBlock;

/** Blocks within each other at most. */
const DEEPEST = 50;

/** Reads a section of an archetype. `firstLine`: of the section in its text. @throws invalid naming line and column */
export function parseOdin(text: string, firstLine: number): OdinBlock {
  return new OdinReader(text, firstLine).whole();
}

/** What is no key is known after a few characters: it may be begun wherever a block begins. */
const TOKENS = {
  space: /\s*(?:--[^\n]*\s*)*/y,
  name: /[A-Za-z_]\w*/y,
  key: /\[\s*(?:"([^"]{0,200})"|([^\]"\s<>=]{1,200}))\s*\]/y,
  text: /"([^"\\]*(?:\\.[^"\\]*)*)"/sy,
  plain: /[^<>"]+/y,
} as const;

class OdinReader {
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly firstLine: number,
  ) {}

  whole(): OdinBlock {
    const block = this.#members(0);
    this.#take(TOKENS.space);
    if (this.#at < this.text.length) throw this.#error('something that is no attribute');
    return block;
  }

  /** `name = <…>` or `["key"] = <…>`, as many as there are. */
  #members(depth: number): OdinBlock {
    if (depth > DEEPEST) throw this.#error(`more than ${DEEPEST} blocks within each other`);
    const members: [string, OdinValue][] = [];
    for (;;) {
      const name = this.#name();
      if (name === null) return Object.fromEntries(members);
      this.#expect('=');
      this.#typeName();
      this.#expect('<');
      members.push([name, this.#value(depth)]);
      this.#expect('>');
      this.#skip(';');
    }
  }

  /** A name that `=` follows: `[ISO_639-1::en]` alone is a value. */
  #name(): string | null {
    this.#take(TOKENS.space);
    const start = this.#at;
    const key = this.#take(TOKENS.key);
    const name = key === null ? this.#take(TOKENS.name)?.[0] : (key[1] ?? key[2]);
    this.#take(TOKENS.space);
    if (name !== undefined && this.text[this.#at] === '=') return name;
    this.#at = start;
    return null;
  }

  /** The type of an object before its block: `(AUTHORED_RESOURCE) <…>`. */
  #typeName(): void {
    this.#take(TOKENS.space);
    this.#take(/\([^)<>]*\)/y);
  }

  #value(depth: number): OdinValue {
    this.#take(TOKENS.space);
    const start = this.#at;
    const text = this.#take(TOKENS.text);
    if (text !== null) {
      this.#rest();
      return (text[1] ?? '').replaceAll(/\\(.)/gs, '$1');
    }
    const members = this.#members(depth + 1);
    if (Object.keys(members).length > 0) return members;
    this.#at = start;
    return this.#rest();
  }

  /** What stands before the end of a block that has no members: numbers, codes, more texts of a list, nothing. */
  #rest(): string {
    const start = this.#at;
    while (this.#take(TOKENS.plain) !== null || this.#take(TOKENS.text) !== null);
    return this.text.slice(start, this.#at).trim();
  }

  #expect(character: string): void {
    if (!this.#skip(character)) throw this.#error(`no ${character}`);
  }

  #skip(character: string): boolean {
    this.#take(TOKENS.space);
    if (this.text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at;
    const match = token.exec(this.text);
    step();
    if (match === null) return null;
    characters(match[0]);
    this.#at = token.lastIndex;
    return match;
  }

  #error(what: string): CdrError {
    const before = this.text.slice(0, this.#at).split('\n');
    const at = { line: this.firstLine + before.length - 1, column: (before.at(-1)?.length ?? 0) + 1 };
    const message = `the archetype cannot be read: ${what} (line ${at.line}, column ${at.column})`;
    return new CdrError('invalid', message, { problems: [syntaxViolation(at, message)] });
  }
}
