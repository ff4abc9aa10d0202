import { SEGMENT_FIELD } from '../../index/document.js';
import type { Alias, FromClass, FromNode } from '../../semantics/scope-types.js';
import { classSet } from '../../semantics/typing.js';
import {
  and,
  member,
  call,
  concatenate,
  conjunction,
  filter,
  flatten,
  isEmpty,
  isOneOf,
  map,
  orNull,
  variable,
} from '../../plan/expression.js';
import type { Expression, Reference } from '../../plan/expression.js';
import { elementOf, predicateHolds } from '../path/predicate.js';
import type { Environment } from '../path/predicate.js';
import {
  bindsSegments,
  neverFound,
  ownObjects,
  subtreeBelow,
  segmentsBelow,
  segmentsWithNodes,
} from './subtree.js';
import type { Subtree } from './subtree.js';
import type { ShapeCatalogue } from '../../index/shapes.js';
import { innerClasses, isListOfNodes, isRootClass, namesNodeCode } from '../../semantics/node-classes.js';
import { archetypeIdsOf } from '../../semantics/node-classes.js';
import { objectsAt } from './objects-at.js';
import { counted, step } from '../../../openehr/base/work.js';

/** What binding inside a document needs. */
export interface Binder {
  readonly shapes: ShapeCatalogue;
  readonly environment: Environment;
}

/** Field that holds the slot of an alias. */
export function slotOf(alias: Alias): string {
  return `x${alias.index}`;
}

/**
 * The slots that `alias` can be bound to in a subtree: segments as they are, and inner nodes as
 * `{s: segment number, o: object}`. See docs/spec/aql.md#containment.
 */
export function candidates(alias: Alias, subtree: Subtree, binder: Binder): Expression {
  if (neverFound(alias, subtree, binder.shapes)) return [];
  const parts: Expression[] = [];
  if (bindsSegments(alias)) parts.push(segmentCandidates(alias, subtree, binder));
  const classes = innerClasses(alias);
  if (classes.length > 0) parts.push(...nodeCandidates(alias, subtree, classes, binder));
  return concatenate(parts);
}

function segmentCandidates(alias: Alias, subtree: Subtree, binder: Binder): Expression {
  const element = {
    ...elementOf(variable('c', SEGMENT_FIELD.object), classSet(alias.classes), isVersioned(alias)),
    nodeId: variable('c', SEGMENT_FIELD.nodeId),
    name: variable('c', SEGMENT_FIELD.name),
  };
  const holds = predicateHolds(alias.predicate, element, binder.environment);
  const ofClass = isImpliedByArchetype(alias)
    ? true
    : isOneOf(variable('c', SEGMENT_FIELD.type), alias.classes);
  // A bound root is not below itself.
  const isRoot =
    subtree.kind === 'document' && subtree.at !== null && counted(alias.classes).some(isRootClass);
  const isBelow = isRoot ? call('$gt', [variable('c', SEGMENT_FIELD.number), 0]) : true;
  return filter(segmentsBelow(subtree, binder.shapes), 'c', and(isBelow, ofClass, holds));
}

function nodeCandidates(
  alias: Alias,
  subtree: Subtree,
  classes: readonly string[],
  binder: Binder,
): Expression[] {
  const ofClass = isOneOf(variable('n', '_type'), classes);
  const fits = and(
    ofClass,
    predicateHolds(alias.predicate, elementOf(variable('n'), new Set(classes)), binder.environment),
  );
  const slots = (objects: Expression, segment: Reference): Expression =>
    map(filter(objects, 'n', fits), 'n', { s: segment, o: variable('n') });
  // At-codes are local to the archetype: only the slot's own segment is searched.
  const local = namesNodeCode(alias.predicate) && subtree.at !== null;
  const own = (): Expression =>
    slots(
      ownObjects(subtree, classes, binder.shapes),
      member(subtree.at ?? variable('ROOT'), SEGMENT_FIELD.number),
    );
  if (local) return [own()];
  const paths = binder.shapes.paths(classes, null);
  if (paths.length === 0) return [];
  const inner = slots(
    objectsAt(variable('g', SEGMENT_FIELD.object), paths, isListOfNodes),
    variable('g', SEGMENT_FIELD.number),
  );
  const nested = flatten(map(segmentsWithNodes(subtree, binder.shapes), 'g', inner));
  return subtree.kind === 'node' || subtree.kind === 'mixed' ? [own(), nested] : [nested];
}

/** Whether an archetype id of the predicate determines the class already. */
function isImpliedByArchetype(alias: Alias): boolean {
  const ids = archetypeIdsOf(alias);
  return (
    counted(ids)?.every((id) => counted(alias.classes).some((each) => id.includes(`-${each}.`))) ?? false
  );
}

/** Whether an alias is bound to versioned roots, whose `uid` is an OBJECT_VERSION_ID. */
export function isVersioned(alias: Alias): boolean {
  return counted(alias.classes).every(
    (each) => each === 'COMPOSITION' || each === 'EHR_STATUS' || each === 'FOLDER',
  );
}

/**
 * All matches of a part of FROM inside a subtree, as an array of objects with a slot per alias: AND is the
 * cross product, OR the left-outer one, NOT CONTAINS a filter.
 */
export function tuples(node: FromNode, subtree: Subtree, binder: Binder): Expression {
  if (node.kind === 'class') return classTuples(node, subtree, binder);
  const operands = counted(node.operands).map((operand) => tuples(operand, subtree, binder));
  if (node.kind === 'and') return product(operands);
  const names = counted(operands).map((_, i) => `o${i}`);
  const lists = counted(names).map((name) => variable(name));
  return call('$let', {
    vars: Object.fromEntries(counted(names).map((name, i) => [name, operands[i] ?? []])),
    in: call('$cond', [conjunction(counted(lists).map(isEmpty)), [], product(counted(lists).map(orNull))]),
  });
}

function classTuples(node: FromClass, subtree: Subtree, binder: Binder): Expression {
  const { alias, contains } = node;
  const name = `c${alias.index}`;
  const slot = variable(name);
  const found = candidates(alias, subtree, binder);
  if (contains === null) return map(found, name, { [slotOf(alias)]: slot });
  const below = subtreeBelow(alias, subtree, slot, {
    shapes: binder.shapes,
    subsumption: binder.environment.subsumption,
  });
  const inner = tuples(contains.child, below, binder);
  if (contains.negated) return map(filter(found, name, isEmpty(inner)), name, { [slotOf(alias)]: slot });
  const merged = call('$mergeObjects', [{ [slotOf(alias)]: slot }, variable('t')]);
  return flatten(map(found, name, map(inner, 't', merged)));
}

/** Every combination of one member of each list, as merged objects. */
function product(lists: readonly Expression[]): Expression {
  const [first, ...rest] = lists;
  if (first === undefined) return [{}];
  return counted(rest).reduce(
    (left, right) =>
      flatten(map(left, 'l', map(right, 'r', call('$mergeObjects', [variable('l'), variable('r')])))),
    first,
  );
}

/** Whether `tuples` finds all of a part of FROM: roots are where they are, and what a FOLDER contains is in other documents. */
export function isFoldable(node: FromNode, { kind, at }: Pick<Subtree, 'kind' | 'at'>): boolean {
  step();
  if (node.kind !== 'class') return counted(node.operands).every((each) => isFoldable(each, { kind, at }));
  const { alias, contains } = node;
  const isRoot = kind === 'document' && at === null && isVersioned(alias);
  return !isRoot && alias.kind === 'object' && !alias.classes.includes('FOLDER') && isFoldableBelow(contains);
}

function isFoldableBelow(contains: FromClass['contains']): boolean {
  return contains === null || isFoldable(contains.child, { kind: 'segment', at: null });
}

/** Whether a part of FROM is nowhere in a subtree. */
export function absent(node: FromNode, subtree: Subtree, binder: Binder): Expression {
  if (node.kind === 'class' && node.contains === null)
    return isEmpty(candidates(node.alias, subtree, binder));
  if (node.kind === 'or')
    return conjunction(counted(node.operands).map((operand) => absent(operand, subtree, binder)));
  return isEmpty(tuples(node, subtree, binder));
}
