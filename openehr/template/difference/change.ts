import type { JsonValue } from '../../base/json.js';
import type { CompiledTemplate } from '../compile.js';
import type { ObjectMatcher } from '../validate/matcher.js';
import type { WebTemplateNode } from '../web-template/web-template.js';

/** What one change means for instances that were valid before it (docs/spec/formats.md#template-differences). */
export type ChangeVerdict = 'text' | 'minor' | 'unproven' | 'breaking';

/** What all changes together mean: `unproven` ones count as breaking. */
export type DifferenceVerdict = 'same' | 'text' | 'minor' | 'breaking';

/** How a part of a template changed; `changed`: it takes less in one way and more in another, or says something else. */
export type ChangeKind = 'added' | 'removed' | 'moved' | 'renamed' | 'widened' | 'narrowed' | 'changed';

/** The part that changed. */
export type ChangedPart =
  | 'node'
  | 'type'
  | 'alternative'
  | 'slot'
  | 'name'
  | 'existence'
  | 'occurrences'
  | 'cardinality'
  | 'content'
  | 'codes'
  | 'value_set'
  | 'units'
  | 'magnitude'
  | 'precision'
  | 'value'
  | 'transitions'
  | 'term'
  | 'binding'
  | 'annotations'
  | 'default'
  | 'concept'
  | 'languages'
  | 'description'
  | 'other';

/** One difference between two templates. */
export interface Change {
  /** AQL path in the earlier template, of what was added in the later one; '' for the template as a whole. */
  readonly path: string;
  readonly kind: ChangeKind;
  readonly what: ChangedPart;
  readonly verdict: ChangeVerdict;
  /** What the templates say, null where one says nothing. */
  readonly from: JsonValue;
  readonly to: JsonValue;
  readonly reason: string;
  /** Accepted before and refused now: attributes of the object at the path, or how many there are. */
  readonly example?: JsonValue;
}

/** A change, with the object of one template for which the other has none. */
export interface FoundChange {
  readonly change: Change;
  readonly gone?: ObjectMatcher;
  readonly come?: ObjectMatcher;
}

/** What is known of all that one part of a template accepted, and accepts now. */
interface JudgedPart {
  readonly path: string;
  readonly what: ChangedPart;
  readonly from: JsonValue;
  readonly to: JsonValue;
  /** It is proven that all that was accepted still is. */
  readonly isWithin: boolean;
  /** It is proven that nothing is accepted that was not. */
  readonly isNotMore: boolean;
  /** Found to be accepted before and refused now. */
  readonly example: JsonValue | undefined;
}

/** The change of a part; null when it accepts what it accepted. */
export function changeOf(part: JudgedPart): Change | null {
  const { path, what, from, to, isWithin, isNotMore, example } = part;
  if (isWithin && isNotMore) return null;
  const said = { path, what, from, to };
  if (isWithin) return { ...said, kind: 'widened', verdict: 'minor', reason: ALL_ACCEPTED };
  const kind = isNotMore ? 'narrowed' : 'changed';
  if (example === undefined) return { ...said, kind, verdict: 'unproven', reason: UNDECIDED };
  const reason = `accepted before and refused now: ${JSON.stringify(example)}`;
  return { ...said, kind, verdict: 'breaking', reason, example };
}

const ALL_ACCEPTED = 'all that was accepted still is';
const UNDECIDED = 'whether all that was accepted still is, is not decided';
const NOTHING_THERE = 'nothing could stand there before';

const RANK: Readonly<Record<ChangeVerdict, number>> = { text: 0, minor: 1, unproven: 2, breaking: 3 };

/** Whether a verdict is a proof that what was valid still is. */
export function isProven(verdict: ChangeVerdict): boolean {
  return RANK[verdict] <= RANK.minor;
}

/** The same change, of which more is known than its own part of the template says. */
export function judgedAgain(change: Change, verdict: ChangeVerdict, reason: string): Change {
  const { path, kind, what, from, to } = change;
  return { path, kind, what, verdict, from, to, reason };
}

/** What changes mean together. */
export function verdictOf(changes: readonly Change[]): DifferenceVerdict {
  const [first, ...others] = changes.map(({ verdict }) => verdict);
  if (first === undefined) return 'same';
  const worst = others.reduce((before, verdict) => (RANK[verdict] > RANK[before] ? verdict : before), first);
  return worst === 'unproven' ? 'breaking' : worst;
}

/** Compares two objects that stand for each other. */
type CompareObjects = (before: ObjectMatcher, after: ObjectMatcher, comparison: Comparison) => void;

/** What a comparison of two templates has found so far. */
export class Comparison {
  /** Roots of archetypes of the earlier template, with those of the later one that stand for them. */
  readonly roots = new Map<WebTemplateNode, WebTemplateNode>();
  #found: FoundChange[] = [];
  #impossible = 0;

  constructor(
    readonly before: CompiledTemplate,
    readonly after: CompiledTemplate,
    private readonly compare: CompareObjects,
  ) {}

  get found(): readonly FoundChange[] {
    return this.#found;
  }

  /** Compares two objects, and all below them. */
  objects(before: ObjectMatcher, after: ObjectMatcher): void {
    this.compare(before, after, this);
  }

  /** Notes a change; null is none. */
  add(change: Change | null, whole: Omit<FoundChange, 'change'> = {}): void {
    if (change === null) return;
    const isAsFound = this.#impossible === 0 || isProven(change.verdict);
    this.#found.push({ change: isAsFound ? change : judgedAgain(change, 'minor', NOTHING_THERE), ...whole });
  }

  /** Notes what was found apart. */
  addAll(found: readonly FoundChange[]): void {
    for (const { change, ...whole } of found) this.add(change, whole);
  }

  /** What a part of the comparison finds; it is not noted. */
  apart(compare: () => void): readonly FoundChange[] {
    const before = this.#found;
    this.#found = [];
    try {
      compare();
      return this.#found;
    } finally {
      this.#found = before;
    }
  }

  /** Runs a part of the comparison; with `isImpossible` of something that no valid instance had. */
  below(isImpossible: boolean, compare: () => void): void {
    if (isImpossible) this.#impossible += 1;
    try {
      compare();
    } finally {
      if (isImpossible) this.#impossible -= 1;
    }
  }
}
