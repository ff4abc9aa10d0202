import { memoized } from '../../base/memoized.js';
import type { Constraint, PrimitiveConstraint } from '../opt/constraint.js';

/** What an entry of a list costs beside its own text. */
const ENTRY = 20;

/** About how many characters the values that a constraint lists take in the inputs of its node. */
export const listedText: (constraint: Constraint) => number = memoized((constraint: Constraint) => {
  switch (constraint.kind) {
    case 'object':
      return sum(constraint.attributes.flatMap(({ children }) => children.map(primitiveText)));
    case 'code-phrase':
      return lengthOf(constraint.codes);
    case 'quantity':
      return lengthOf(constraint.units.map(({ units }) => units));
    case 'ordinal':
      return lengthOf(constraint.options.map(({ text }) => text));
    default:
      return 0;
  }
});

function primitiveText(child: Constraint): number {
  return child.kind === 'primitive' ? itemText(child.item) : 0;
}

function itemText(item: PrimitiveConstraint): number {
  if (item.kind === 'string') return lengthOf(item.list) + (item.pattern?.length ?? 0);
  return 'list' in item ? item.list.length * ENTRY : 0;
}

function lengthOf(texts: readonly string[]): number {
  return sum(texts.map((text) => text.length + ENTRY));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
