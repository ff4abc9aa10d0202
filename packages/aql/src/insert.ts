import { piecesOf, type Piece } from './tokens.js';

/** A text after a change, and where in it one goes on writing (counted from 0). */
export interface Edit {
  readonly text: string;
  readonly cursor: number;
}

/** What may stand between SELECT and the first column. */
const BEFORE_COLUMNS = new Set(['SELECT', 'DISTINCT', 'TOP', 'FORWARD', 'BACKWARD']);

/**
 * Adds a path as the last column of SELECT, wherever the cursor is; the text need not be a query yet. null where it has
 * no SELECT.
 */
export function addColumn(text: string, path: string): Edit | null {
  const pieces = clausesOf(text);
  const select = pieces.findIndex(({ upper }) => upper === 'SELECT');
  if (select < 0) return null;
  const after = pieces.findIndex(({ upper }, index) => index > select && CLAUSES.has(upper));
  const list = pieces.slice(select, after < 0 ? undefined : after);
  const columns = list.at(-1)?.text === ',' ? list.slice(0, -1) : list;
  const added = `${isEmpty(columns) ? ' ' : ', '}${path}`;
  return edited(text.slice(0, columns.at(-1)?.end), added, text.slice(list.at(-1)?.end));
}

/** Whether no column stands behind SELECT yet. */
function isEmpty(list: readonly Piece[]): boolean {
  const [before, last] = list.slice(-2);
  return BEFORE_COLUMNS.has((last ?? before)?.upper ?? '') || before?.upper === 'TOP';
}

/**
 * Begins a condition on a path: all that WHERE says so far holds as well. The comparison is left to be written, at the
 * cursor. null where the text has no FROM.
 */
export function addCondition(text: string, path: string): Edit | null {
  const pieces = clausesOf(text);
  const from = pieces.findIndex(({ upper }) => upper === 'FROM');
  if (from < 0) return null;
  const where = pieces.findIndex(({ upper }, index) => index > from && upper === 'WHERE');
  const after = pieces.findIndex(({ upper }, index) => index > from && AFTER_WHERE.has(upper));
  const last = pieces[(after < 0 ? pieces.length : after) - 1];
  const end = last?.end ?? text.length;
  const rest = text.slice(end);
  if (where < 0) return edited(text.slice(0, end), `\nWHERE ${path} = `, rest);
  const conditions = pieces.slice(where + 1, after < 0 ? undefined : after);
  const isOpen = last !== undefined && OPEN.has(last.upper);
  if (isOpen) return edited(text.slice(0, end), ` ${path} = `, rest);
  const [first] = conditions;
  const isEither =
    first !== undefined && conditions.some(({ upper, depth }) => upper === 'OR' && depth === 0);
  const before = isEither
    ? `${text.slice(0, first.start)}(${text.slice(first.start, end)})`
    : text.slice(0, end);
  return edited(before, `\n  AND ${path} = `, rest);
}

const CLAUSES = new Set(['FROM', 'WHERE', 'ORDER', 'LIMIT', 'OFFSET']);
const AFTER_WHERE = new Set(['ORDER', 'LIMIT', 'OFFSET']);
/** What stands last where a condition is still to be written. */
const OPEN = new Set(['WHERE', 'AND', 'OR', 'NOT', '(']);

function edited(before: string, added: string, rest: string): Edit {
  const isGlued = rest !== '' && !/^\s/.test(rest);
  return { text: `${before}${added}${isGlued ? ' ' : ''}${rest}`, cursor: before.length + added.length };
}

/** The pieces of a text with the parentheses around each; a name behind `/` or `.` begins no clause. */
function clausesOf(text: string): readonly (Piece & { readonly depth: number })[] {
  let depth = 0;
  return piecesOf(text).map((piece, index, all) => {
    if (')]}'.includes(piece.text)) depth -= 1;
    const here = depth;
    if ('([{'.includes(piece.text)) depth += 1;
    const isName = all[index - 1]?.text === '/' || here > 0;
    return { ...piece, upper: isName ? '' : piece.upper, depth: here };
  });
}
