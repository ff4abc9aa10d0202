/** A piece of a text that need not be a query yet. */
export interface Piece {
  readonly text: string;
  readonly upper: string;
  readonly start: number;
  readonly end: number;
}

const PIECE =
  /--[^\r\n]*|'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|\$\w*|[A-Za-z_][\w.:-]*|<=|>=|!=|<>|\d[\w.]*|\S/g;

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
  const classes: WrittenClass[] = [];
  const open: (WrittenClass | null)[] = [];
  let parent: WrittenClass | null = null;
  let found: WrittenClass | null = null;
  if (start < 0) return { classes, parent };
  for (let index = start + 1; index < pieces.length; index++) {
    const piece = pieces[index];
    if (piece === undefined || ['WHERE', 'ORDER', 'LIMIT', 'OFFSET'].includes(piece.upper)) break;
    if (piece.upper === 'CONTAINS') parent = classes[classes.length - 1] ?? null;
    else if (piece.text === '(') open.push(parent);
    else if (piece.text === ')') parent = open.pop() ?? null;
    else if (/^[A-Za-z]/.test(piece.text) && !FROM_WORDS.has(piece.upper)) {
      const { read, next } = readClass(pieces, index, parent);
      if (piece.start < offset) classes.push(read);
      index = next - 1;
    }
    if (piece.start < offset) found = parent;
  }
  return { classes, parent: found };
}

function readClass(
  pieces: readonly Piece[],
  index: number,
  parent: WrittenClass | null,
): { readonly read: WrittenClass; readonly next: number } {
  const className = pieces[index]?.upper ?? '';
  let next = index + 1;
  const name = pieces[next];
  const hasName = name !== undefined && /^[A-Za-z]\w*$/.test(name.text) && !FROM_WORDS.has(name.upper);
  if (hasName) next++;
  const archetypes: string[] = [];
  if (pieces[next]?.text === '[') {
    for (next++; next < pieces.length && pieces[next]?.text !== ']'; next++) {
      const { text = '', upper = '' } = pieces[next] ?? {};
      if (upper === 'WHERE' || upper === 'CONTAINS') break;
      if (/^[\w:.]+-\w+-\w+\.[\w-]+\.v\d/.test(text)) archetypes.push(text);
    }
    if (pieces[next]?.text === ']') next++;
  }
  const end = pieces[next - 1]?.end ?? 0;
  return { read: { className, variable: hasName ? name.text : null, archetypes, parent, end }, next };
}
