/** What must be there. @throws TypeError when it is not: a fault of the program, which nothing may go on with */
export function required<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new TypeError(`there is no ${what}`);
  return value;
}

/** Pairs of what stands at the same place of two lists. @throws TypeError when one is longer */
export function zip<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  if (left.length !== right.length) throw new TypeError(`${left.length} are not as many as ${right.length}`);
  return left.map((each, index) => [each, right[index] as B]);
}
