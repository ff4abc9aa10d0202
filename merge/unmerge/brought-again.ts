import { archivedMovesOf, type MovedIds } from '../../models/merge/archive.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import type { MergeStory } from '../replay/story.js';

/**
 * What a merge moved and a merge made since brought once more: in between a person had moved it on, one by one, to what is that merge's
 * source. It is that one's, and goes back with it.
 */
export interface BroughtAgain {
  /** Object ids. */
  readonly compositions: ReadonlySet<string>;
  /** Uids. */
  readonly contributions: ReadonlySet<string>;
}

/** Ids that are compared with the archive at once: some megabytes. */
const COMPARED = 100_000;

/** Compares the archive of a merge with those of the merges that were made since into the same EHR and stand. */
export async function broughtAgain(
  record: MergeRecordDoc,
  { into }: MergeStory,
  compared = COMPARED,
): Promise<BroughtAgain> {
  const since = into.slice(into.findIndex(({ _id }) => _id === record._id) + 1);
  const found = { composition: new Set<string>(), contribution: new Set<string>() };
  for (const kind of ['composition', 'contribution'] as const)
    for await (const ids of inBatches(movedBy(since, kind), compared))
      for await (const own of movedBy([record], kind))
        for (const id of own) if (ids.has(id)) found[kind].add(id);
  return { compositions: found.composition, contributions: found.contribution };
}

/** Ids of what merges moved, joined compositions among them. */
async function* movedBy(
  merges: readonly MergeRecordDoc[],
  kind: MovedIds['of'],
): AsyncGenerator<readonly string[]> {
  for (const { _id, joined } of merges) {
    yield* archivedMovesOf(_id, kind);
    if (kind === 'composition' && joined.length > 0) yield joined.map(({ source }) => source);
  }
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
