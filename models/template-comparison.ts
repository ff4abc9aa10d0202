import { trusted } from 'mongoose';
import { COLLECTIONS } from './access/layout.js';
import {
  collection,
  date,
  number,
  oneOf,
  opaque,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import type { RemoveWrite } from './access/write.js';
import { WALK_BEGIN, type WalkPosition } from './template-upgrade.js';

/** `running`: a process is at it, or was killed; `stopped`: by an error, until it is resumed. */
export type ComparisonState = 'running' | 'stopped' | 'done' | 'cancelled';

/** Which COMPOSITIONs are judged: some at random, or all. */
export type ComparedData = 'sample' | 'all';

/** How often a cause was found; what it is say its examples, so that it goes with those whose it is. */
interface CountedCause {
  /** SHA-256 of path and message, in hexadecimal. */
  readonly key: string;
  readonly count: number;
}

const COMPARISON = {
  /** UUID. */
  _id: text,
  /** As it is stored. */
  template_id: text,
  data: oneOf<ComparedData>(),
  /** Digest and number of the revision whose data are judged; absent: of all. */
  from: optional(text),
  from_name: optional(text),
  /** Digest of what they are judged by, and its number where it is a revision. */
  to: text,
  to_name: optional(text),
  /** Its text, where it is none, until the end. */
  opt: optional(text),
  state: oneOf<ComparisonState>(),
  /** Why it stopped by itself. */
  reason: optional(text),
  started_at: date,
  started_by: text,
  finished_at: optional(date),
  /** Of all: where the walk stands. */
  position: opaque<WalkPosition>(),
  valid: number,
  invalid: number,
  /** Of the valid ones: a terminology server has to be asked. */
  unproven: number,
  /** Those of other revisions than `from`. */
  others: number,
  causes: opaque<readonly CountedCause[]>(),
};

const EXAMPLE = {
  /** `<comparison> <cause> <object id>`. */
  _id: text,
  comparison: text,
  cause: text,
  path: text,
  message: text,
  ehr_id: text,
  object_id: text,
  /** Of the VERSION that was judged. */
  uid: text,
};

/** A comparison of stored data with a template. Fields: docs/spec/storage.md#other-collections. */
export type TemplateComparisonDoc = DocumentOf<typeof COMPARISON>;

/** A COMPOSITION that is not valid, and one reason. */
export type ComparisonExample = DocumentOf<typeof EXAMPLE>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.templateComparisonExamples]: ComparisonExample;
  }
}

const Comparison = collection(COLLECTIONS.templateComparisons, COMPARISON);
const Example = collection(COLLECTIONS.templateComparisonExamples, EXAMPLE);

/** So many comparisons of a template are kept. */
const KEPT = 20;

/** Nothing is judged yet. */
export const NOTHING_JUDGED = {
  position: WALK_BEGIN,
  ...{ valid: 0, invalid: 0, unproven: 0, others: 0 },
  causes: [],
} as const;

/** Notes a comparison that begins, and forgets the oldest of the template. Joins the caller's transaction. */
export async function insertComparison(doc: TemplateComparisonDoc): Promise<void> {
  const known = await comparisonsOf(doc.template_id);
  for (const { _id } of known.slice(KEPT - 1)) {
    await forgetExamples(_id);
    await Comparison.deleteOne({ _id }).exec();
  }
  await Comparison.create([doc]);
}

/** A comparison, null when there is none with the id. */
export function comparisonById(id: string): Promise<TemplateComparisonDoc | null> {
  return Comparison.findOne({ _id: id }).exec();
}

/** The comparisons of a template, newest first. */
export function comparisonsOf(storedId: string): Promise<Omit<TemplateComparisonDoc, 'opt'>[]> {
  return Comparison.find({ template_id: storedId }, { opt: 0 }).sort({ started_at: -1 }).exec();
}

/** All comparisons that a process is at, or was. */
export function comparisonsAtWork(): Promise<Omit<TemplateComparisonDoc, 'opt'>[]> {
  return Comparison.find({ state: 'running' }, { opt: 0 }).exec();
}

/** Changes the state where it is one of these. False: it is another one. */
export async function changeComparison(
  id: string,
  from: readonly ComparisonState[],
  change: Partial<Pick<TemplateComparisonDoc, 'state' | 'reason' | 'finished_at'>>,
): Promise<boolean> {
  const isEnd = change.state === 'done' || change.state === 'cancelled';
  const { modifiedCount } = await Comparison.updateOne(
    { _id: id, state: trusted({ $in: from }) },
    { $set: change, ...(isEnd && { $unset: { opt: 1 as const } }) },
  ).exec();
  return modifiedCount === 1;
}

/** Begins anew: nothing is judged. */
export async function forgetJudged(id: string): Promise<void> {
  await forgetExamples(id);
  await Comparison.updateOne({ _id: id }, { $set: NOTHING_JUDGED }).exec();
}

async function forgetExamples(id: string): Promise<void> {
  await Example.deleteMany({ comparison: id }).exec();
}

/** Notes what was judged, with new examples. Joins the caller's transaction. */
export async function noteJudged(
  id: string,
  judged: Pick<TemplateComparisonDoc, 'position' | 'valid' | 'invalid' | 'unproven' | 'others' | 'causes'>,
  examples: readonly ComparisonExample[],
): Promise<void> {
  // What a merge takes to an EHR whose turn is later is met again.
  const ids = examples.map(({ _id }) => _id);
  const met = ids.length === 0 ? [] : await Example.find({ _id: trusted({ $in: ids }) }, { _id: 1 }).exec();
  const known = new Set(met.map(({ _id }) => _id));
  const fresh = examples.filter(({ _id }) => !known.has(_id));
  if (fresh.length > 0) await Example.insertMany(fresh);
  await Comparison.updateOne({ _id: id }, { $set: judged }).exec();
}

/** The examples of a comparison that are there, in the order in which they were found. */
export function examplesOf(id: string): Promise<ComparisonExample[]> {
  return Example.find({ comparison: id }).sort({ _id: 1 }).exec();
}

/** The writes that forget what comparisons say of EHRs that are erased. */
export function exampleRemoval(ehrIds: readonly string[]): RemoveWrite<'template_comparison_examples'> {
  return { collection: COLLECTIONS.templateComparisonExamples, remove: { ehr_id: { $in: ehrIds } } };
}

/** The same of one COMPOSITION that is erased. */
export function exampleRemovalOf(objectId: string): RemoveWrite<'template_comparison_examples'> {
  return { collection: COLLECTIONS.templateComparisonExamples, remove: { object_id: objectId } };
}
