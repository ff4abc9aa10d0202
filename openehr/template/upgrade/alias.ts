import type { CompiledTemplate } from '../compile.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { nodesAt, rulePath, type RulePath } from './path.js';
import type { AliasStep, PathAlias } from './path-alias.js';
import type { UpgradeRule } from './rules.js';

/** What a rule moves, as it is stored with the template whose data are upgraded (docs/spec/storage.md#aliases). */
export interface StoredAlias {
  /** The upgrade that moves it. */
  readonly upgrade: string;
  /** Archetype of the COMPOSITION. */
  readonly archetype_id: string;
  /** Paths as `aqlPath` of web templates has them. */
  readonly from: string;
  readonly to: string;
  /** What the templates call the node at each step, in all their languages. */
  readonly from_names: readonly (readonly string[])[];
  readonly to_names: readonly (readonly string[])[];
  /** Whether the last nodes have other ids, which mean nothing else in the template: FROM sees both as one. */
  readonly renames: boolean;
}

/** Whether a value that came from elsewhere is what a rule moves. */
export function isStoredAlias(value: unknown): value is StoredAlias {
  if (typeof value !== 'object' || value === null) return false;
  const { upgrade, archetype_id, from, to, from_names, to_names, renames } = value as Partial<StoredAlias>;
  const isNames = (names: unknown): boolean =>
    Array.isArray(names) &&
    names.every((each) => Array.isArray(each) && each.every((name) => typeof name === 'string'));
  return (
    [upgrade, archetype_id, from, to].every((text) => typeof text === 'string') &&
    isNames(from_names) &&
    isNames(to_names) &&
    typeof renames === 'boolean'
  );
}

type Move = Extract<UpgradeRule, { readonly move: string }>;

interface Moved {
  readonly rule: Move;
  readonly from: RulePath;
  readonly to: RulePath;
}

/**
 * The moves of rules as aliases. One whose target another rule moves away is none: nobody could tell what stands there.
 * `upgrade`: id of the job.
 */
export function aliasesOf(
  rules: readonly UpgradeRule[],
  before: CompiledTemplate,
  after: CompiledTemplate,
  upgrade: string,
): readonly StoredAlias[] {
  const moves = rules
    .filter((rule): rule is Move => 'move' in rule)
    .map((rule): Moved => ({ rule, from: rulePath(rule.move), to: rulePath(rule.to) }))
    .filter(({ from, to }) => textOf(from) !== textOf(to));
  const sources = new Set(moves.map(({ from }) => textOf(from)));
  const kept = moves.filter(({ to }) => !sources.has(textOf(to)));
  return kept.map((moved) => ({
    upgrade,
    archetype_id: before.fullTree.archetypeNodeId ?? '',
    from: moved.rule.move,
    to: moved.rule.to,
    from_names: namesAlong(before.fullTree, moved.from),
    to_names: namesAlong(after.fullTree, moved.to),
    renames: isRename(moved, kept, before.fullTree, after.fullTree),
  }));
}

/** A stored alias as queries use it. */
export function pathAlias(stored: StoredAlias, templateIds: readonly string[]): PathAlias {
  const { archetype_id: archetypeId, renames } = stored;
  const steps = (path: string, names: readonly (readonly string[])[]): AliasStep[] =>
    rulePath(path).map((step, index) => ({ ...step, names: names[index] ?? [] }));
  const from = steps(stored.from, stored.from_names);
  return { templateIds, archetypeId, from, to: steps(stored.to, stored.to_names), renames };
}

function textOf(path: RulePath): string {
  return JSON.stringify(path);
}

function namesAlong(root: WebTemplateNode, path: RulePath): string[][] {
  return path.map((_, index) => {
    const nodes = nodesAt(root, path.slice(0, index + 1));
    const names = nodes.flatMap(({ name, nameConstraint, localizedNames }) => [
      name,
      ...(nameConstraint === null ? [] : [nameConstraint]),
      ...Object.values(localizedNames ?? {}),
    ]);
    return [...new Set(names)];
  });
}

/** Whether all nodes with the one id become all nodes with the other, neither of which has another meaning. */
function isRename(
  { from, to }: Moved,
  moves: readonly Moved[],
  before: WebTemplateNode,
  after: WebTemplateNode,
): boolean {
  const [earlier, later] = [identityOf(before, from), identityOf(after, to)];
  if (earlier === null || later === null) return false;
  if (earlier.nodeId === later.nodeId || earlier.archetype !== later.archetype) return false;
  if (placesOf(before, later).length > 0 || placesOf(after, earlier).length > 0) return false;
  const isMoved = (place: string, side: 'from' | 'to'): boolean =>
    moves.some(
      (move) =>
        textOf(move[side]) === place &&
        move.from.at(-1)?.nodeId === earlier.nodeId &&
        move.to.at(-1)?.nodeId === later.nodeId,
    );
  return (
    placesOf(before, earlier).every((place) => isMoved(place, 'from')) &&
    placesOf(after, later).every((place) => isMoved(place, 'to'))
  );
}

/** A node id; a code with the archetype in which it holds. */
interface NodeIdentity {
  readonly nodeId: string;
  /** null: the id is that of an archetype. */
  readonly archetype: string | null;
}

function identityOf(root: WebTemplateNode, path: RulePath): NodeIdentity | null {
  const last = path.at(-1);
  if (last?.nodeId == null || last.name !== null) return null;
  if (isArchetype(last.nodeId)) return { nodeId: last.nodeId, archetype: null };
  const above = path.slice(0, -1).findLast(({ nodeId }) => nodeId !== null && isArchetype(nodeId));
  return { nodeId: last.nodeId, archetype: above?.nodeId ?? root.archetypeNodeId };
}

function isArchetype(nodeId: string): boolean {
  return nodeId.includes('.') && nodeId.includes('-');
}

/** The different places of a template at which a node id stands. */
function placesOf(root: WebTemplateNode, wanted: NodeIdentity): readonly string[] {
  const places = new Set<string>();
  const visit = (node: WebTemplateNode, archetype: string | null): void => {
    const { archetypeNodeId: nodeId } = node;
    const own = nodeId !== null && isArchetype(nodeId) ? nodeId : archetype;
    const isIt = nodeId === wanted.nodeId && (wanted.archetype === null || archetype === wanted.archetype);
    if (isIt && node.aqlPath !== '') places.add(textOf(rulePath(node.aqlPath)));
    for (const child of node.children) visit(child, own);
  };
  visit(root, null);
  return [...places];
}
