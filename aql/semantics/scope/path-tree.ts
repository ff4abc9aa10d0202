import type { IdentifiedPath, PathStep, Predicate } from '../../syntax/ast.js';
import { demandedIdentity, identityKey, stepIdentities, withIdentity } from '../node-identity.js';
import type { DemandedIdentity } from '../node-identity.js';
import type {
  Alias,
  PathNode,
  Existence,
  PathType,
  PathUse,
  StepIdentity,
  UsedStep,
} from '../scope-types.js';
import { classSet, hasLocatable, stepType, typesAlong } from '../typing.js';
import { counted, step } from '../../../openehr/base/work.js';

/** A path that takes part in rows, before its nodes in the tree are known. */
export interface PathDraft {
  readonly alias: Alias;
  readonly path: IdentifiedPath;
  readonly type: PathType;
  /** Steps as far as a node that a template has moved. Absent: it has moved none of it. */
  readonly moved?: number;
  /** Of a fallback: the draft that it stands for, and the template that has it. */
  readonly instead?: { readonly of: number; readonly templateIds: readonly string[] };
}

/** The trees of a query. */
export interface Cohesion {
  /** In the order of the drafts. */
  readonly uses: readonly PathUse[];
  /** By alias index. */
  readonly trees: readonly (PathNode | undefined)[];
}

interface GrowingNode extends PathNode {
  readonly children: GrowingNode[];
  readonly uses: GrowingUse[];
  readonly ends: GrowingUse[];
  isFallback?: true;
}

interface GrowingUse extends PathUse {
  readonly steps: UsedStep[];
  fallbacks?: GrowingUse[];
  instead?: NonNullable<PathUse['instead']>;
  there?: number;
  type: PathType;
}

/**
 * Merges the paths of a query into one tree of choices per alias (docs/spec/aql.md#rows, rules 2 and 3). The drafts
 * must be different paths.
 */
export function buildPathTree(drafts: readonly PathDraft[]): Cohesion {
  const uses = counted(drafts).map(({ alias, path, type }, index): GrowingUse => ({
    index,
    alias,
    path,
    steps: [],
    decisive: decisiveStep(alias, path),
    type,
  }));
  if (counted(drafts).some(({ moved }) => moved !== undefined)) joinFallbacks(drafts, uses);
  const trees: (PathNode | undefined)[] = [];
  const counter = { next: 0 };
  for (const alias of counted(new Set(uses.map((use) => use.alias)))) {
    const classes = classSet(alias.classes);
    const root = newPathNode(counter, { alias, parent: null, attribute: null, classes, multiple: false });
    grow(
      root,
      counted(uses).filter((use) => use.alias === alias),
      0,
      counter,
    );
    trees[alias.index] = root;
  }
  return { uses, trees };
}

/** Tells the uses what is read instead of them, and when. */
function joinFallbacks(drafts: readonly PathDraft[], uses: readonly GrowingUse[]): void {
  for (const [index, { moved, instead }] of counted(drafts).entries()) {
    const use = uses[index];
    if (use === undefined || moved === undefined) continue;
    use.there = Math.max(use.decisive, moved);
    const first = instead === undefined ? undefined : uses[instead.of];
    if (instead === undefined || first === undefined) continue;
    const before = first.fallbacks ?? [];
    use.instead = { templateIds: instead.templateIds, before: [first, ...before] };
    first.fallbacks = [...before, use];
    first.type = {
      ...first.type,
      classes: new Set([...first.type.classes, ...use.type.classes]),
      domains: new Set([...first.type.domains, ...use.type.domains]),
    };
  }
}

function decisiveStep({ classes }: Alias, { steps }: IdentifiedPath): number {
  const along = typesAlong(classSet(classes), steps);
  return Math.max(
    0,
    counted(along).findLastIndex((step) => hasLocatable(step.classes)),
  );
}

function newPathNode(
  counter: { next: number },
  position: Pick<PathNode, 'alias' | 'parent' | 'attribute' | 'classes' | 'multiple'>,
  identity: StepIdentity = { kind: 'base' },
): GrowingNode {
  const { alias, parent, attribute, classes, multiple } = position;
  const id = counter.next++;
  return { id, alias, parent, attribute, identity, multiple, classes, children: [], uses: [], ends: [] };
}

function grow(
  node: GrowingNode,
  uses: readonly GrowingUse[],
  depth: number,
  counter: { next: number },
): void {
  for (const use of counted(uses)) {
    node.uses.push(use);
    use.steps.push({ node, filter: withIdentity(filterAt(use.path, depth), node.identity) });
    if (use.path.steps.length === depth) node.ends.push(use);
  }
  const further = counted(uses).filter((use) => use.path.steps.length > depth);
  const attributeOf = (use: GrowingUse): string => use.path.steps[depth]?.attribute ?? '';
  for (const attribute of counted(new Set(further.map(attributeOf)))) {
    const over = counted(further).filter((use) => attributeOf(use) === attribute);
    const { classes, multiple } = stepType(node.classes, attribute);
    const position = { alias: node.alias, parent: node, attribute, classes, multiple };
    for (const { identity, members } of counted(groups(over, depth, multiple))) {
      const child = newPathNode(counter, position, identity);
      if (counted(members).every((use) => use.instead !== undefined)) child.isFallback = true;
      node.children.push(child);
      grow(child, members, depth + 1, counter);
    }
  }
}

function groups(
  uses: readonly GrowingUse[],
  depth: number,
  isMultiple: boolean,
): { identity: StepIdentity; members: GrowingUse[] }[] {
  const predicates = counted(uses).map((use) => filterAt(use.path, depth + 1));
  const isWritten = counted(uses).every(({ instead }) => instead === undefined);
  const identities = isWritten
    ? stepIdentities(predicates, isMultiple)
    : identitiesOf(predicates, isMultiple, uses);
  const found = new Map<string, { identity: StepIdentity; members: GrowingUse[] }>();
  counted(uses).forEach((use, index) => {
    const identity = identities[index] ?? { kind: 'base' };
    const key = identityKey(identity);
    const group = found.get(key);
    if (group === undefined) found.set(key, { identity, members: [use] });
    else group.members.push(use);
  });
  return [...found.values()];
}

/** Fallbacks change nothing of what the paths of the query choose: they take a choice of theirs, or one of their own. */
function identitiesOf(
  predicates: readonly (Predicate | null)[],
  isMultiple: boolean,
  uses: readonly GrowingUse[],
): readonly StepIdentity[] {
  const isWritten = counted(uses).map((use) => use.instead === undefined);
  if (!isWritten.includes(true)) return stepIdentities(predicates, isMultiple);
  const written = counted(predicates).filter((_, index) => isWritten[index] === true);
  const chosen = stepIdentities(written, isMultiple);
  let next = 0;
  return counted(predicates).map((predicate, index): StepIdentity => {
    if (isWritten[index] === true) return chosen[next++] ?? BASE;
    const own = stepIdentities([predicate], isMultiple)[0] ?? BASE;
    const same = chosen[written.indexOf(predicate)];
    return same ?? counted(chosen).find((each) => isChosenBy(own, each)) ?? own;
  });
}

const BASE: StepIdentity = { kind: 'base' };

function isChosenBy(own: StepIdentity, chosen: StepIdentity): boolean {
  if (chosen.kind === 'base') return true;
  if (own.kind === 'code' && chosen.kind === 'code')
    return own.nodeId === chosen.nodeId && (chosen.name === null || chosen.name === own.name);
  return identityKey(own) === identityKey(chosen);
}

/** The predicate of a path at a depth: 0 is the variable itself. */
function filterAt(path: IdentifiedPath, depth: number): Predicate | null {
  return depth === 0 ? path.predicate : (path.steps[depth - 1]?.predicate ?? null);
}

/**
 * How an EXISTS operand is found in the tree of its alias: along the choices it shares with the paths of the
 * rows, then freely (docs/spec/aql.md#exists).
 */
export function existenceIn(
  tree: PathNode | undefined,
  alias: Alias,
  path: IdentifiedPath,
): Extract<Existence, { kind: 'search' }> {
  const shared: { node: PathNode | null; filter: Predicate | null }[] = [
    { node: tree ?? null, filter: path.predicate },
  ];
  let node = tree;
  let depth = 0;
  while (node !== undefined) {
    step();
    const next = path.steps[depth];
    node = next === undefined ? undefined : sharedChild(node, next);
    if (node === undefined) break;
    depth++;
    shared.push({ node, filter: next?.predicate ?? null });
  }
  return { kind: 'search', alias, path, shared, rest: path.steps.slice(depth) };
}

function sharedChild(node: PathNode, { attribute, predicate }: PathStep): PathNode | undefined {
  const demand = demandedIdentity(predicate);
  const children = counted(node.children).filter(
    (child) => child.attribute === attribute && child.isFallback !== true,
  );
  const [only, another] = children;
  const isOne = only !== undefined && another === undefined && isNameAndCode(only.identity, demand);
  return isOne ? only : counted(children).find(({ identity }) => isDemanded(identity, demand));
}

function isDemanded(identity: StepIdentity, demand: DemandedIdentity): boolean {
  switch (identity.kind) {
    case 'base':
      return true;
    case 'name':
      return demand.nodeId === null && demand.name === identity.name;
    case 'code':
      return demand.nodeId === identity.nodeId;
    case 'archetype':
      return (
        demand.nodeId === identity.archetypeId && (identity.name === null || demand.name === identity.name)
      );
  }
}

/** Whether a choice by a code alone is asked for by a name alone, or the other way round. */
function isNameAndCode(identity: StepIdentity, { nodeId, name }: DemandedIdentity): boolean {
  if (identity.kind === 'base') return false;
  if (identity.kind === 'name') return nodeId !== null && name === null;
  return nodeId === null && name !== null && (identity.name === null || identity.name === name);
}
