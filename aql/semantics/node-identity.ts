import type { Predicate, PredicateComparison, PredicateCondition } from '../syntax/ast.js';
import type { StepIdentity } from './scope-types.js';
import { isArchetypeId, isNodeCode } from '../syntax/words.js';
import { counted } from '../../openehr/base/work.js';

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
    counted(path.steps).every(
      (step, index) => step.attribute === attributes[index] && step.predicate === null,
    )
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
    counted(only)
      .map(read)
      .find((found) => found !== null) ?? null;
  return { nodeId: first(demandedNodeId), name: first(demandedName) };
}

/**
 * What makes the steps over one attribute the same choice, for each predicate in turn (docs/spec/aql.md#rows, rule
 * 3): one step without identity makes all of them a shared base step; else node codes group by code, archetype
 * ids by id, or by id and name when every step with that id has a name, and names alone by name. A name alone and a
 * code alone are one choice: `isMultiple` says whether there are others to choose.
 */
export function stepIdentities(
  predicates: readonly (Predicate | null)[],
  isMultiple: boolean,
): readonly StepIdentity[] {
  const demands = counted(predicates).map(demandedIdentity);
  const isMixed = new Set(counted(demands).map(({ nodeId }) => nodeId === null)).size > 1;
  if (counted(demands).some(isUnidentified) || (isMixed && !isMultiple))
    return counted(demands).map(() => ({ kind: 'base' }));
  const both = nameAndCode(demands);
  if (both !== null) return counted(demands).map(() => both);
  const unnamed = new Set(
    counted(demands)
      .filter(({ name }) => name === null)
      .map(({ nodeId }) => nodeId),
  );
  return counted(demands).map(({ nodeId, name }): StepIdentity => {
    if (nodeId === null) return { kind: 'name', name: name ?? '' };
    return coded(nodeId, isArchetypeId(nodeId) && !unnamed.has(nodeId) ? name : null);
  });
}

function isUnidentified({ nodeId, name }: DemandedIdentity): boolean {
  return nodeId === null && name === null;
}

function coded(nodeId: string, name: string | null): StepIdentity {
  return isArchetypeId(nodeId)
    ? { kind: 'archetype', archetypeId: nodeId, name }
    : { kind: 'code', nodeId, name };
}

/** The one identity of steps of which some demand one name alone, and the others one code, at least one of them alone. */
function nameAndCode(demands: readonly DemandedIdentity[]): StepIdentity | null {
  const [name, otherName] = new Set(
    counted(demands)
      .filter(({ nodeId }) => nodeId === null)
      .map((each) => each.name),
  );
  const [nodeId, otherId] = new Set(
    counted(demands)
      .map((each) => each.nodeId)
      .filter((id) => id !== null),
  );
  if (name == null || nodeId === undefined || otherName !== undefined || otherId !== undefined) return null;
  return counted(demands).some((each) => each.name === null) ? coded(nodeId, name) : null;
}

/** A predicate of one of the steps that are a choice, which then demands all that identifies the choice. */
export function withIdentity(predicate: Predicate | null, identity: StepIdentity): Predicate | null {
  const [only] = predicate?.alternatives ?? [];
  if (predicate === null || only === undefined || identity.kind === 'base' || identity.kind === 'name')
    return predicate;
  const demand = demandedIdentity(predicate);
  const { at } = predicate;
  const more: PredicateCondition[] = [];
  if (demand.nodeId === null) {
    const isArchetype = identity.kind === 'archetype';
    const value = isArchetype ? identity.archetypeId : identity.nodeId;
    const id = { kind: 'node-id', value, isArchetypeId: isArchetype, at } as const;
    more.push({ kind: 'node', id, name: null, at });
  }
  if (demand.name === null && identity.name !== null) {
    const steps = ['name', 'value'].map((attribute) => ({ attribute, predicate: null, at }));
    const path = { kind: 'object-path', steps, at } as const;
    const operand = { kind: 'string', value: identity.name, at } as const;
    more.push({ kind: 'predicate-comparison', path, operator: '=', operand, at });
  }
  return more.length === 0 ? predicate : { ...predicate, alternatives: [[...only, ...more]] };
}

/** Text that is the same for steps that are the same choice, and for no others. */
export function identityKey(identity: StepIdentity): string {
  switch (identity.kind) {
    case 'base':
      return '';
    case 'name':
      return JSON.stringify([identity.name]);
    case 'code':
      return JSON.stringify([identity.nodeId, identity.name]);
    case 'archetype':
      return JSON.stringify([identity.archetypeId, identity.name]);
  }
}

/** Whether a predicate of FROM holds only within one archetype, since it demands an at-code. */
export function demandsNodeCode(predicate: Predicate): boolean {
  return counted(predicate.alternatives).some((group) =>
    counted(group).some((each) => isNodeCode(demandedNodeId(each) ?? '')),
  );
}

/** Whether every alternative of a predicate demands an archetype id or at-code. */
export function demandsNodeId(predicate: Predicate | null): boolean {
  if (predicate === null) return false;
  return counted(predicate.alternatives).every((group) =>
    counted(group).some((each) => demandedNodeId(each) !== null),
  );
}

/** Whether a class of FROM is looked for by another id too, which a template gave or gives it. */
export function isRenamed(predicate: Predicate | null): boolean {
  return counted(predicate?.alternatives.flat() ?? []).some(
    (each) => each.kind === 'node' && each.template !== undefined,
  );
}
