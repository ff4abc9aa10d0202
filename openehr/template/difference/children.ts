import { groupBy } from '../../base/maps.js';
import { attributesOf } from '../../rm/model/classes.js';
import type { Multiplicity } from '../opt/constraint.js';
import { multiplicityText } from '../opt/constraint-text.js';
import type { AttributeMatcher, ChildMatcher, Counted, SlotMatcher } from '../validate/matcher.js';
import { compareAlternatives, isTakenBy, undecided } from './alternatives.js';
import { foreignClass, haveCommonClass, isUnconstrained, wholeNode } from './classes.js';
import { changeOf, type Change, type Comparison } from './change.js';
import { compareNames, isEveryNameOf, isSomeNameOf, pairedTwins } from './names.js';
import { besideRest, compareSlots, restSlot, type CountedPair } from './slots.js';

/** One attribute as both templates have it. */
export interface AttributePair {
  /** Class of the object that has it. */
  readonly rmType: string;
  readonly path: string;
  readonly from: AttributeMatcher;
  readonly to: AttributeMatcher;
}

/** Compares the children of an attribute that names what may stand there in both templates, and how many there may be. */
export function compareChildren(pair: AttributePair, comparison: Comparison): void {
  const { from, to } = pair;
  const counted: CountedPair[] = [];
  const come: ChildMatcher[] = [];
  for (const nodeId of new Set([...from.byNodeId.keys(), ...to.byNodeId.keys()])) {
    const after = to.byNodeId.get(nodeId) ?? [];
    const twins = pairedTwins(from.byNodeId.get(nodeId) ?? [], after);
    for (const [one, other] of twins.pairs) compareChild([one, other], after, comparison);
    counted.push(...twins.pairs);
    for (const child of twins.gone) {
      const taker = removeChild(child, to, comparison);
      if (taker !== null) counted.push([child, taker]);
    }
    come.push(...twins.come);
  }
  counted.push(...compareAlternatives(from, to, comparison), ...compareSlots(from, to, comparison));
  for (const child of come) addChild(child, pair, { counted, comparison });
  compareCounts(pair, counted, comparison);
}

function compareChild(
  [before, after]: readonly [ChildMatcher, ChildMatcher],
  twins: readonly ChildMatcher[],
  comparison: Comparison,
): void {
  compareNames([before, after], twins, comparison);
  const found = comparison.apart(() => {
    comparison.below(before.max === 0, () => {
      comparison.objects(before.matcher, after.matcher);
    });
  });
  // Siblings that count together are alternatives.
  const isAlone = twins.every((twin) => twin === after || twin.index !== after.index);
  comparison.addAll(isAlone ? found : found.map(undecided));
}

/** Gives what takes the objects that the node described. */
function removeChild(child: ChildMatcher, to: AttributeMatcher, comparison: Comparison): Counted | null {
  const twins = to.byNodeId.get(child.nodeId) ?? [];
  const named = twins.filter((twin) => isEveryNameOf(child, twin, twins));
  const twin = named.find((other) => isTakenBy(child, other, comparison));
  const taker = twin ?? to.slots.find((slot) => twins.length === 0 && isTakenBySlot(child, slot)) ?? null;
  const isOther =
    twins.some((other) => isSomeNameOf(child, other)) ||
    to.values.some(({ matcher }) => haveCommonClass(child.matcher.rmType, matcher.rmType));
  const verdict = taker !== null ? 'minor' : isOther ? 'unproven' : 'breaking';
  const reason = { minor: TAKEN, unproven: OTHER_NODE, breaking: 'nothing takes what stood there' }[verdict];
  comparison.below(child.max === 0, () => {
    comparison.add(wholeNode(child.matcher.node, { kind: 'removed', verdict, reason }), {
      gone: child.matcher,
    });
  });
  return taker;
}

const TAKEN = 'another node or a slot takes what stood there';
const OTHER_NODE = 'whether another node takes it is not decided';

function isTakenBySlot({ nodeId, matcher }: ChildMatcher, slot: SlotMatcher): boolean {
  if (slot.names !== null || foreignClass(matcher.rmType, slot.rmType) !== undefined) return false;
  return slot.allows(nodeId);
}

interface Found {
  readonly counted: readonly CountedPair[];
  readonly comparison: Comparison;
}

function addChild(child: ChildMatcher, { from, to }: AttributePair, { counted, comparison }: Found): void {
  const { node } = child.matcher;
  const added = (verdict: 'minor' | 'unproven' | 'breaking', reason: string): Change =>
    wholeNode(node, { kind: 'added', verdict, reason });
  const filled = from.slots.find((slot) => slot.max !== 0 && slot.allows(child.nodeId));
  const isOther = from.values.some(({ matcher }) => haveCommonClass(child.matcher.rmType, matcher.rmType));
  const isCounted = to.counted.length === 0 || counted.some(([, after]) => after.index === child.index);
  let change: Change;
  if (!isCounted && child.min > 0) change = { ...added('breaking', 'it must be there'), example: 0 };
  else if (filled !== undefined && (child.names !== null || !isUnconstrained(child.matcher)))
    change = added('breaking', 'it is asked for more than the slot did where it stood');
  else if (filled !== undefined || isOther) change = added('unproven', OTHER_NODE);
  else change = added('minor', 'nothing could stand there before, and need not now');
  comparison.add(change, { come: child.matcher });
}

/** How often each node of a container may stand there: what several nodes counted may be counted by one. */
function compareCounts(pair: AttributePair, counted: readonly CountedPair[], comparison: Comparison): void {
  if (pair.to.counted.length === 0) return;
  const withRest = restSlot(pair.from, pair.to) === null ? [] : pair.to.slots.map(({ index }) => index);
  const groups = groupBy(counted, ([, { index }]) => index);
  for (const links of groups.values()) {
    const [link] = links;
    if (link === undefined) continue;
    const sources = [...new Map(links.map(([before]) => [before.index, before])).values()];
    const change = countChange(pair, sources, link);
    comparison.add(withRest.includes(link[1].index) ? besideRest(change) : change);
  }
}

function countChange(
  pair: AttributePair,
  sources: readonly Counted[],
  [one, after]: CountedPair,
): Change | null {
  const possible = sumOf(sources.map((source) => possibleCount(source, pair)));
  const declared = sumOf(sources);
  return changeOf({
    path: pathOf(one, pair),
    what: 'occurrences',
    from: multiplicityText(declared.min, declared.max),
    to: multiplicityText(after.min, after.max),
    isWithin: isCountWithin(possible, after),
    isNotMore: isCountWithin(after, declared),
    example: countOutside(possible, after),
  });
}

function sumOf(counts: readonly Multiplicity[]): Multiplicity {
  const isUnbounded = counts.some(({ max }) => max === -1);
  return {
    min: counts.reduce((sum, { min }) => sum + min, 0),
    max: isUnbounded ? -1 : counts.reduce((sum, { max }) => sum + max, 0),
  };
}

/** Whether every number that is possible by one is possible by the other. */
export function isCountWithin(inner: Multiplicity, outer: Multiplicity): boolean {
  if (inner.min < outer.min) return false;
  return outer.max === -1 || (inner.max !== -1 && inner.max <= outer.max);
}

/** A number that is possible by one and not by the other, where there is one. */
export function countOutside(inner: Multiplicity, outer: Multiplicity): number {
  if (inner.min < outer.min) return inner.min;
  return inner.max === -1 ? outer.max + 1 : inner.max;
}

/** How often a node may stand in the container, whose size as a whole is limited as well. */
function possibleCount(source: Counted, { from, rmType }: AttributePair): Multiplicity {
  const others = sumOf(from.counted.filter(({ index }) => index !== source.index));
  const { min, max } = sizeOf(from, rmType);
  const room = max === -1 ? -1 : max - others.min;
  return {
    min: others.max === -1 ? source.min : Math.max(source.min, min - others.max),
    max: room === -1 ? source.max : source.max === -1 ? room : Math.min(source.max, room),
  };
}

/** The numbers of objects that the nodes of a container may add up to, within its size. */
export function possibleSize(attribute: AttributeMatcher, rmType: string): Multiplicity {
  const size = sizeOf(attribute, rmType);
  if (attribute.isOpen) return size;
  const { min, max } = sumOf(attribute.counted);
  return {
    min: Math.max(size.min, min),
    max: max === -1 ? size.max : size.max === -1 ? max : Math.min(size.max, max),
  };
}

/** The size of a container as template and reference model have it. */
export function sizeOf({ name, cardinality }: AttributeMatcher, rmType: string): Multiplicity {
  const least = attributesOf(rmType).get(name)?.required === true ? 1 : 0;
  return { min: Math.max(least, cardinality?.min ?? 0), max: cardinality?.max ?? -1 };
}

function pathOf(counted: Counted, { from, path }: AttributePair): string {
  const children = [...[...from.byNodeId.values()].flat(), ...from.values];
  const node =
    children.find(({ index }) => index === counted.index)?.matcher.node ??
    from.slots.find(({ index }) => index === counted.index)?.node;
  return node?.aqlPath ?? path;
}
