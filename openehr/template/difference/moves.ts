import { groupBy } from '../../base/maps.js';
import type { ObjectMatcher } from '../validate/matcher.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import type { Change, Comparison, FoundChange } from './change.js';

/** A node that stands at another path: the same archetype, or the same node of its archetype. */
interface Move {
  readonly before: ObjectMatcher;
  readonly after: ObjectMatcher;
}

/**
 * The changes of a comparison, in which a node that is removed at one path and added at another is one that moved. What
 * changed within it is compared as well.
 */
export function withMoves(comparison: Comparison): readonly Change[] {
  const found = comparison.found;
  const moves = movesIn(found);
  const gone = new Map(moves.map((move) => [move.before, move]));
  const come = new Set(moves.map(({ after }) => after));
  const within = comparison.apart(() => {
    for (const { before, after } of moves) comparison.objects(before, after);
  });
  const kept = found.flatMap((each) => {
    const move = each.gone && gone.get(each.gone);
    if (move !== undefined) return [moved(move, each.change)];
    return each.come !== undefined && come.has(each.come) ? [] : [each.change];
  });
  const whole = new Set(found.map((each) => each.gone));
  const inner = moves.filter(({ before }) => !whole.has(before)).map((move) => moved(move, null));
  return [...kept, ...inner, ...within.map(({ change }) => change)];
}

/** `removed`: what was found of the node at its former path. */
function moved({ before, after }: Move, removed: Change | null): Change {
  const isHarmless = removed?.verdict === 'minor';
  return {
    path: before.node.aqlPath,
    kind: 'moved',
    what: 'node',
    verdict: isHarmless ? 'minor' : 'breaking',
    from: before.node.aqlPath,
    to: after.node.aqlPath,
    reason: isHarmless ? removed.reason : 'data stand at the former path',
  };
}

/** Of nodes that are gone and have come as one of a kind. What is within a node that moved moved with it. */
function movesIn(found: readonly FoundChange[]): Move[] {
  const [gone, come] = [
    found.flatMap((each) => (each.gone === undefined ? [] : below(each.gone))),
    found.flatMap((each) => (each.come === undefined ? [] : below(each.come))),
  ];
  const [before, after] = [groupBy(gone, keyOf), groupBy(come, keyOf)];
  const moves = new Map<WebTemplateNode, Move>();
  for (const [key, [matcher, ...others]] of before) {
    const [other, ...more] = after.get(key) ?? [];
    if (key === null || matcher === undefined || other === undefined) continue;
    if (others.length > 0 || more.length > 0 || isMovedAlong(matcher, other, moves)) continue;
    moves.set(matcher.node, { before: matcher, after: other });
  }
  return [...moves.values()];
}

/** Whether a node stands where it did within one that moved. */
function isMovedAlong(
  before: ObjectMatcher,
  after: ObjectMatcher,
  moves: ReadonlyMap<WebTemplateNode, Move>,
): boolean {
  let [one, other] = [before.node, after.node];
  for (;;) {
    const move = moves.get(one);
    if (move !== undefined) return move.after.node === other;
    if (one.attribute !== other.attribute || one.archetypeNodeId !== other.archetypeNodeId) return false;
    if (one.parent === null || other.parent === null) return false;
    [one, other] = [one.parent, other.parent];
  }
}

function below(matcher: ObjectMatcher): ObjectMatcher[] {
  const children = [...matcher.attributes.values()].flatMap(({ byNodeId }) => [...byNodeId.values()].flat());
  return [matcher, ...children.flatMap((child) => below(child.matcher))];
}

/** What makes a node the same wherever it stands; null: nothing does. */
function keyOf({ node }: ObjectMatcher): string | null {
  if (node.archetypeNodeId === null) return null;
  if (isRoot(node)) return node.archetypeNodeId;
  let root: WebTemplateNode | null = node.parent;
  while (root !== null && !isRoot(root)) root = root.parent;
  return JSON.stringify([
    root?.archetypeNodeId ?? null,
    node.archetypeNodeId,
    node.rmType,
    node.nameConstraint,
  ]);
}

function isRoot({ constraint }: WebTemplateNode): boolean {
  return constraint?.kind === 'object' && constraint.archetype !== null;
}
