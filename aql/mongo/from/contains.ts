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
  archetypeIdsOf,
  bindsSegments,
  neverFound,
  ownObjects,
  regionBelow,
  segmentsBelow,
  segmentsWithNodes,
} from './region.js';
import type { Region } from './region.js';
import { objectsAt } from '../../index/shapes.js';
import type { ShapeCatalogue } from '../../index/shapes.js';
import { innerClasses, isListOfNodes, isRootClass, namesNodeCode } from './types.js';

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
 * The slots that `alias` can be bound to in a region: segments as they are, and inner nodes as
 * `{s: segment number, o: object}`. See docs/spec/aql.md#containment.
 */
export function candidates(alias: Alias, region: Region, binder: Binder): Expression {
  if (neverFound(alias, region, binder.shapes)) return [];
  const parts: Expression[] = [];
  if (bindsSegments(alias)) parts.push(segmentCandidates(alias, region, binder));
  const classes = innerClasses(alias);
  if (classes.length > 0) parts.push(...nodeCandidates(alias, region, classes, binder));
  return concatenate(parts);
}

function segmentCandidates(alias: Alias, region: Region, binder: Binder): Expression {
  const element = {
    ...elementOf(variable('c', 'o'), classSet(alias.classes), isVersioned(alias)),
    nodeId: variable('c', 'k'),
    name: variable('c', 'nm'),
  };
  const holds = predicateHolds(alias.predicate, element, binder.environment);
  const ofClass = isImpliedByArchetype(alias) ? true : isOneOf(variable('c', 't'), alias.classes);
  // A bound root is not below itself.
  const isRoot = region.kind === 'document' && region.at !== null && alias.classes.some(isRootClass);
  const isBelow = isRoot ? call('$gt', [variable('c', 's'), 0]) : true;
  return filter(segmentsBelow(region, binder.shapes), 'c', and(isBelow, ofClass, holds));
}

function nodeCandidates(
  alias: Alias,
  region: Region,
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
  const local = namesNodeCode(alias.predicate) && region.at !== null;
  const own = (): Expression =>
    slots(ownObjects(region, classes, binder.shapes), member(region.at ?? variable('ROOT'), 's'));
  if (local) return [own()];
  const paths = binder.shapes.paths(classes, null);
  if (paths.length === 0) return [];
  const inner = slots(objectsAt(variable('g', 'o'), paths, isListOfNodes), variable('g', 's'));
  const nested = flatten(map(segmentsWithNodes(region, binder.shapes), 'g', inner));
  return region.kind === 'node' || region.kind === 'mixed' ? [own(), nested] : [nested];
}

/** Whether an archetype id of the predicate tells the class already. */
function isImpliedByArchetype(alias: Alias): boolean {
  const ids = archetypeIdsOf(alias);
  return ids?.every((id) => alias.classes.some((each) => id.includes(`-${each}.`))) ?? false;
}

/** Whether an alias is bound to versioned roots, whose `uid` is an OBJECT_VERSION_ID. */
export function isVersioned(alias: Alias): boolean {
  return alias.classes.every((each) => each === 'COMPOSITION' || each === 'EHR_STATUS' || each === 'FOLDER');
}

/**
 * All matches of a part of FROM inside a region, as an array of objects with a slot per alias: AND is the
 * cross product, OR the left-outer one, NOT CONTAINS a filter.
 */
export function tuples(node: FromNode, region: Region, binder: Binder): Expression {
  if (node.kind === 'class') return classTuples(node, region, binder);
  const operands = node.operands.map((operand) => tuples(operand, region, binder));
  if (node.kind === 'and') return product(operands);
  const names = operands.map((_, i) => `o${i}`);
  const lists = names.map((name) => variable(name));
  return call('$let', {
    vars: Object.fromEntries(names.map((name, i) => [name, operands[i] ?? []])),
    in: call('$cond', [conjunction(lists.map(isEmpty)), [], product(lists.map(orNull))]),
  });
}

function classTuples(node: FromClass, region: Region, binder: Binder): Expression {
  const { alias, contains } = node;
  const name = `c${alias.index}`;
  const slot = variable(name);
  const found = candidates(alias, region, binder);
  if (contains === null) return map(found, name, { [slotOf(alias)]: slot });
  const below = regionBelow(alias, region, slot, {
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
  return rest.reduce(
    (left, right) =>
      flatten(map(left, 'l', map(right, 'r', call('$mergeObjects', [variable('l'), variable('r')])))),
    first,
  );
}

/** Whether a part of FROM is nowhere in a region. */
export function absent(node: FromNode, region: Region, binder: Binder): Expression {
  if (node.kind === 'class' && node.contains === null) return isEmpty(candidates(node.alias, region, binder));
  if (node.kind === 'or') return conjunction(node.operands.map((operand) => absent(operand, region, binder)));
  return isEmpty(tuples(node, region, binder));
}
