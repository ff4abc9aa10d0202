import { counted, step } from '../../openehr/base/work.js';
import type { Alias, FromClass, FromNode } from './scope-types.js';

/** The classes of a part of FROM in the order of the text; below a class only where `isEntered` says so. */
export function* classesIn(
  from: FromNode,
  isEntered: (node: FromClass) => boolean = () => true,
): Generator<FromClass> {
  step();
  if (from.kind !== 'class')
    for (const operand of counted(from.operands)) yield* classesIn(operand, isEntered);
  else {
    yield from;
    if (from.contains !== null && isEntered(from)) yield* classesIn(from.contains.child, isEntered);
  }
}

/** The classes that AND and OR join at the top of a part of FROM. */
export function topClasses(from: FromNode): readonly FromClass[] {
  return [...classesIn(from, () => false)];
}

/** The class that a part of FROM starts with. */
export function firstClass(from: FromNode): FromClass {
  const [first] = topClasses(from);
  if (first === undefined) throw new TypeError('a chain of FROM is never empty');
  return first;
}

/** The aliases of a part of FROM that stand for something, in the order in which they are bound. */
export function boundAliases(from: FromNode): readonly Alias[] {
  const bound = [...classesIn(from, ({ contains }) => contains?.negated === false)];
  return counted(bound).map(({ alias }) => alias);
}
