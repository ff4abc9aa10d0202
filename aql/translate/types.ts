import { isLocatable } from '../../rm/model/classes.js';
import type { Predicate } from '../ast.js';

/**
 * Whether an element can be the stub of a nested segment: LOCATABLE and not picked by an at-code (only
 * FOLDERs are cut off whatever their node id is).
 */
export function canBeStub(classes: ReadonlySet<string>, predicate: Predicate | null): boolean {
  if (classes.has('FOLDER')) return true;
  let locatable = false;
  for (const each of classes) locatable ||= isLocatable(each);
  return locatable && !namesNodeCode(predicate);
}

/** Whether every alternative of a predicate starts with an at-code or id-code. */
export function namesNodeCode(predicate: Predicate | null): boolean {
  if (predicate === null) return false;
  return predicate.alternatives.every(([first]) => first?.kind === 'node' && !first.id.isArchetypeId);
}

/** Whether every alternative of a predicate starts with an archetype id. */
export function namesArchetype(predicate: Predicate | null): boolean {
  if (predicate === null) return false;
  return predicate.alternatives.every(([first]) => first?.kind === 'node' && first.id.isArchetypeId);
}

const LISTS_OF_NODES = new Set([
  'content',
  'items',
  'events',
  'activities',
  'rows',
  'folders',
  'links',
  'participations',
  'other_participations',
]);

/** Whether an attribute on the way to a node that FROM can name is a list. */
export function isListOfNodes(attribute: string): boolean {
  return LISTS_OF_NODES.has(attribute);
}
