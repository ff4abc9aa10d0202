import { concreteClasses } from '../../rm/model/classes.js';
import { conforms, type AttributeMatcher, type ChildMatcher } from '../validate/matcher.js';
import { foreignClass, haveCommonClass, wholeNode } from './classes.js';
import { changeOf, isProven, judgedAgain, type Comparison, type FoundChange } from './change.js';
import type { CountedPair } from './slots.js';
import { takesCodes } from './words.js';

/** Compares the values of an attribute that have no node id: a value must fit one of them. */
export function compareAlternatives(
  from: AttributeMatcher,
  to: AttributeMatcher,
  comparison: Comparison,
): CountedPair[] {
  if (from.takesOthers || to.takesOthers) {
    compareOpenness(from, to, comparison);
    return [];
  }
  const { pairs, gone, come } = paired(from.values, to.values);
  for (const [before, after] of pairs) comparePair([before, after], to.values, comparison);
  const [replaced, ...others] = gone;
  const [replacement, ...more] = come;
  const isReplacement = replaced !== undefined && others.length === 0 && from.values.length === 1;
  if (isReplacement && replacement !== undefined && more.length === 0 && to.values.length === 1) {
    comparison.objects(replaced.matcher, replacement.matcher);
    return [...pairs, [replaced, replacement]];
  }
  for (const value of come) addAlternative(value, to, comparison);
  return [
    ...pairs,
    ...gone.map((value) => removeAlternative(value, to, comparison)).filter((pair) => pair !== null),
  ];
}

function addAlternative(value: ChildMatcher, to: AttributeMatcher, comparison: Comparison): void {
  const said = { kind: 'added', what: 'alternative' } as const;
  const isCounted = to.counted.length > 0;
  const verdict = !isCounted
    ? 'minor'
    : value.min > 0
      ? 'breaking'
      : to.values.length > 1
        ? 'unproven'
        : 'minor';
  const reason = {
    minor: 'what fitted another alternative still does',
    unproven: 'which of several counts a value is not decided',
    breaking: 'it must be there',
  }[verdict];
  comparison.add(wholeNode(value.matcher.node, { ...said, verdict, reason }));
}

interface Paired {
  readonly pairs: (readonly [ChildMatcher, ChildMatcher])[];
  readonly gone: readonly ChildMatcher[];
  readonly come: readonly ChildMatcher[];
}

/** Alternatives of the same class stand for each other, in their order. */
function paired(before: readonly ChildMatcher[], after: readonly ChildMatcher[]): Paired {
  const come = [...after];
  const pairs: (readonly [ChildMatcher, ChildMatcher])[] = [];
  const gone: ChildMatcher[] = [];
  for (const value of before) {
    const same = come.findIndex(({ matcher }) => matcher.node.rmType === value.matcher.node.rmType);
    const [other] = same < 0 ? [] : come.splice(same, 1);
    if (other === undefined) gone.push(value);
    else pairs.push([value, other]);
  }
  return { pairs, gone, come };
}

/** What one alternative does not take any more, another one may. */
function comparePair(
  [before, after]: readonly [ChildMatcher, ChildMatcher],
  all: readonly ChildMatcher[],
  comparison: Comparison,
): void {
  const found = comparison.apart(() => {
    comparison.objects(before.matcher, after.matcher);
  });
  const others = all.filter((other) => other !== after && isRival(before, other));
  if (others.length === 0 || areProven(found)) comparison.addAll(found);
  else if (others.some((other) => isTakenBy(before, other, comparison)))
    comparison.addAll(found.map(harmless));
  else comparison.addAll(found.map(undecided));
}

function isRival(before: ChildMatcher, other: ChildMatcher): boolean {
  return haveCommonClass(before.matcher.rmType, other.matcher.rmType);
}

function areProven(found: readonly FoundChange[]): boolean {
  return found.every(({ change }) => isProven(change.verdict));
}

/** Whether it is proven that one node takes whatever another one took. */
export function isTakenBy(before: ChildMatcher, other: ChildMatcher, comparison: Comparison): boolean {
  if (foreignClass(before.matcher.rmType, other.matcher.rmType) !== undefined) return false;
  const isText = other.matcher.rmType === 'DV_TEXT';
  if (isText && !takesCodes(before.matcher.node, other.matcher.node, comparison)) return false;
  return areProven(
    comparison.apart(() => {
      comparison.objects(before.matcher, other.matcher);
    }),
  );
}

const TAKEN = 'another alternative takes what was valid';

function harmless({ change }: FoundChange): FoundChange {
  return { change: isProven(change.verdict) ? change : judgedAgain(change, 'minor', TAKEN) };
}

/** What was found to be refused by one of several may be taken by another. */
export function undecided(found: FoundChange): FoundChange {
  const { change } = found;
  if (change.verdict !== 'breaking') return found;
  return { ...found, change: judgedAgain(change, 'unproven', 'whether another one takes it is not decided') };
}

function removeAlternative(
  value: ChildMatcher,
  to: AttributeMatcher,
  comparison: Comparison,
): CountedPair | null {
  const { node } = value.matcher;
  const said = { kind: 'removed', what: 'alternative' } as const;
  const taker = to.values.find((other) => isTakenBy(value, other, comparison));
  if (taker !== undefined) comparison.add(wholeNode(node, { ...said, verdict: 'minor', reason: TAKEN }));
  else if (to.values.some((other) => isRival(value, other)))
    comparison.add(
      wholeNode(node, {
        ...said,
        verdict: 'unproven',
        reason: 'whether another one takes it is not decided',
      }),
    );
  else comparison.add(wholeNode(node, { ...said, verdict: 'breaking', reason: 'no alternative takes it' }));
  return taker === undefined ? null : [value, taker];
}

/** Of an ELEMENT of which one of the templates says nothing: any data value will do there. */
function compareOpenness(from: AttributeMatcher, to: AttributeMatcher, comparison: Comparison): void {
  if (from.takesOthers && to.takesOthers) return;
  const [value] = [...from.values, ...to.values];
  if (value === undefined) return;
  const lost = concreteClasses('DATA_VALUE').find(
    (name) => !to.values.some(({ matcher }) => conforms(name, matcher.rmType)),
  );
  comparison.add(
    changeOf({
      path: value.matcher.node.aqlPath,
      what: 'content',
      from: from.takesOthers ? null : shownClasses(from),
      to: to.takesOthers ? null : shownClasses(to),
      isWithin: to.takesOthers,
      isNotMore: from.takesOthers,
      example: lost === undefined ? undefined : { _type: lost },
    }),
  );
}

function shownClasses({ values }: AttributeMatcher): string[] {
  return values.map(({ matcher }) => matcher.node.rmType);
}
