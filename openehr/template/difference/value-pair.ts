import type { JsonObject } from '../../base/json.js';
import { validateRm } from '../../rm/invariants/validate.js';
import { codedText } from '../example/sample.js';
import type { ObjectMatcher } from '../validate/matcher.js';
import type { Aspect } from './aspect.js';
import { changeOf, type Comparison } from './change.js';
import { codeAspects, listedCodes, nameAspects, ordinalAspects } from './code-aspects.js';
import { quantityAspects } from './quantity-aspects.js';
import { primitiveAspects, transitionAspects } from './text-aspects.js';

const ASPECTS = [
  codeAspects,
  nameAspects,
  ordinalAspects,
  quantityAspects,
  primitiveAspects,
  transitionAspects,
  freeTextAspects,
];

/** Compares what two objects themselves may be, not what stands below them: the rules of `valueCheck` and `nameCheck`. */
export function compareValues(before: ObjectMatcher, after: ObjectMatcher, comparison: Comparison): void {
  const path = before.node.aqlPath;
  for (const { samples, ...said } of ASPECTS.flatMap((aspects) => aspects(before, after))) {
    if (said.isWithin && said.isNotMore) continue;
    const example = said.isWithin ? undefined : samples.find((sample) => isLost(sample, before, after));
    comparison.add(changeOf({ path, ...said, example }));
  }
  compareValueSets(before, after, comparison);
}

/** Whether an object with such attributes was accepted, and is not now. */
function isLost(sample: JsonObject, before: ObjectMatcher, after: ObjectMatcher): boolean {
  const object = { _type: before.rmType, ...sample };
  if (!isAccepted(object, before) || isAccepted(object, after)) return false;
  // Not what the reference model refuses of itself.
  return validateRm(object, { lenient: true }).length === 0;
}

/** A text that a code had stays right (docs/spec/formats.md#template-differences). */
function isAccepted(object: JsonObject, { check }: ObjectMatcher): boolean {
  return (check?.(object) ?? []).every(({ code }) => code === 'wrong-rubric');
}

/** Coded text where text is asked for now: its local codes must be codes of the archetype. */
function freeTextAspects(before: ObjectMatcher, after: ObjectMatcher): Aspect[] {
  if (before.rmType !== 'DV_CODED_TEXT' || after.rmType !== 'DV_TEXT') return [];
  const listed = listedCodes(before.node);
  const samples = [...(listed ?? []), UNKNOWN_CODE].map(({ terminologyId, code, text }) =>
    codedText(terminologyId, code, text),
  );
  const isWithin = listed !== null && samples.slice(0, -1).every((sample) => isAccepted(sample, after));
  return [{ what: 'codes', from: null, to: 'local', isWithin, isNotMore: true, samples }];
}

const UNKNOWN_CODE = { terminologyId: 'local', code: 'at9999', text: 'Example' };

/** What a terminology server has to say is not known here. */
function compareValueSets(before: ObjectMatcher, after: ObjectMatcher, comparison: Comparison): void {
  const [from, to] = [before.valueSetUrl, after.valueSetUrl];
  if (from === to) return;
  const said = { path: before.node.aqlPath, what: 'value_set', from, to, example: undefined } as const;
  comparison.add(changeOf({ ...said, isWithin: to === null, isNotMore: from === null }));
}
