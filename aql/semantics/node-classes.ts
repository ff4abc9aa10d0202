import type { Predicate } from '../syntax/ast.js';
import { demandedNodeId } from './node-identity.js';
import type { Alias } from './scope-types.js';
import { hasLocatable } from './typing.js';
import { isArchetypeId, isNodeCode } from '../syntax/words.js';
import { counted } from '../../openehr/base/work.js';

/**
 * Whether an element can be the stub of a nested segment: LOCATABLE and not picked by an at-code (only
 * FOLDERs are cut off whatever their node id is).
 */
export function canBeStub(classes: ReadonlySet<string>, predicate: Predicate | null): boolean {
  if (classes.has('FOLDER')) return true;
  return hasLocatable(classes) && !namesNodeCode(predicate);
}

/** The node ids that a predicate allows, one for each alternative; null when one of them demands none. */
function demandedNodeIds(predicate: Predicate | null): readonly string[] | null {
  if (predicate === null) return null;
  const ids = counted(predicate.alternatives).map((group) => {
    const demanded = counted(group)
      .map(demandedNodeId)
      .find((id) => id !== null);
    return demanded ?? null;
  });
  const all = counted(ids);
  return all.every((id) => id !== null) ? all : null;
}

/** Whether every alternative of a predicate demands an at-code or id-code. */
export function namesNodeCode(predicate: Predicate | null): boolean {
  return counted(demandedNodeIds(predicate))?.every(isNodeCode) ?? false;
}

/** Whether every alternative of a predicate demands an archetype id. */
function namesArchetype(predicate: Predicate | null): boolean {
  return counted(demandedNodeIds(predicate))?.every(isArchetypeId) ?? false;
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

/** Classes that are always segments of their own. */
const ROOTS = ['COMPOSITION', 'EHR_STATUS', 'FOLDER'];

/** Whether a class is that of a versioned root or FOLDER. */
export function isRootClass(name: string): boolean {
  return ROOTS.includes(name);
}

/** Classes of an alias that can stand inside a segment. */
export function innerClasses(alias: Alias): readonly string[] {
  if (namesArchetype(alias.predicate)) return [];
  return counted(alias.classes).filter((each) => !isRootClass(each));
}

/** The archetype ids that a predicate allows, null when it allows others too. */
export function archetypeIdsOf(alias: Alias): readonly string[] | null {
  return namesArchetype(alias.predicate) ? demandedNodeIds(alias.predicate) : null;
}
