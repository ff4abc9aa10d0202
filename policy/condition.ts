import { rootOfUid } from '../openehr/base/object-version-id.js';
import { attributeOf, tagOf, type AccessObject, type AttributeValue } from './object.js';
import type { ObjectType } from './schema.js';

/** How two times are compared. */
export type Comparator = '<' | '<=' | '>' | '>=';

/** A piece of a pattern: a text as it is, or any text. */
export type PatternPiece = string | null;

/**
 * What policies say of an object once it is known who asks for what: plain data over its attributes, so that it is decided in memory,
 * by an index, or in a pipeline. A leaf over an attribute that an object has not is false.
 */
export type Condition =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | Leaf;

/** What is of a category, by template or by the archetype of the root. */
interface MarkedCategory {
  readonly name: string;
  readonly templates: readonly string[];
  readonly archetypes: readonly string[];
}

/** A condition on one thing. */
export type Leaf =
  | { readonly kind: 'is'; readonly type: ObjectType }
  | { readonly kind: 'uid'; readonly among: readonly string[] }
  /** A VERSION of one of these containers. */
  | { readonly kind: 'object'; readonly among: readonly string[] }
  | { readonly kind: 'has'; readonly attribute: string }
  /** One of these values. */
  | { readonly kind: 'equals'; readonly attribute: string; readonly among: readonly (string | number)[] }
  | {
      readonly kind: 'compare';
      readonly attribute: string;
      readonly comparator: Comparator;
      readonly time: number;
    }
  | { readonly kind: 'like'; readonly attribute: string; readonly pattern: readonly PatternPiece[] }
  /** A set with at least one of these members. */
  | { readonly kind: 'contains'; readonly attribute: string; readonly among: readonly string[] }
  | { readonly kind: 'empty'; readonly attribute: string }
  /**
   * A mark of a kind, of those that hold for people of an organisation; absent: for somebody of whom none is known. `categories`: what marks
   * about a category are about; absent: of openEHR's own alone.
   */
  | {
      readonly kind: 'marked';
      readonly mark: string;
      readonly organisation?: string;
      readonly categories?: readonly MarkedCategory[];
    }
  | { readonly kind: 'tagged'; readonly key: string }
  /** A tag with at least one of these values. */
  | { readonly kind: 'tag'; readonly key: string; readonly among: readonly string[] }
  | { readonly kind: 'emptyTag'; readonly key: string };

/** A condition on a tag of the EHR. */
export type TagLeaf = Extract<Leaf, { readonly key: string }>;

/** A condition on the marks of an object. */
export type MarkLeaf = Extract<Leaf, { readonly kind: 'marked' }>;

/** What somebody may see: what is in an EHR only where he may see the EHR. */
export interface Permitted {
  /** Over EHRs. */
  readonly ehr: Condition;
  /** Over VERSIONs. */
  readonly version: Condition;
}

export const TRUE: Condition = { kind: 'constant', value: true };
export const FALSE: Condition = { kind: 'constant', value: false };

/** The constant of a truth value. */
export function constant(value: boolean): Condition {
  return value ? TRUE : FALSE;
}

/** All of them, without what says nothing. */
export function all(conditions: readonly Condition[]): Condition {
  return joined('all', conditions, false);
}

/** At least one of them, without what says nothing. */
export function any(conditions: readonly Condition[]): Condition {
  const whole = joined('any', conditions, true);
  return whole.kind === 'any' ? oneOrAny(withoutRepeats(whole.of)) : whole;
}

function oneOrAny(members: readonly Condition[]): Condition {
  const [only] = members;
  return members.length === 1 && only !== undefined ? only : { kind: 'any', of: members };
}

/** Questions for different values of one thing are one question for all of them, which an index can answer. */
function withoutRepeats(members: readonly Condition[]): readonly Condition[] {
  const known = new Map<string, { readonly place: number; readonly among: Set<string | number> }>();
  const found: Condition[] = [];
  for (const each of members) {
    if (!('among' in each)) {
      found.push(each);
      continue;
    }
    const name = `${each.kind} ${askedFor(each)}`;
    const before = known.get(name);
    if (before !== undefined) for (const value of each.among) before.among.add(value);
    else {
      known.set(name, { place: found.length, among: new Set(each.among) });
      found.push(each);
    }
  }
  // Each list is made once: it grows with every policy that asks for another value.
  for (const { place, among } of known.values()) {
    const first = found[place];
    if (first !== undefined && 'among' in first) found[place] = { ...first, among: [...among] } as Leaf;
  }
  return found;
}

function askedFor(leaf: Extract<Leaf, { readonly among: unknown }>): string {
  if (leaf.kind === 'uid' || leaf.kind === 'object') return '';
  return leaf.kind === 'tag' ? leaf.key : leaf.attribute;
}

/** The opposite. */
export function not(condition: Condition): Condition {
  if (condition.kind === 'constant') return constant(!condition.value);
  return condition.kind === 'not' ? condition.of : { kind: 'not', of: condition };
}

/** `decided`: the value of a member that decides the whole. */
function joined(kind: 'all' | 'any', conditions: readonly Condition[], decided: boolean): Condition {
  const members: Condition[] = [];
  for (const each of conditions) {
    if (each.kind === 'constant') {
      if (each.value === decided) return each;
    } else if (each.kind === kind) members.push(...each.of);
    else members.push(each);
  }
  const told = kind === 'all' ? withoutImplied(members) : members;
  const [only] = told;
  if (only === undefined) return constant(!decided);
  return told.length === 1 ? only : { kind, of: told };
}

/** What asks for the value of an attribute asks whether there is one: without that, questions for values of many policies become one. */
function withoutImplied(members: readonly Condition[]): readonly Condition[] {
  const asked = new Set(
    members.flatMap((each) => ('attribute' in each && each.kind !== 'has' ? each.attribute : [])),
  );
  if (asked.size === 0) return members;
  return members.filter((each) => each.kind !== 'has' || !asked.has(each.attribute));
}

/** The condition for objects of one type. */
export function ofType(condition: Condition, type: ObjectType): Condition {
  switch (condition.kind) {
    case 'all':
      return all(condition.of.map((each) => ofType(each, type)));
    case 'any':
      return any(condition.of.map((each) => ofType(each, type)));
    case 'not':
      return not(ofType(condition.of, type));
    case 'is':
      return constant(condition.type === type);
    default:
      return condition;
  }
}

/** Whether a leaf is about what is stored beside objects: tags of their EHR, and marks. */
export function isBeside(leaf: Leaf): boolean {
  return 'key' in leaf || leaf.kind === 'marked' || ('attribute' in leaf && leaf.attribute === 'marks');
}

/** Whether a condition asks for what is stored beside objects. */
export function asksBeside(condition: Condition): boolean {
  switch (condition.kind) {
    case 'constant':
      return false;
    case 'all':
    case 'any':
      return condition.of.some((each) => asksBeside(each));
    case 'not':
      return asksBeside(condition.of);
    default:
      return isBeside(condition);
  }
}

/**
 * A condition that asks nothing of what is stored beside objects, and that whatever fits the other one fits: what is found by it is judged
 * by the other one then. `fits`: what is taken of a leaf that is not asked.
 */
export function withoutBeside(condition: Condition, fits = true): Condition {
  switch (condition.kind) {
    case 'constant':
      return condition;
    case 'all':
      return all(condition.of.map((each) => withoutBeside(each, fits)));
    case 'any':
      return any(condition.of.map((each) => withoutBeside(each, fits)));
    case 'not':
      return not(withoutBeside(condition.of, !fits));
    default:
      return isBeside(condition) ? constant(fits) : condition;
  }
}

/** Whether an object fits a condition. */
export function holds(condition: Condition, object: AccessObject): boolean {
  switch (condition.kind) {
    case 'constant':
      return condition.value;
    case 'all':
      return condition.of.every((each) => holds(each, object));
    case 'any':
      return condition.of.some((each) => holds(each, object));
    case 'not':
      return !holds(condition.of, object);
    default:
      return leafHolds(condition, object);
  }
}

function leafHolds(leaf: Leaf, object: AccessObject): boolean {
  switch (leaf.kind) {
    case 'is':
      return object.type === leaf.type;
    case 'uid':
      return leaf.among.includes(object.uid);
    case 'object':
      return object.type === 'Version' && leaf.among.includes(rootOfUid(object.uid));
    case 'tagged':
    case 'tag':
    case 'emptyTag':
      return tagFits(leaf, tagOf(object, leaf.key));
    case 'marked':
      return isMarked(object, leaf.mark);
    default:
      return valueFits(leaf, attributeOf(object, leaf.attribute));
  }
}

function isMarked(object: AccessObject, mark: string): boolean {
  const marks = attributeOf(object, 'marks');
  return typeof marks === 'object' && marks.includes(mark);
}

/** Whether the values of a tag, undefined without it, are what is asked for. */
export function tagFits(leaf: TagLeaf, values: readonly string[] | undefined): boolean {
  if (values === undefined) return false;
  if (leaf.kind === 'tag') return leaf.among.some((value) => values.includes(value));
  return leaf.kind === 'tagged' || values.length === 0;
}

type OfAttribute = Extract<Leaf, { readonly attribute: string }>;

function valueFits(leaf: OfAttribute, value: AttributeValue | undefined): boolean {
  if (value === undefined) return false;
  if (leaf.kind === 'has') return true;
  if (typeof value === 'object') return setFits(leaf, value);
  if (leaf.kind === 'equals') return leaf.among.includes(value);
  if (leaf.kind === 'like') return typeof value === 'string' && isLike(value, leaf.pattern);
  return leaf.kind === 'compare' && typeof value === 'number' && compares(value, leaf.comparator, leaf.time);
}

function setFits(leaf: OfAttribute, set: readonly string[]): boolean {
  if (leaf.kind === 'empty') return set.length === 0;
  return leaf.kind === 'contains' && leaf.among.some((member) => set.includes(member));
}

/** Whether a value stands to another one as a comparator says. */
export function compares(value: number, comparator: Comparator, other: number): boolean {
  if (comparator === '<') return value < other;
  if (comparator === '<=') return value <= other;
  return comparator === '>' ? value > other : value >= other;
}

/** Whether a text fits a pattern. Each piece is looked for once, behind the one before: never more steps than text times pieces. */
export function isLike(text: string, pattern: readonly PatternPiece[]): boolean {
  const [first, ...rest] = piecesOf(pattern);
  if (first === undefined) return text === '';
  if (rest.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** The texts between the wildcards: one more than there are of these. */
export function piecesOf(pattern: readonly PatternPiece[]): string[] {
  const pieces = [''];
  for (const piece of pattern)
    if (piece === null) pieces.push('');
    else pieces.push(`${pieces.pop() ?? ''}${piece}`);
  return pieces;
}
