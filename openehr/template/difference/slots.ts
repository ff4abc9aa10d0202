import type { JsonObject } from '../../base/json.js';
import { textMatching } from '../example/pattern-example.js';
import { concreteClass } from '../example/sample.js';
import type { SlotConstraint } from '../opt/constraint.js';
import { multiplicityText } from '../opt/constraint-text.js';
import { isAnything } from '../opt/slot.js';
import { withoutSlashes } from '../opt/whole-text-pattern.js';
import type { AttributeMatcher, Counted, SlotMatcher } from '../validate/matcher.js';
import { foreignClass, wholeNode } from './classes.js';
import { changeOf, isProven, judgedAgain, type Change, type Comparison } from './change.js';

/** What is counted in the earlier template, and where the same objects are counted in the later one. */
export type CountedPair = readonly [before: Counted, after: Counted];

/** Compares the slots of an attribute, in their order. */
export function compareSlots(
  from: AttributeMatcher,
  to: AttributeMatcher,
  comparison: Comparison,
): CountedPair[] {
  const { pairs, gone, come } = pairedSlots(from, to);
  const hasRest = restSlot(from, to) !== null;
  for (const change of pairs.flatMap(slotChanges)) comparison.add(hasRest ? besideRest(change) : change);
  const taken = gone.flatMap((slot): CountedPair[] => {
    const taker = removeSlot(slot, to, comparison);
    return taker === null ? [] : [[slot, taker]];
  });
  for (const slot of come) addSlot(slot, comparison);
  const takesMore =
    pairs.length > 1 && pairs.some(([one, other]) => !isSlotWithin(other.constraint, one.constraint));
  if (!hasRest && pairs.length > 0 && (come.length > 0 || takesMore))
    undecidedRoom([...pairs.map(([, after]) => after), ...come], comparison);
  return [...pairs, ...taken];
}

/** The slots of both templates that stand for each other: of one node id, else the next that is left. */
function pairedSlots(from: AttributeMatcher, to: AttributeMatcher) {
  const come = [...to.slots];
  const pairs: (readonly [SlotMatcher, SlotMatcher])[] = [];
  const gone: SlotMatcher[] = [];
  for (const before of from.slots) {
    const same = come.findIndex(({ nodeId }) => nodeId === before.nodeId);
    const [after] = come.splice(same < 0 ? 0 : same, 1);
    if (after !== undefined) pairs.push([before, after]);
    else gone.push(before);
  }
  return { pairs, gone, come };
}

/** A slot of the later template that takes whatever any slot took or takes, and has room for it; null where there is none. */
export function restSlot(from: AttributeMatcher, to: AttributeMatcher): SlotMatcher | null {
  if (to.slots.some(({ min }) => min > 0)) return null;
  const all = [...from.slots, ...to.slots];
  const takesAll = ({ max, names, constraint }: SlotMatcher): boolean =>
    max === -1 && names === null && all.every((slot) => isSlotWithin(slot.constraint, constraint));
  return to.slots.find(takesAll) ?? null;
}

/** What a slot does not take any more, or has no room for, stands in the one that takes the rest. */
export function besideRest(change: Change | null): Change | null {
  return change === null || isProven(change.verdict) ? change : judgedAgain(change, 'minor', REST_TAKEN);
}

const REST_TAKEN = 'another slot takes the rest';

/** An object goes into the first slot that takes it and has room: where that changes it may be counted elsewhere. */
function undecidedRoom(slots: readonly SlotMatcher[], comparison: Comparison): void {
  for (const { node, min, max } of slots)
    if (max !== -1 || min > 0)
      comparison.add({
        path: node.aqlPath,
        kind: 'changed',
        what: 'occurrences',
        verdict: 'unproven',
        from: null,
        to: multiplicityText(min, max),
        reason: 'which of several slots takes an object has changed: whether they have room is not decided',
      });
}

const SLOT_ADDED = { kind: 'added', what: 'slot' } as const;

function addSlot(slot: SlotMatcher, comparison: Comparison): void {
  const isRequired = slot.min > 0;
  comparison.add(
    wholeNode(slot.node, {
      ...SLOT_ADDED,
      verdict: isRequired ? 'breaking' : 'minor',
      reason: isRequired ? 'it must be filled' : 'it need not be filled',
    }),
  );
}

/** Gives the slot that takes what it took. */
function removeSlot(slot: SlotMatcher, to: AttributeMatcher, comparison: Comparison): SlotMatcher | null {
  const taker = to.slots.find(
    (other) => isSlotWithin(slot.constraint, other.constraint) && areNamesWithin(slot.names, other.names),
  );
  const fillers = fillersOf(slot.constraint).filter((id) => slot.allows(id) && !to.byNodeId.has(id));
  const lost = fillers.find((id) => !to.slots.some((other) => other.allows(id)));
  const said =
    taker !== undefined
      ? ({ verdict: 'minor', reason: 'another slot takes what could stand in it' } as const)
      : lost === undefined
        ? ({ verdict: 'unproven', reason: 'what could stand in it is not known' } as const)
        : ({ verdict: 'breaking', reason: `${lost} could stand in it` } as const);
  comparison.below(slot.max === 0, () => {
    comparison.add(wholeNode(slot.node, { kind: 'removed', what: 'slot', ...said }));
  });
  return taker ?? null;
}

function areNamesWithin(inner: ReadonlySet<string> | null, outer: ReadonlySet<string> | null): boolean {
  return outer === null || (inner !== null && [...inner].every((name) => outer.has(name)));
}

function slotChanges([before, after]: readonly [SlotMatcher, SlotMatcher]): (Change | null)[] {
  const path = before.node.aqlPath;
  const lost = fillersOf(before.constraint, after.constraint).find(
    (id) => before.allows(id) && !after.allows(id),
  );
  const [from, to] = [before.names, after.names].map((names) => (names === null ? null : [...names]));
  return [
    changeOf({
      path,
      what: 'slot',
      from: shownSlot(before.constraint),
      to: shownSlot(after.constraint),
      isWithin: isSlotWithin(before.constraint, after.constraint),
      isNotMore: isSlotWithin(after.constraint, before.constraint),
      example: lost === undefined ? undefined : { archetype_node_id: lost },
    }),
    changeOf({
      path,
      what: 'name',
      from: from ?? null,
      to: to ?? null,
      isWithin: areNamesWithin(before.names, after.names),
      isNotMore: areNamesWithin(after.names, before.names),
      example: undefined,
    }),
  ];
}

function shownSlot({ rmType, includes, excludes }: SlotConstraint): JsonObject {
  const shown = (assertions: SlotConstraint['includes']): string[] =>
    assertions.map(({ archetypeIdPattern, expression }) => archetypeIdPattern ?? expression);
  return { rm_type: rmType, includes: shown(includes), excludes: shown(excludes) };
}

/** The assertions of a slot as `slotCheck` reads them. */
function rulesOf({ includes, excludes }: SlotConstraint) {
  const patterns = (assertions: SlotConstraint['includes']): string[] =>
    assertions.flatMap(({ archetypeIdPattern }) =>
      archetypeIdPattern === null ? [] : [withoutSlashes(archetypeIdPattern)],
    );
  const isClosed = excludes.some(isAnything);
  return {
    isClosed,
    includes: patterns(includes),
    excludes: isClosed ? [] : patterns(excludes),
    includesAll: includes.some(isAnything) || (!isClosed && patterns(includes).length === 0),
  };
}

/** Whether it is proven that the outer slot takes whatever the inner one takes. */
function isSlotWithin(inner: SlotConstraint, outer: SlotConstraint): boolean {
  if (foreignClass(inner.rmType, outer.rmType) !== undefined) return false;
  const [one, other] = [rulesOf(inner), rulesOf(outer)];
  const isIncluded =
    other.includesAll ||
    (!one.includesAll && one.includes.every((pattern) => other.includes.includes(pattern)));
  return isIncluded && other.excludes.every((pattern) => one.excludes.includes(pattern));
}

/** Archetype ids that slots may take or refuse. */
function fillersOf(...slots: readonly SlotConstraint[]): string[] {
  const patterns = slots.flatMap(({ includes, excludes }) =>
    [...includes, ...excludes].flatMap(({ archetypeIdPattern }) => archetypeIdPattern ?? []),
  );
  const ids = patterns.map((pattern) => textMatching(pattern)).filter((id) => id !== null);
  const others = slots.flatMap(({ rmType }) =>
    ['example.v1', 'other_example.v2'].map((name) => `openEHR-EHR-${concreteClass(rmType)}.${name}`),
  );
  return [...ids, ...others];
}
