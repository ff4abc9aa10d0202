import type { Position } from './ast.js';
import type { Cursor } from './cursor.js';
import { expressionNodes } from '../../openehr/base/work.js';

/** Operands joined by one word, AND or OR. */
interface Chain<Kind, Operand> {
  readonly kind: Kind;
  readonly operands: Operand[];
  readonly at: Position;
}

/** One operand, or several with `word` between them as a node of `kind`. @throws invalid as `operand` does */
export function parseChain<Kind, Operand>(
  cursor: Cursor,
  kind: Kind,
  word: string,
  operand: () => Operand,
): Operand | Chain<Kind, Operand> {
  const { at } = cursor.token;
  const first = operand();
  if (!cursor.isWord(word)) return first;
  expressionNodes();
  const operands = [first];
  while (cursor.takeWord(word) !== null) operands.push(operand());
  return { kind, operands, at };
}
