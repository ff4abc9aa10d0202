/** A piece of a text that need not be a query yet. */
export interface Piece {
  readonly text: string;
  readonly upper: string;
  readonly start: number;
  readonly end: number;
}

const PIECE =
  /--[^\r\n]*|\{\s*\/(?:[^/\\\r\n]|\\.)*\/\s*\}|'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|\$\w*|[A-Za-z_][\w.:-]*|<=|>=|!=|<>|\d[\w.]*|\S/g;

/** The pieces of any text, comments left out: unlike the lexer of the language it never fails. */
export function piecesOf(text: string): readonly Piece[] {
  const found: Piece[] = [];
  for (const match of text.matchAll(PIECE)) {
    const [piece] = match;
    if (piece.startsWith('--')) continue;
    found.push({
      text: piece,
      upper: piece.toUpperCase(),
      start: match.index,
      end: match.index + piece.length,
    });
  }
  return found;
}

/** Where the word ends that starts at a place; both from 1. */
export function endOfToken(
  text: string,
  line: number,
  column: number,
): { readonly endLine: number; readonly endColumn: number } {
  const rest = (text.split('\n')[line - 1] ?? '').slice(column - 1).replace(/\r$/, '');
  const word = /^(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\$?[\w.:-]+|[<>!]?=|\S)/.exec(rest)?.[0] ?? '';
  return { endLine: line, endColumn: column + word.length };
}

/** A class of FROM in a text that need not be a query yet. */
export interface WrittenClass {
  readonly className: string;
  readonly variable: string | null;
  readonly archetypes: readonly string[];
  /** The class that contains it. */
  readonly parent: WrittenClass | null;
  readonly end: number;
}

/** FROM as far as it is written. */
export interface WrittenFrom {
  readonly classes: readonly WrittenClass[];
  /** The class that contains what would be written at `offset`. */
  readonly parent: WrittenClass | null;
}

const CLAUSES = new Set(['SELECT', 'FROM', 'WHERE', 'ORDER', 'LIMIT', 'OFFSET']);
const FROM_WORDS = new Set([...CLAUSES, 'CONTAINS', 'AND', 'OR', 'NOT']);

/** The clause that an offset stands in, '' before the first. */
export function clauseAt(pieces: readonly Piece[], offset: number): string {
  const before = pieces.filter(({ upper, end }, index) => {
    if (end >= offset || !CLAUSES.has(upper)) return false;
    return pieces[index - 1]?.text !== '/';
  });
  return before[before.length - 1]?.upper ?? '';
}

/** Reads the classes of FROM, and what contains the place `offset`. */
export function writtenFrom(pieces: readonly Piece[], offset = Infinity): WrittenFrom {
  const start = pieces.findIndex(({ upper }) => upper === 'FROM');
  return new FromReader(pieces, start < 0 ? pieces.length : start + 1, offset).read();
}

const FROM_ENDS = new Set(['WHERE', 'ORDER', 'LIMIT', 'OFFSET']);

class FromReader {
  private readonly classes: WrittenClass[] = [];
  private readonly open: (WrittenClass | null)[] = [];
  private parent: WrittenClass | null = null;

  constructor(
    private readonly pieces: readonly Piece[],
    private index: number,
    private readonly offset: number,
  ) {}

  read(): WrittenFrom {
    let found: WrittenClass | null = null;
    for (;;) {
      const piece = this.pieces[this.index];
      if (piece === undefined || FROM_ENDS.has(piece.upper)) return { classes: this.classes, parent: found };
      this.index++;
      this.piece(piece);
      if (piece.start < this.offset) found = this.parent;
    }
  }

  private piece(piece: Piece): void {
    if (piece.upper === 'CONTAINS') this.parent = this.classes[this.classes.length - 1] ?? null;
    else if (piece.text === '(') this.open.push(this.parent);
    else if (piece.text === ')') this.parent = this.open.pop() ?? null;
    else if (isName(piece)) this.class(piece);
  }

  private class({ upper: className, start, end: first }: Piece): void {
    const name = this.pieces[this.index];
    const variable = name !== undefined && isName(name) && /^\w+$/.test(name.text) ? name.text : null;
    if (variable !== null) this.index++;
    const archetypes = this.pieces[this.index]?.text === '[' ? this.predicate() : [];
    const end = this.pieces[this.index - 1]?.end ?? first;
    const { parent } = this;
    if (start < this.offset) this.classes.push({ className, variable, archetypes, parent, end });
  }

  /** The archetype ids of a predicate, which need not have an end yet. */
  private predicate(): readonly string[] {
    const archetypes: string[] = [];
    for (this.index++; ; this.index++) {
      const piece = this.pieces[this.index];
      if (piece === undefined || piece.upper === 'WHERE' || piece.upper === 'CONTAINS') return archetypes;
      if (/^[\w:.]+-\w+-\w+\.[\w-]+\.v\d/.test(piece.text)) archetypes.push(piece.text);
      if (piece.text !== ']') continue;
      this.index++;
      return archetypes;
    }
  }
}

function isName({ text, upper }: Piece): boolean {
  return /^[A-Za-z]/.test(text) && !FROM_WORDS.has(upper);
}
