import { trusted } from 'mongoose';
import type { MarkKind } from '../policy/marks.js';
import { documents } from './access/documents.js';
import { COLLECTIONS } from './access/layout.js';
import { Ehr, type EhrDoc } from './ehr.js';

/* What marks ask of EHRs: docs/access.md#marks */

/** Locks an active EHR as `holdActive` does, for a change of its marks. */
export function holdForMarks(ehrId: string): Promise<EhrDoc | null> {
  return Ehr.findOneAndUpdate(
    { _id: ehrId, state: 'active', merging: null },
    { $inc: { write_seq: 1, marks_seq: 1 } },
    { returnDocument: 'after' },
  ).exec();
}

/** Notes that marks of an EHR, if it is there, were changed. Joins the caller's transaction. */
export async function raiseMarks(ehrId: string): Promise<void> {
  await Ehr.updateOne({ _id: ehrId, state: 'active' }, { $inc: { write_seq: 1, marks_seq: 1 } }).exec();
}

/** The EHRs that were merged into one of these, each with that. Joins the caller's transaction. */
export async function mergesInto(ehrIds: readonly string[]): Promise<[source: string, target: string][]> {
  const docs = await Ehr.find({ merged_into: trusted({ $in: ehrIds }) }, { _id: 1, merged_into: 1 }).exec();
  return docs.map(({ _id, merged_into: target = '' }) => [_id, target]);
}

/** Those of these EHRs that were merged into others, each with that. Joins the caller's transaction. */
export async function mergesOutOf(ehrIds: readonly string[]): Promise<[source: string, target: string][]> {
  const among = { _id: trusted({ $in: ehrIds }), merged_into: trusted({ $exists: true }) };
  const docs = await Ehr.find(among, { _id: 1, merged_into: 1 }).exec();
  return docs.map(({ _id, merged_into: target = '' }) => [_id, target]);
}

/** The EHRs that were merged into others and on which marks of these kinds were set that were not lifted from them. */
export async function mergedWithMarks(kinds: readonly MarkKind[]): Promise<string[]> {
  const { ehrs, ehrMarks } = COLLECTIONS;
  const found = documents<{ _id: string }>(ehrs).aggregate<{ _id: string }>([
    { $match: { merged_into: { $exists: true } } },
    { $project: { _id: 1 } },
    { $lookup: { from: ehrMarks, localField: '_id', foreignField: 'ehr_id', as: 'marks' } },
    { $match: { marks: { $elemMatch: { open: true, kind: { $in: [...kinds] } } } } },
    { $project: { _id: 1 } },
  ]);
  return (await found.toArray()).map(({ _id }) => _id);
}
