import { trusted, type ClientSession } from 'mongoose';
import type { EhrDoc } from '../ehr.js';
import type { ItemTagDoc } from '../item-tag.js';
import { COLLECTIONS } from '../access/layout.js';
import { collection, oneOf, opaque, text } from '../access/collection.js';
import type { VersionDoc } from '../version.js';
import { storedVersion, versionOf, type StoredVersion } from '../version-text.js';
import type { VersionedObjectDoc } from '../versioned-object.js';
import type { InsertWrite, RemoveWrite } from '../access/write.js';

/** What a reversible merge keeps, by kind. */
export interface ArchiveBodies {
  /** The source's EHR document as it was: one per merge. */
  readonly ehr: EhrDoc;
  /** A container of the source that ended: EHR_STATUS, directories. */
  readonly container: VersionedObjectDoc;
  /** A version of such a container. */
  readonly version: StoredVersion;
  /** An item tag that was dropped. */
  readonly tag: ItemTagDoc;
  /** Ids of what moved, at most `MOVED_IDS` in one document. */
  readonly moved: MovedIds;
}

/** Ids of one kind of moved documents. */
export interface MovedIds {
  readonly of: 'contribution' | 'composition' | 'tag';
  readonly ids: readonly string[];
}

/** Kind of an archive document. */
export type ArchiveKind = keyof ArchiveBodies;

/** One document of the archive of a reversible merge (fields: docs/spec/storage.md#other-collections). */
export interface ArchiveDoc<K extends ArchiveKind = ArchiveKind> {
  readonly _id: string;
  readonly merge_id: string;
  readonly kind: K;
  readonly body: ArchiveBodies[K];
}

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeArchive]: ArchiveDoc;
  }
}

/** Ids in one document of kind `moved`: far below the 16 MB of a document. */
export const MOVED_IDS = 10_000;

/** Archived versions that one answer of the database holds. */
const READ_STEP = 20;

const MergeArchive = collection(COLLECTIONS.mergeArchive, {
  _id: text,
  merge_id: text,
  kind: oneOf<ArchiveKind>(),
  body: opaque<ArchiveBodies[ArchiveKind]>(),
});

/** An archive document; `part` distinguishes those of one merge and kind. */
export function archiveDoc<K extends ArchiveKind>(
  mergeId: string,
  kind: K,
  part: string | number,
  body: ArchiveBodies[K],
): ArchiveDoc<K> {
  return { _id: `${mergeId}:${kind}:${part}`, merge_id: mergeId, kind, body };
}

/** The bodies of one kind that a merge archived, by id. */
export async function archivedBodies<K extends ArchiveKind>(
  mergeId: string,
  kind: K,
): Promise<ArchiveBodies[K][]> {
  const docs = await MergeArchive.find({ merge_id: mergeId, kind }).sort({ _id: 1 }).exec();
  return docs.map((doc) => doc.body as unknown as ArchiveBodies[K]);
}

/** The archive document of a version. */
export function archivedVersion(mergeId: string, version: VersionDoc): ArchiveDoc<'version'> {
  return archiveDoc(mergeId, 'version', version._id, storedVersion(version));
}

/** The versions that a merge archived, as they are read, in no order: a directory may have had many large ones. */
export async function* archivedVersions(session: ClientSession, mergeId: string): AsyncGenerator<VersionDoc> {
  const filter = { merge_id: mergeId, kind: 'version' } as const;
  const docs = MergeArchive.collection.find<{ body: StoredVersion }>(filter, {
    session,
    batchSize: READ_STEP,
  });
  for await (const { body } of docs) yield versionOf(body);
}

/** The ids that a merge archived as moved. */
export async function archivedMoves(mergeId: string): Promise<Record<MovedIds['of'], string[]>> {
  const moves: Record<MovedIds['of'], string[]> = { contribution: [], composition: [], tag: [] };
  for (const { of, ids } of await archivedBodies(mergeId, 'moved')) moves[of].push(...ids);
  return moves;
}

/** The same ids of one kind in their order, document by document: a patient may have a million. */
export async function* archivedMovesOf(
  mergeId: string,
  of: MovedIds['of'],
): AsyncGenerator<readonly string[]> {
  const parts = `${mergeId}:moved:${of}`;
  // No cursor: what is done with one document may take minutes.
  for (let last = `${parts}:`; ;) {
    const part = await MergeArchive.findOne({ _id: trusted({ $gt: last, $lt: `${parts};` }) })
      .sort({ _id: 1 })
      .exec();
    if (part === null) return;
    yield (part.body as MovedIds).ids;
    last = part._id;
  }
}

/** By object id those of these merges that archived the composition as moved. */
export async function mergesThatMoved(
  mergeIds: readonly string[],
  versionedObjectUids: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>(versionedObjectUids.map((id) => [id, []]));
  if (mergeIds.length === 0 || found.size === 0) return found;
  const ids = [...found.keys()];
  const docs = await MergeArchive.aggregate<{ merge_id: string; ids: string[] }>([
    {
      $match: {
        merge_id: { $in: [...mergeIds] },
        kind: 'moved',
        'body.of': 'composition',
        'body.ids': { $in: ids },
      },
    },
    { $project: { _id: 0, merge_id: 1, ids: { $setIntersection: ['$body.ids', ids] } } },
  ]).exec();
  for (const { merge_id: mergeId, ids: moved } of docs) for (const id of moved) found.get(id)?.push(mergeId);
  return found;
}

/** How many ids of one kind a merge archived as moved. */
export async function movedCount(mergeId: string, of: MovedIds['of']): Promise<number> {
  const [sum] = await MergeArchive.collection
    .aggregate<{ count: number }>([
      { $match: { merge_id: mergeId, kind: 'moved', 'body.of': of } },
      { $group: { _id: null, count: { $sum: { $size: '$body.ids' } } } },
    ])
    .toArray();
  return sum?.count ?? 0;
}

/** How many documents of each kind the archives of merges hold, by merge id. */
export async function archivedKinds(): Promise<Map<string, Readonly<Record<string, number>>>> {
  const groups = await MergeArchive.collection
    .aggregate<{ _id: { merge: string; kind: string }; count: number }>(
      [{ $group: { _id: { merge: '$merge_id', kind: '$kind' }, count: { $sum: 1 } } }],
      { allowDiskUse: true },
    )
    .toArray();
  const kinds = new Map<string, Record<string, number>>();
  for (const { _id, count } of groups) {
    kinds.set(_id.merge, { ...kinds.get(_id.merge), [_id.kind]: count });
  }
  return kinds;
}

/** The write that adds an archive document. */
export function archiveInsert(insert: ArchiveDoc): InsertWrite<'merge_archive'> {
  return { collection: COLLECTIONS.mergeArchive, insert };
}

/** Removes what was archived for a merge that is not going to be. */
export async function removeArchive(mergeId: string): Promise<void> {
  await MergeArchive.collection.deleteMany({ merge_id: mergeId });
}

/** Removes the archives of these merges. */
export function archiveRemoval(mergeIds: readonly string[]): RemoveWrite<'merge_archive'> {
  return { collection: COLLECTIONS.mergeArchive, remove: { merge_id: { $in: mergeIds } } };
}
