import { FIELD, type IndexField } from '../../index/document.js';
import { indexedClass, indexedField } from '../../index/indexed-paths.js';
import type { PathStep, Predicate } from '../../syntax/ast.js';
import type { PathNode, PathUse, StepIdentity, UsedStep } from '../../semantics/scope-types.js';
import {
  and,
  member,
  bind,
  disjunction,
  equal,
  fieldRef,
  filter,
  listOf,
  literal,
  map,
  present,
  variable,
  when,
} from '../../plan/expression.js';
import type { Expression, Field, Reference } from '../../plan/expression.js';
import { ehrOrVersionPredicateHolds } from './virtual-object-predicate.js';
import { attributeOfVirtualObject, isInDocument, wholeVirtualObject } from './virtual-object.js';
import { documentField } from './binding.js';
import type { AliasBinding, NodeBinding } from './binding.js';
import type { Visibility } from '../document/document-scope.js';
import { firstValue, isReadInstead } from './fallback.js';
import { archetypeHolds } from './node-id.js';
import { elementOf, followStub, predicateHolds, rubricOf, someAlong } from './predicate.js';
import type { Environment } from './predicate.js';
import { checkSteps } from '../pipeline/pipeline-check.js';
import type { Step } from '../../plan/steps.js';
import { canBeStub } from '../../semantics/node-classes.js';
import type { ValueRef } from '../value/values.js';
import { counted } from '../../../openehr/base/work.js';

/** What choosing elements needs and collects. */
export interface TreeState {
  readonly bindings: ReadonlyMap<number, AliasBinding>;
  readonly environment: Environment;
  readonly visibility: Visibility;
  /** Uses whose NULL makes WHERE reject the row. */
  readonly required: ReadonlySet<number>;
  /** Aliases whose attributes must be whole, as an EXISTS looks at all of them. */
  readonly searched: ReadonlySet<number>;
  readonly steps: Step[];
  readonly nodes: Map<number, NodeBinding>;
  readonly values: Map<number, ValueRef>;
  /** Where something stands at a path that has a fallback: see `FallbackState`. */
  readonly there: Map<string, Expression>;
  readonly order: string[];
  /** Called whenever a node got its place. */
  readonly whenBound: () => void;
}

/** Emits the choices of one alias, required paths first. docs/spec/aql.md#rows */
export function emitTree(tree: PathNode, state: TreeState): void {
  const binding = state.bindings.get(tree.alias.index);
  if (binding === undefined) throw new TypeError(`alias ${tree.alias.index} was not bound`);
  const segs = documentField(binding, FIELD.segments);
  if (binding.object !== null) {
    state.nodes.set(tree.id, { expression: binding.object, parent: null, guard: true, segs });
    state.whenBound();
    emitChildren(tree, state);
    return;
  }
  const isWhole = tree.ends.length > 0;
  const whole = isWhole
    ? wholeVirtualObject(binding, state.visibility, state.steps)
    : (binding.slot ?? fieldRef('_id'));
  state.nodes.set(tree.id, { expression: whole, parent: null, guard: true, segs });
  state.whenBound();
  for (const child of counted(requiredFirst(tree.children, state))) {
    const inDocument = isInDocument(child) && !state.searched.has(tree.alias.index);
    const wanted = { attribute: child.attribute ?? '', inDocument };
    const value = attributeOfVirtualObject(binding, wanted, state.visibility, state.steps);
    emitChild(child, value, state);
  }
}

function emitChildren(node: PathNode, state: TreeState): void {
  const binding = state.nodes.get(node.id);
  if (binding === undefined) return;
  for (const child of counted(requiredFirst(node.children, state)))
    emitChild(child, nodeAttributeBinding(binding, child, state), state);
}

function nodeAttributeBinding(
  binding: NodeBinding,
  { id, attribute }: PathNode,
  { steps }: TreeState,
): NodeBinding {
  const parent = binding.expression;
  const rubric = rubricOf(parent, attribute ?? '');
  if (rubric === null) return { ...binding, expression: member(parent, attribute ?? ''), parent };
  const field = `n${id}`;
  steps.push({ kind: 'set', field, value: rubric });
  return { ...binding, expression: fieldRef(field), parent: null };
}

function requiredFirst(children: readonly PathNode[], state: TreeState): readonly PathNode[] {
  const isRequired = (node: PathNode): boolean =>
    counted(node.uses).some(({ index }) => state.required.has(index));
  return [
    ...counted(children).filter(isRequired),
    ...counted(children).filter((child) => !isRequired(child)),
  ];
}

/** `raw`: the value or list of values that the node's element is chosen from. */
function emitChild(node: PathNode, raw: NodeBinding, state: TreeState): void {
  const environment = { ...state.environment, segs: raw.segs };
  const binding = node.multiple
    ? chooseFromList(node, raw, environment, state)
    : chooseSingle(node, raw, environment, state);
  state.nodes.set(node.id, binding);
  checkSteps(state.steps);
  state.whenBound();
  emitChildren(node, state);
}

function chooseSingle(
  node: PathNode,
  raw: NodeBinding,
  environment: Environment,
  state: TreeState,
): NodeBinding {
  const { expression } = raw;
  if (!isStub(node)) {
    const fits = identityHolds(node.identity, expression, environment);
    return { ...raw, guard: and(raw.guard, fits) };
  }
  const field = `n${node.id}`;
  const followed = followStub(expression, environment.segs);
  const fits = identityHolds(node.identity, variable('f'), environment);
  const chosen = fits === true ? followed : bind('f', followed, when(fits, variable('f')));
  state.steps.push({ kind: 'set', field, value: when(raw.guard, chosen) });
  return { expression: fieldRef(field), parent: null, guard: true, segs: raw.segs };
}

function chooseFromList(
  node: PathNode,
  raw: NodeBinding,
  environment: Environment,
  state: TreeState,
): NodeBinding {
  const field = `n${node.id}`;
  const isRequired = counted(node.uses).some(({ index }) => state.required.has(index));
  const input = when(raw.guard, listOf(raw.expression), []);
  const wanted = isRequired ? true : isOnAnyPath(node, variable('f'), environment, state);
  const fits = identityHolds(node.identity, variable('f'), environment);
  let value: Expression;
  if (!isStub(node)) value = filter(input, 'f', and(fits, wanted));
  else {
    // Archetype ids stand on the stub: most elements need not be followed.
    const byId = identityHolds(withoutName(node.identity), variable('s'), environment);
    const followed = map(filter(input, 's', byId), 's', followStub(variable('s'), environment.segs));
    const named = node.identity.kind === 'archetype' ? nameHolds(node.identity.name, variable('f')) : fits;
    value = filter(followed, 'f', and(named, wanted));
  }
  state.steps.push({ kind: 'set', field, value });
  state.steps.push({ kind: 'unwind', field, preserve: !isRequired, index: `${field}i` });
  state.order.push(`${field}i`);
  return { expression: fieldRef(field), parent: null, guard: true, segs: raw.segs };
}

function isStub(node: PathNode): boolean {
  if (node.identity.kind === 'code') return node.classes.has('FOLDER');
  return canBeStub(node.classes, null);
}

function withoutName(identity: StepIdentity): StepIdentity {
  return identity.kind === 'archetype' ? { ...identity, name: null } : { kind: 'base' };
}

function identityHolds(identity: StepIdentity, element: Reference, environment: Environment): Expression {
  switch (identity.kind) {
    case 'base':
      return true;
    case 'name':
      return nameHolds(identity.name, element);
    case 'code':
      return and(
        equal(member(element, 'archetype_node_id'), literal(identity.nodeId)),
        nameHolds(identity.name, element),
      );
    case 'archetype': {
      const id = { value: identity.archetypeId, isArchetypeId: true };
      const sameId = archetypeHolds(member(element, 'archetype_node_id'), id, environment.subsumption);
      return and(sameId, nameHolds(identity.name, element));
    }
  }
}

function nameHolds(name: string | null, element: Reference): Expression {
  return name === null ? true : equal(member(element, 'name.value'), literal(name));
}

/** docs/spec/aql.md#rows, rule 4: an element is an alternative when a path goes through it as far as its decisive step. */
function isOnAnyPath(
  node: PathNode,
  element: Reference,
  environment: Environment,
  state: TreeState,
): Expression {
  const conditions = new Map<string, Expression>();
  for (const use of counted(node.uses)) {
    const depth = counted(use.steps).findIndex((step) => step.node === node);
    const own = residualFilter(use, depth, element, environment);
    const start = { object: element, classes: node.classes };
    const rest = counted(use.steps.slice(depth + 1, Math.max(depth, use.decisive) + 1)).map(pathStepOf);
    const below = rest.length === 0 ? true : someAlong(start, rest, environment, (end) => present(end.raw));
    const isRead = use.instead === undefined ? true : isReadInstead(use, depth, state);
    const condition = and(filtersAbove(use, depth, state), isRead, own, below);
    if (node.uses.length === 1 || condition === true) return condition;
    conditions.set(JSON.stringify(condition), condition);
  }
  return disjunction([...conditions.values()]);
}

function pathStepOf({ node, filter }: UsedStep): PathStep {
  return { attribute: node.attribute ?? '', predicate: filter, at: filter?.at ?? node.alias.at };
}

/** A path whose filter fails at a choice further up asks for nothing here. */
function filtersAbove(use: PathUse, depth: number, state: TreeState): Expression {
  return and(
    ...counted(use.steps.slice(0, depth)).map(({ node }, above) => {
      const binding = state.nodes.get(node.id);
      if (binding === undefined) throw new TypeError('a choice was made before the one above it');
      const environment = { ...state.environment, segs: binding.segs };
      const alias = state.bindings.get(use.alias.index);
      if (above === 0 && alias?.object === null)
        return ehrOrVersionPredicateHolds(use.path.predicate, { ...state, binding: alias, environment });
      return residualFilter(use, above, binding.expression, environment);
    }),
  );
}

/** What the predicate of a path at a step says beyond the identity of the choice. */
function residualFilter(
  use: PathUse,
  depth: number,
  element: Reference,
  environment: Environment,
): Expression {
  const step = use.steps[depth];
  if (step === undefined || step.filter === null) return true;
  if (isSameIdentity(step.filter, step.node.identity)) return true;
  const versioned = ['COMPOSITION', 'EHR_STATUS', 'ORIGINAL_VERSION'];
  const isVersioned = counted([...step.node.classes]).every((each) => versioned.includes(each));
  return predicateHolds(step.filter, elementOf(element, step.node.classes, isVersioned), environment);
}

function isSameIdentity(predicate: Predicate, identity: StepIdentity): boolean {
  const [group, another] = predicate.alternatives;
  const [condition, second] = group ?? [];
  if (another !== undefined || second !== undefined || condition?.kind !== 'node') return false;
  if (identity.kind === 'code') return condition.name === null && condition.id.value === identity.nodeId;
  if (identity.kind !== 'archetype' || condition.id.value !== identity.archetypeId) return false;
  if (condition.name === null) return true;
  return condition.name.kind === 'string' && condition.name.value === identity.name;
}

/** The value of a path in the current row; its own filters make it NULL where they fail. */
export function valueOfUse(use: PathUse, state: TreeState): ValueRef {
  const known = state.values.get(use.index);
  if (known !== undefined) return known;
  const own = makeValue(use, state);
  const others = counted(use.fallbacks ?? []).map((each) => valueOfUse(each, state));
  const made = others.length === 0 ? own : firstValue(use, [own, ...others], state.steps);
  state.values.set(use.index, made);
  return made;
}

/** Values that the `aql` document repeats: its segments need not be read for them. */
function repeatedValue(use: PathUse, state: TreeState): ValueRef | null {
  const { alias, path } = use;
  const binding = state.bindings.get(alias.index);
  if (binding === undefined || path.predicate !== null) return null;
  if (counted(path.steps).some(({ predicate }) => predicate !== null)) return null;
  const field = indexedField(indexedClass(alias), path.steps);
  const raw = alias.kind === 'ehr' ? (field === null ? null : binding.slot) : documentValue(field, binding);
  return raw === null ? null : { raw, parent: null, classes: use.type.classes };
}

function documentValue(field: IndexField | null, binding: AliasBinding): Field | null {
  return field === FIELD.versionUid || field === FIELD.contributionUid ? documentField(binding, field) : null;
}

function makeValue(use: PathUse, state: TreeState): ValueRef {
  const repeated = repeatedValue(use, state);
  if (repeated !== null) return repeated;
  const end = use.steps[use.steps.length - 1]?.node;
  const binding = end === undefined ? undefined : state.nodes.get(end.id);
  if (end === undefined || binding === undefined) throw new TypeError('a path was read before its choice');
  const depth = use.steps.length;
  const isRead = use.instead === undefined ? true : isReadInstead(use, depth, state);
  const guard = and(binding.guard, filtersAbove(use, depth, state), isRead);
  const { parent } = binding;
  const classes = use.type.classes;
  if (guard === true) return { raw: binding.expression, parent, classes };
  const field = `p${use.index}`;
  state.steps.push({ kind: 'set', field, value: when(guard, parent ?? binding.expression) });
  return parent === null
    ? { raw: fieldRef(field), parent: null, classes }
    : { raw: member(fieldRef(field), end.attribute ?? ''), parent: fieldRef(field), classes };
}
