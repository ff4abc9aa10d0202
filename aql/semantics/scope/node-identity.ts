import type { Predicate, PredicateComparison, PredicateCondition } from '../../syntax/ast.js';
import type { StepIdentity } from './types.js';
import { isArchetypeId, isNodeCode } from '../../syntax/words.js';

/** The archetype id or node code that a condition demands by equality, else null. */
export function demandedNodeId(condition: PredicateCondition): string | null {
  if (condition.kind === 'node') return condition.id.value;
  return demandedText(condition, ['archetype_node_id']);
}

/** The name/value that a condition demands by equality, else null. */
function demandedName(condition: PredicateCondition): string | null {
  if (condition.kind === 'node') return condition.name?.kind === 'string' ? condition.name.value : null;
  return demandedText(condition, ['name', 'value']);
}

function demandedText(condition: PredicateCondition, attributes: readonly string[]): string | null {
  if (condition.kind !== 'predicate-comparison' || condition.operator !== '=') return null;
  if (!isPlainPath(condition, attributes)) return null;
  const { operand } = condition;
  return operand.kind === 'string' || operand.kind === 'node-id' ? operand.value : null;
}

/** Whether the left side of a predicate comparison is just these attributes. */
export function isPlainPath({ path }: PredicateComparison, attributes: readonly string[]): boolean {
  return (
    path.steps.length === attributes.length &&
    path.steps.every((step, index) => step.attribute === attributes[index] && step.predicate === null)
  );
}

/** What identifies the element that a predicate looks for; `nodeId` and `name` null: nothing does. */
export interface DemandedIdentity {
  readonly nodeId: string | null;
  readonly name: string | null;
}

/** The identity that a predicate demands: by a single AND group only. */
export function demandedIdentity(predicate: Predicate | null): DemandedIdentity {
  const [only, ...others] = predicate?.alternatives ?? [];
  if (only === undefined || others.length > 0) return { nodeId: null, name: null };
  const first = (read: (condition: PredicateCondition) => string | null): string | null =>
    only.map(read).find((found) => found !== null) ?? null;
  return { nodeId: first(demandedNodeId), name: first(demandedName) };
}

/**
 * What makes the steps over one attribute the same choice, for each predicate in turn (docs/spec/aql.md#rows, rule
 * 3): one step without identity makes all of them a shared base step; else node codes group by code, archetype
 * ids by id, or by id and name when every step with that id has a name, and names alone by name.
 */
export function stepIdentities(predicates: readonly (Predicate | null)[]): readonly StepIdentity[] {
  const demands = predicates.map(demandedIdentity);
  if (demands.some(({ nodeId, name }) => nodeId === null && name === null))
    return demands.map(() => ({ kind: 'base' }));
  const unnamed = new Set(demands.filter(({ name }) => name === null).map(({ nodeId }) => nodeId));
  return demands.map(({ nodeId, name }): StepIdentity => {
    if (nodeId === null) return { kind: 'name', name: name ?? '' };
    if (!isArchetypeId(nodeId)) return { kind: 'code', nodeId };
    return { kind: 'archetype', archetypeId: nodeId, name: unnamed.has(nodeId) ? null : name };
  });
}

/** Text that is the same for steps that are the same choice, and for no others. */
export function identityKey(identity: StepIdentity): string {
  switch (identity.kind) {
    case 'base':
      return '';
    case 'name':
      return JSON.stringify([identity.name]);
    case 'code':
      return identity.nodeId;
    case 'archetype':
      return JSON.stringify([identity.archetypeId, identity.name]);
  }
}

/** Whether a predicate of FROM holds only within one archetype, since it demands an at-code. */
export function demandsNodeCode(predicate: Predicate): boolean {
  return predicate.alternatives.some((group) => group.some((each) => isNodeCode(demandedNodeId(each) ?? '')));
}

/** Whether every alternative of a predicate demands an archetype id or at-code. */
export function demandsNodeId(predicate: Predicate | null): boolean {
  if (predicate === null) return false;
  return predicate.alternatives.every((group) => group.some((each) => demandedNodeId(each) !== null));
}
