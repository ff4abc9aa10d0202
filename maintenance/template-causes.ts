import { hash } from 'node:crypto';
import type { ComparisonExample, TemplateComparisonDoc } from '../models/template-comparison.js';
import type { VersionDoc } from '../models/version.js';
import type { JudgedContent, UpgradeCause } from './template-judge.js';

/** Examples of each cause. */
export const MOST_EXAMPLES = 10;
/** Different causes that are counted apart. */
export const MOST_CAUSES = 200;

/** A cause as it is counted: of one node, wherever it stands in a document. */
export function countedCause({ path, message }: UpgradeCause): UpgradeCause & { readonly key: string } {
  const node = path.replaceAll(/\[\d+\]/g, '');
  return { path: node, message, key: hash('sha256', JSON.stringify([node, message])) };
}

/** A COMPOSITION that was judged; null: it is of another revision. */
interface JudgedVersion {
  readonly version: Pick<VersionDoc, '_id' | 'ehr_id' | 'object_id'>;
  readonly judged: JudgedContent | null;
}

type Counts = Pick<TemplateComparisonDoc, 'valid' | 'invalid' | 'unproven' | 'others' | 'causes'>;

/** Adds what was judged to what is counted; with the examples that are new. */
export function addJudged(
  { _id: comparison, valid, invalid, unproven, others, causes }: Counts & { readonly _id: string },
  found: readonly JudgedVersion[],
): { readonly judged: Counts; readonly examples: readonly ComparisonExample[] } {
  const counts = { valid, invalid, unproven, others };
  const counted = new Map(causes.map(({ key, count }) => [key, count]));
  const examples: ComparisonExample[] = [];
  for (const { version, judged } of found) {
    if (judged === null) counts.others += 1;
    else if (judged.kind === 'invalid') counts.invalid += 1;
    else counts.valid += 1;
    if (judged === null) continue;
    if (judged.kind !== 'invalid') {
      if (judged.isUnproven) counts.unproven += 1;
      continue;
    }
    // One that has the same fault twice counts once.
    for (const cause of new Map(judged.causes.map(countedCause).map((each) => [each.key, each])).values()) {
      const { key, path, message } = cause;
      const count = counted.get(key) ?? 0;
      if (count === 0 && counted.size >= MOST_CAUSES) continue;
      counted.set(key, count + 1);
      if (count >= MOST_EXAMPLES) continue;
      const { _id: uid, ehr_id, object_id } = version;
      const _id = `${comparison} ${key} ${object_id}`;
      examples.push({ _id, comparison, cause: key, path, message, ehr_id, object_id, uid });
    }
  }
  const list = [...counted].map(([key, count]) => ({ key, count }));
  return { judged: { ...counts, causes: list }, examples };
}

/** A cause as it is shown. */
interface ShownCause extends UpgradeCause {
  readonly count: number;
  /** Version uids. */
  readonly examples: readonly string[];
}

/** Causes with their examples, most frequent first; those of which all examples were erased are not told any more. */
export function shownCauses(
  { causes }: Pick<TemplateComparisonDoc, 'causes'>,
  examples: readonly ComparisonExample[],
): ShownCause[] {
  return causes
    .flatMap(({ key, count }) => {
      const own = examples.filter(({ cause }) => cause === key);
      const [first] = own;
      if (first === undefined) return [];
      return [{ path: first.path, message: first.message, count, examples: own.map(({ uid }) => uid) }];
    })
    .sort((one, other) => other.count - one.count);
}
