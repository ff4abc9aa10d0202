import { at, isObject, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { epochOf } from '../values/instant.js';
import { canonical, isSame } from './canonical.js';

/** More pairs are not weighed against each other: members that nothing identifies are then removed and added. */
const MOST_WEIGHED = 10_000;

/**
 * Which member of the older list each member of the newer one was; null: it is new. By uid, then by time, then by the same
 * content; what is left, if it is no event, by what it is: in order where as many are left on both sides, else by how much they share. A member
 * is never taken for another only because it stands in its place.
 */
export function matchesOf(before: readonly Json[], after: readonly Json[]): (number | null)[] {
  const matches = after.map((): number | null => null);
  const free = new Set(before.keys());
  const pair = (to: number, from: number): void => {
    matches[to] = from;
    free.delete(from);
  };
  // What stands where it stood, which is most of it, is not looked at twice.
  after.forEach(
    (value, index) => index < before.length && isSame(before[index], value) && pair(index, index),
  );
  for (const keyOf of [uidOf, timeOf, canonical, contentOfEvent])
    pairByKey({ before, after, matches, free, keyOf }, pair);
  pairByKind({ before, after, matches, free, keyOf: (value) => (isEvent(value) ? '' : kindOf(value)) }, pair);
  return matches;
}

interface Lists {
  readonly before: readonly Json[];
  readonly after: readonly Json[];
  readonly matches: readonly (number | null)[];
  readonly free: ReadonlySet<number>;
  /** Empty: it has none. */
  readonly keyOf: (value: Json) => string;
}

type Pair = (to: number, from: number) => void;

/** What is free on both sides, by key. */
function freeByKey({
  before,
  after,
  matches,
  free,
  keyOf,
}: Lists): Map<string, { from: number[]; to: number[] }> {
  const groups = new Map<string, { from: number[]; to: number[] }>();
  const add = (value: Json | undefined, side: 'from' | 'to', index: number): void => {
    const key = value === undefined ? '' : keyOf(value);
    if (key === '') return;
    const group = groups.get(key) ?? { from: [], to: [] };
    group[side].push(index);
    groups.set(key, group);
  };
  for (const index of free) add(before[index], 'from', index);
  matches.forEach((match, index) => match === null && add(after[index], 'to', index));
  return groups;
}

function pairByKey(lists: Lists, pair: Pair): void {
  for (const { from, to } of freeByKey(lists).values())
    to.slice(0, from.length).forEach((index, nth) => pair(index, from[nth] ?? 0));
}

function pairByKind(lists: Lists, pair: Pair): void {
  for (const { from, to } of freeByKey(lists).values()) {
    if (from.length === to.length) to.forEach((index, nth) => pair(index, from[nth] ?? 0));
    else if (from.length * to.length <= MOST_WEIGHED) pairByLikeness(lists, { from, to }, pair);
  }
}

/** The most alike first; those that share nothing are no pair. */
function pairByLikeness(
  { before, after }: Lists,
  { from, to }: { readonly from: readonly number[]; readonly to: readonly number[] },
  pair: Pair,
): void {
  const old = from.map((index) => ({ index, said: leavesOf(before[index]) }));
  const weighed = to
    .flatMap((index) => {
      const said = leavesOf(after[index]);
      return old.map((each) => ({ to: index, from: each.index, shared: shared(said, each.said) }));
    })
    .filter((each) => each.shared > 0)
    .sort((left, right) => right.shared - left.shared || left.to - right.to || left.from - right.from);
  const taken = new Set<string>();
  for (const each of weighed) {
    if (taken.has(`to ${each.to}`) || taken.has(`from ${each.from}`)) continue;
    taken.add(`to ${each.to}`).add(`from ${each.from}`);
    pair(each.to, each.from);
  }
}

function shared(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  return [...left].filter((leaf) => right.has(leaf)).length;
}

/** What a member says, with where: not what it is. */
function leavesOf(value: Json | undefined, path = '', leaves = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const each of value) leavesOf(each, path, leaves);
  else if (isObject(value)) {
    const own = `${path}/${textAt(value, 'archetype_node_id')}`;
    for (const [name, member] of Object.entries(value))
      if (!WHAT_IT_IS.has(name)) leavesOf(member, `${own}/${name}`, leaves);
  } else if (value !== undefined) leaves.add(`${path}=${JSON.stringify(value)}`);
  return leaves;
}

const WHAT_IT_IS = new Set([
  '_type',
  'name',
  'archetype_node_id',
  'archetype_details',
  'language',
  'encoding',
  'subject',
  'units',
  'terminology_id',
]);

function uidOf(value: Json): string {
  return textAt(value, 'uid', 'value');
}

/** Of an event: what it is and when it was. */
function timeOf(value: Json): string {
  const time = epochOf(textAt(value, 'time', 'value'));
  return Number.isNaN(time) ? '' : `${kindOf(value)} ${time}`;
}

/** An event whose time alone was corrected. */
function contentOfEvent(value: Json): string {
  return isEvent(value) ? canonical({ ...value, time: undefined, uid: undefined }) : '';
}

/** What a member is, by class, archetype and name. */
function kindOf(value: Json): string {
  if (!isObject(value)) return '';
  return [textAt(value, '_type'), textAt(value, 'archetype_node_id'), textAt(value, 'name', 'value')].join(
    '|',
  );
}

function isEvent(value: Json): value is { [name: string]: Json | undefined } {
  return isObject(value) && textAt(value, '_type').endsWith('EVENT') && at(value, 'time') !== undefined;
}
