import { archivedMovesOf } from '../../models/merge/archive.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import type { MergeStory } from '../replay/story.js';

/** Ids that are compared with the archive at once: some megabytes. */
const COMPARED = 100_000;

/**
 * Object ids of what a merge moved, a person then moved on, one by one, and a merge made since brought into the same target again. It is
 * that one's; where that was taken back and left it there, the target's.
 */
export async function passedOn(
  record: MergeRecordDoc,
  story: MergeStory,
  compared = COMPARED,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const ids of inBatches(broughtSince(record, story), compared))
    for await (const own of broughtBy(record)) for (const id of own) if (ids.has(id)) found.add(id);
  return found;
}

async function* broughtSince(
  record: MergeRecordDoc,
  { into, undone }: MergeStory,
): AsyncGenerator<readonly string[]> {
  for (const merge of into.slice(into.findIndex(({ _id }) => _id === record._id) + 1))
    yield* broughtBy(merge);
  for (const merge of undone) {
    if (merge.target_ehr !== record.target_ehr || merge.merge_date <= record.merge_date) continue;
    // Of a list that it joined what stayed is the content.
    const joined = new Set(merge.joined.map(({ target }) => target));
    yield (merge.undone.kept ?? []).filter((id) => !joined.has(id));
  }
}

/** Object ids of what a merge brought, joined COMPOSITIONs among them. */
async function* broughtBy({ _id, joined }: MergeRecordDoc): AsyncGenerator<readonly string[]> {
  yield* archivedMovesOf(_id, 'composition');
  yield joined.map(({ source }) => source);
}

async function* inBatches(
  parts: AsyncIterable<readonly string[]>,
  size: number,
): AsyncGenerator<ReadonlySet<string>> {
  let batch = new Set<string>();
  for await (const part of parts) {
    for (const id of part) batch.add(id);
    if (batch.size < size) continue;
    yield batch;
    batch = new Set();
  }
  if (batch.size > 0) yield batch;
}
