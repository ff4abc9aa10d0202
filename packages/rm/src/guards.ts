import { PARENTS } from './generated/parents.js';
import type { RmClasses } from './generated/types.js';

const parents: Readonly<Record<string, string | null>> = PARENTS;

/** Whether a class is the other one or inherits from it; false for names that are no classes. */
export function isKindOf(name: string, ancestor: string): boolean {
  if (!Object.hasOwn(parents, name)) return false;
  return name === ancestor || isKindOf(parents[name] ?? '', ancestor);
}

/** Whether a value says by its `_type` that it is of a class or of one that inherits from it: `isRm(x, 'ENTRY')`. */
export function isRm<N extends keyof RmClasses>(value: unknown, name: N): value is RmClasses[N] {
  if (typeof value !== 'object' || value === null || !('_type' in value)) return false;
  return typeof value._type === 'string' && isKindOf(value._type, name);
}
