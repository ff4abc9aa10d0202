import { aComposition, type Json } from './resources.js';

/** A template of the fixtures whose COMPOSITION may hold any number of entries. */
export const LARGE_TEMPLATE = 'ehrbase_multi_occurrence.de.v1';

/** How many nodes a JSON value has: objects, arrays and scalars. */
function nodesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + nodesOf(member), 1);
}

/** A valid COMPOSITION of at most so many nodes: the same entry again and again. */
export function largeComposition(nodes: number): Json {
  const composition = aComposition(LARGE_TEMPLATE);
  const [entry] = composition.content as Json[];
  const count = Math.floor((nodes - nodesOf({ ...composition, content: [] })) / nodesOf(entry));
  composition.content = Array.from({ length: count }, () => entry);
  return composition;
}

/** A JSON array of so many nodes. */
export function arraysOf(nodes: number): string {
  return `[${'[],'.repeat(nodes - 2)}[]]`;
}

/** A JSON object with so many members that nothing knows. */
export function unknownMembers(count: number): string {
  return `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
}
