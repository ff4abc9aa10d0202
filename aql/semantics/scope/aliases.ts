import type { AliasStep, PathAlias } from '../../../openehr/template/upgrade/path-alias.js';
import { memoized } from '../../../openehr/base/maps.js';
import { counted, step } from '../../../openehr/base/work.js';
import type {
  IdentifiedPath,
  NodeId,
  PathStep,
  Position,
  Predicate,
  PredicateCondition,
} from '../../syntax/ast.js';
import { renderValue } from '../../syntax/render.js';
import { isArchetypeId } from '../../syntax/words.js';
import { demandedIdentity, demandedNodeId, isPlainPath } from '../node-identity.js';
import type { Alias } from '../scope-types.js';
import { classSet, pathType } from '../typing.js';

/** The same value at another place of a template. */
interface Alternative {
  readonly path: IdentifiedPath;
  readonly templateIds: readonly string[];
  /** Steps of the path as far as the node that was moved. */
  readonly moved: number;
}

/** The places at which a path may have its value beside its own. */
interface Alternatives {
  readonly others: readonly Alternative[];
  /** Steps of the path itself as far as the last node that was moved. */
  readonly moved: number;
}

/** So many are looked for at most: a query is to stay one that can be run. */
const MOST = 8;

/** An alias read in one direction. */
interface Direction {
  readonly templateIds: readonly string[];
  readonly archetypeId: string;
  readonly from: readonly AliasStep[];
  readonly to: readonly AliasStep[];
  /** What places have in common that are the same. */
  readonly fromKey: string;
  readonly toKey: string;
}

/** An alias both ways. */
export const directionsOf = memoized((alias: PathAlias): readonly Direction[] => {
  const { templateIds, archetypeId, from, to } = alias;
  const [fromKey, toKey] = [placeKey(alias, from), placeKey(alias, to)];
  return [
    { templateIds, archetypeId, from, to, fromKey, toKey },
    { templateIds, archetypeId, from: to, to: from, fromKey: toKey, toKey: fromKey },
  ];
});

function placeKey({ templateIds }: PathAlias, steps: readonly AliasStep[]): string {
  return JSON.stringify([
    templateIds[0],
    ...counted(steps).map(({ attribute, nodeId, name }) => [attribute, nodeId, name]),
  ]);
}

/**
 * Where the value of a path of `alias` stands in COMPOSITIONs of other revisions of a template, over as many revisions as there
 * are; null: nowhere else. Nearest first. docs/spec/aql.md#aliases
 */
export function alternativesOf(
  path: IdentifiedPath,
  alias: Alias,
  aliases: readonly PathAlias[],
): Alternatives | null {
  if (alias.kind !== 'object' || !alias.rootTypes.includes('COMPOSITION')) return null;
  const directions = counted(aliases).flatMap(directionsOf);
  const own = renderValue(path);
  const found = new Map<string, Alternative>();
  let moved = 0;
  let next: readonly Reached[] = [{ path, template: null, places: new Set() }];
  const reachedBy = (each: Reached, direction: Direction): Reached[] => {
    const { templateIds, fromKey, toKey } = direction;
    const template = templateIds[0] ?? '';
    if (each.places.has(toKey) || (each.template !== null && each.template !== template)) return [];
    const other = movedPath(each.path, alias, direction);
    if (other === null) return [];
    if (each.path === path) moved = Math.max(moved, other.from);
    const places = new Set([...each.places, fromKey, toKey]);
    return addFound(other, templateIds, own, found) ? [{ path: other.path, template, places }] : [];
  };
  while (next.length > 0)
    next = counted(next).flatMap((each) => counted(directions).flatMap((one) => reachedBy(each, one)));
  return found.size === 0 ? null : { others: [...found.values()], moved };
}

/** A place that was found, in which template, and over which places: never back to one of them. */
interface Reached {
  readonly path: IdentifiedPath;
  readonly template: string | null;
  readonly places: ReadonlySet<string>;
}

function addFound(
  { path, moved }: MovedPath,
  templateIds: readonly string[],
  own: string,
  found: Map<string, Alternative>,
): boolean {
  const text = renderValue(path);
  const known = found.get(text);
  const isKnown = known?.templateIds.includes(templateIds[0] ?? '') === true;
  if (text === own || isKnown || (known === undefined && found.size >= MOST)) return false;
  found.set(text, {
    path,
    moved: Math.max(moved, known?.moved ?? 0),
    templateIds: [...(known?.templateIds ?? []), ...templateIds],
  });
  return true;
}

/** A path after a move. */
interface MovedPath {
  readonly path: IdentifiedPath;
  /** Steps as far as the moved node: of the path that was given, and of this one. */
  readonly from: number;
  readonly moved: number;
}

function movedPath(path: IdentifiedPath, alias: Alias, direction: Direction): MovedPath | null {
  const from = stepsBelow(direction.from, alias, direction.archetypeId);
  const to = stepsBelow(direction.to, alias, direction.archetypeId);
  if (from === null || to === null || path.steps.length < from.length || isSame(from, to)) return null;
  const common = commonSteps(from, to);
  const written = path.steps.slice(0, from.length);
  if (!counted(written).every((each, index) => isAt(each, from[index], index >= common))) return null;
  const carried = carriedConditions(written, from, to);
  if (carried === null) return null;
  const at = written[common]?.at ?? path.at;
  const others = counted(to.slice(common)).map((each, index): PathStep => ({
    attribute: each.attribute,
    predicate: predicateOf(each, index === to.length - common - 1 ? carried : [], at),
    at,
  }));
  const steps = [...written.slice(0, common), ...others, ...path.steps.slice(from.length)];
  if (pathType(classSet(alias.classes), steps) === null) return null;
  return { path: { ...path, steps }, from: from.length, moved: to.length };
}

/** What of a path of a template is below an object of FROM; null: it does not lead through it, or ends there. */
function stepsBelow(
  steps: readonly AliasStep[],
  alias: Alias,
  archetypeId: string,
): readonly AliasStep[] | null {
  const ids = idsOf(alias.predicate);
  if (counted(alias.classes).every((name) => name === 'COMPOSITION'))
    return ids.length === 0 || ids.includes(archetypeId) ? steps : null;
  const index = counted(steps).findLastIndex(
    ({ nodeId }, at) =>
      nodeId !== null &&
      ids.includes(nodeId) &&
      (isArchetypeId(nodeId) || archetypesAbove(alias).includes(archetypeAt(steps, at) ?? archetypeId)),
  );
  return index < 0 || index === steps.length - 1 ? null : steps.slice(index + 1);
}

/** The node ids that a predicate asks for; none where one of its alternatives asks for none. */
export function idsOf(predicate: Predicate | null): readonly string[] {
  const groups = counted(predicate?.alternatives ?? []).map((group) =>
    counted(group)
      .map(demandedNodeId)
      .find((id) => id !== null),
  );
  const ids = groups.filter((id) => id !== undefined);
  return ids.length === groups.length ? ids : [];
}

/** The archetypes in which the code of an object of FROM holds. */
function archetypesAbove({ parent }: Alias): readonly string[] {
  step();
  if (parent === null) return [];
  const ids = idsOf(parent.predicate);
  return counted(ids).some(isArchetypeId) ? ids : archetypesAbove(parent);
}

/** The archetype that the node at a step is of; null: that of the COMPOSITION. */
function archetypeAt(steps: readonly AliasStep[], index: number): string | null {
  const above = counted(steps.slice(0, index)).findLast(
    ({ nodeId }) => nodeId !== null && isArchetypeId(nodeId),
  );
  return above?.nodeId ?? null;
}

function isSame(one: readonly AliasStep[], other: readonly AliasStep[]): boolean {
  return one.length === other.length && counted(one).every((each, index) => isSameStep(each, other[index]));
}

function isSameStep(one: AliasStep, other: AliasStep | undefined): boolean {
  return one.attribute === other?.attribute && one.nodeId === other.nodeId && one.name === other.name;
}

/** How many first steps stay as they are written: not those of the moved node itself. */
function commonSteps(from: readonly AliasStep[], to: readonly AliasStep[]): number {
  const different = counted(from).findIndex((each, index) => !isSameStep(each, to[index]));
  return Math.min(different < 0 ? from.length : different, from.length - 1, to.length - 1);
}

/** Whether a step of a query looks at the node of a template; where that was moved, at nothing narrower than it. */
function isAt({ attribute, predicate }: PathStep, node: AliasStep | undefined, isMoved: boolean): boolean {
  const { nodeId, name } = demandedIdentity(predicate);
  if (node === undefined || attribute !== node.attribute || nodeId !== node.nodeId) return false;
  if (node.name !== null && name !== node.name) return false;
  return !isMoved || predicate === null || predicate.alternatives.length === 1;
}

/**
 * The conditions that go over to the new place of the moved node: all but its identity. Null: what is written narrows nodes on
 * the way, or asks for a name that the node has no more.
 */
function carriedConditions(
  written: readonly PathStep[],
  from: readonly AliasStep[],
  to: readonly AliasStep[],
): readonly PredicateCondition[] | null {
  const last = written.length - 1;
  const isFree = ({ predicate }: PathStep, index: number): boolean => {
    const { name } = demandedIdentity(predicate);
    return furtherConditions(predicate)?.length === 0 && isNameOf(name, from[index]);
  };
  const between = written.slice(commonSteps(from, to), last);
  if (!counted(between).every((each, index) => isFree(each, index + commonSteps(from, to)))) return null;
  const [own, old, now] = [written[last], from[last], to.at(-1)];
  const further = furtherConditions(own?.predicate ?? null);
  if (further === null || own === undefined || old === undefined || now === undefined) return null;
  const { name } = demandedIdentity(own.predicate);
  if (name === null || isNameOf(name, old)) return further;
  return now.nodeId === old.nodeId && now.name === null ? [namedCondition(name, own.at), ...further] : null;
}

/** Whether a node has the name that is asked for; null: none is. */
function isNameOf(name: string | null, node: AliasStep | undefined): boolean {
  return name === null || name === node?.name || node?.names.includes(name) === true;
}

/** What a predicate asks beyond node id and name; null: a name by its code. */
function furtherConditions(predicate: Predicate | null): readonly PredicateCondition[] | null {
  const conditions = counted(predicate?.alternatives.flat() ?? []);
  const isCoded = conditions.some(
    (each) => each.kind === 'node' && each.name !== null && each.name.kind !== 'string',
  );
  return isCoded ? null : conditions.filter((each) => demandedNodeId(each) === null && !isName(each));
}

/** Whether a condition asks for a name. */
export function isName(condition: PredicateCondition): boolean {
  if (condition.kind !== 'predicate-comparison' || condition.operator !== '=') return false;
  return condition.operand.kind === 'string' && isPlainPath(condition, ['name', 'value']);
}

function namedCondition(value: string, at: Position): PredicateCondition {
  const steps = ['name', 'value'].map((attribute) => ({ attribute, predicate: null, at }));
  const path = { kind: 'object-path', steps, at } as const;
  return { kind: 'predicate-comparison', path, operator: '=', operand: { kind: 'string', value, at }, at };
}

function predicateOf(
  { nodeId, name }: AliasStep,
  further: readonly PredicateCondition[],
  at: Position,
): Predicate | null {
  const called = name === null ? null : ({ kind: 'string', value: name, at } as const);
  const own: PredicateCondition[] =
    nodeId === null ? [] : [{ kind: 'node', id: nodeIdOf(nodeId, at), name: called, at }];
  const conditions = [...own, ...further];
  return conditions.length === 0 ? null : { kind: 'predicate', alternatives: [conditions], at };
}

/** A node id at a place of the text. */
export function nodeIdOf(value: string, at: Position): NodeId {
  return { kind: 'node-id', value, isArchetypeId: isArchetypeId(value), at };
}
