import { formatObjectVersionId, parseObjectVersionId } from '../openehr/base/object-version-id.js';
import { writeContribution } from '../change/commit/commit.js';
import type { CommitRequest } from '../change/commit/request.js';
import type { EhrDoc } from '../models/ehr.js';
import { COLLECTIONS } from '../models/layout.js';
import { archivedBodies } from '../models/merge-archive.js';
import { anyVersion, inSteps, moveDocuments, type Move } from '../models/merge-content.js';
import { removalWrites } from '../models/removal.js';
import { recomputedDocuments } from '../models/recompute.js';
import type { VersionDoc } from '../models/version.js';
import { runWrites, type Write } from '../models/write-batch.js';
import { rederiveDuringReindex } from './rederive.js';
import type { MergeContext } from './request.js';
import type { Session } from './transaction.js';
import type { UnmergePlan, UnmergeSnapshot } from './unmerge-plan.js';

/** An unmerge ready to be written. */
export interface PlannedUnmerge {
  readonly snapshot: UnmergeSnapshot;
  readonly plan: UnmergePlan;
  /** A new version of the target's directory; null when none is needed. */
  readonly commit: CommitRequest | null;
}

/** Writes of one command: a restored version may have megabytes. */
const STEP = 100;

/**
 * Writes an unmerge inside the caller's transaction, in which both EHRs are held.
 * @throws CdrError of the commit; Error when the database does not hold what was planned with
 */
export async function undoMerge(
  session: Session,
  context: MergeContext,
  unmerge: PlannedUnmerge,
): Promise<void> {
  const { snapshot, plan, commit } = unmerge;
  const { record, source } = snapshot;
  if (source === null) throw new TypeError('an unmerge needs the archive of the merge');
  await removeMadeVersions(session, unmerge);
  await moveBack(session, unmerge, source);
  const moved = {
    ehrId: source._id,
    isQueryable: source.is_queryable,
    versionedObjectUids: plan.compositions,
  };
  await rederiveDuringReindex(session, moved, context.change.settings.aql.leafIndex);
  await reviveSource(session, source);
  await restoreEnded(session, context, { mergeId: record._id, source });
  await insertAll(session, COLLECTIONS.itemTags, plan.restoredTags);
  const forget: Write[] = [
    { collection: COLLECTIONS.mergeArchive, remove: { merge_id: record._id } },
    { collection: COLLECTIONS.mergeRecords, remove: { _id: record._id } },
  ];
  await runWrites(session, forget);
  if (commit !== null) await writeContribution(session, context.change, commit);
}

/** The chains of joined compositions and of the directory end where they ended before the merge. */
async function removeMadeVersions(session: Session, { snapshot, plan }: PlannedUnmerge): Promise<void> {
  const { record, target } = snapshot;
  for (const versionUid of plan.removedVersions) await removeLatest(session, target._id, versionUid);
  await runWrites(session, removalNotes(snapshot, plan));
  if (record.contribution_uid === undefined) return;
  const its = { _id: record.contribution_uid, ehr_id: target._id };
  const collection = COLLECTIONS.contributions;
  if (plan.remaining.length === 0) await runWrites(session, [{ collection, remove: its }]);
  else {
    const update = { $set: { versions: plan.remaining } };
    await runRequired(session, [{ collection, filter: its, update, matching: 'one' }]);
  }
}

/** Sealed records go or change: `verify` must not take that for tampering. */
function removalNotes({ record, made }: UnmergeSnapshot, plan: UnmergePlan): Write[] {
  const { contributions, versions } = COLLECTIONS;
  const note = { reason: 'unmerge', kind: 'removed' } as const;
  const uid = record.contribution_uid;
  const ids = uid === undefined ? [] : [uid];
  return [
    ...removalWrites({ ...note, collection: versions, ids: plan.removedVersions }),
    ...(plan.remaining.length === 0
      ? removalWrites({ ...note, collection: contributions, ids })
      : removalWrites({ ...note, kind: 'shortened', collection: contributions, ids, versions: made })),
  ];
}

async function removeLatest(session: Session, ehrId: string, versionUid: string): Promise<void> {
  const id = parseObjectVersionId(versionUid);
  if (id === null) throw new TypeError(`${versionUid} is no version uid`);
  const removals: Write[] = [
    { collection: COLLECTIONS.aql, remove: { _id: versionUid, ehr: ehrId } },
    { collection: COLLECTIONS.versions, remove: { _id: versionUid, ehr_id: ehrId } },
  ];
  await runWrites(session, removals);
  if (id.version === 1) {
    const { versionedObjectUid } = id;
    const container = { _id: versionedObjectUid, ehr_id: ehrId };
    await runWrites(session, [{ collection: COLLECTIONS.versionedObjects, remove: container }]);
    const filter = { _id: ehrId, directory_id: versionedObjectUid };
    const update = { $unset: { directory_id: 1 } };
    await runRequired(session, [{ collection: COLLECTIONS.ehrs, filter, update, matching: 'one' }]);
    return;
  }
  const before = await anyVersion(formatObjectVersionId({ ...id, version: id.version - 1 }));
  if (before === null) throw new Error(`there is no version before ${versionUid}`);
  await runRequired(session, latestAgain(ehrId, before, versionUid));
}

/** A version that merges may follow has content, so it has a derived document. */
function latestAgain(ehrId: string, version: VersionDoc, removedUid: string): Write[] {
  const latest = {
    latest_version: version.version,
    latest_version_uid: version._id,
    latest_time_committed: version.time_committed,
    deleted: false,
  };
  return [
    {
      collection: COLLECTIONS.versionedObjects,
      filter: { _id: version.object_id, ehr_id: ehrId, latest_version_uid: removedUid },
      update: { $set: latest },
      matching: 'one',
    },
    {
      collection: COLLECTIONS.aql,
      filter: { _id: version._id, ehr: ehrId },
      update: { $set: { latest: true }, $unset: { to: 1 } },
      matching: 'any',
    },
  ];
}

async function moveBack(session: Session, { snapshot, plan }: PlannedUnmerge, source: EhrDoc): Promise<void> {
  const place = { from: snapshot.target._id, to: source._id };
  const move = (
    collection: Move['collection'],
    rest: Pick<Move, 'owner' | 'among' | 'set'>,
  ): Promise<number> => moveDocuments(session, { collection, ...place, ...rest });
  const among = (field: string, ids: readonly string[]): Pick<Move, 'among'> => ({ among: { field, ids } });
  const { contributions, compositions, tags } = plan;
  const moved = await move(COLLECTIONS.contributions, { owner: 'ehr_id', ...among('_id', contributions) });
  const found = await move(COLLECTIONS.versionedObjects, { owner: 'ehr_id', ...among('_id', compositions) });
  await move(COLLECTIONS.versions, { owner: 'ehr_id', ...among('object_id', compositions) });
  const set = { q: source.is_queryable };
  await move(COLLECTIONS.aql, { owner: 'ehr', ...among('vo', compositions), set });
  await move(COLLECTIONS.itemTags, { owner: 'owner_id', ...among('_id', tags) });
  if (moved !== contributions.length || found !== compositions.length)
    throw new Error(
      `${moved} contributions and ${found} compositions could be moved back, others are missing`,
    );
}

/** The tombstone becomes the EHR again, as it was; `write_seq` only ever grows. */
async function reviveSource(session: Session, source: EhrDoc): Promise<void> {
  const { _id } = source;
  const fields = Object.fromEntries(
    Object.entries(source).filter(([name]) => name !== '_id' && name !== 'write_seq'),
  );
  await runRequired(session, [
    {
      collection: COLLECTIONS.ehrs,
      filter: { _id, state: 'merged' },
      update: { $set: fields, $unset: { merged_into: 1, merge_id: 1 } },
      matching: 'one',
    },
  ]);
}

/** EHR_STATUS and directories with all versions, and what AQL reads of them: shapes are never removed. */
async function restoreEnded(
  session: Session,
  context: MergeContext,
  { mergeId, source }: { readonly mergeId: string; readonly source: EhrDoc },
): Promise<void> {
  const containers = await archivedBodies(mergeId, 'container');
  await insertAll(session, COLLECTIONS.versionedObjects, containers);
  const archived = await archivedBodies(mergeId, 'version');
  await insertAll(session, COLLECTIONS.versions, archived);
  const ids = archived.map(({ _id }) => _id);
  const back = { kind: 'restored', reason: 'unmerge', collection: COLLECTIONS.versions, ids } as const;
  await runWrites(session, removalWrites(back));
  const input = { isQueryable: source.is_queryable, leafIndex: context.change.settings.aql.leafIndex };
  for (const { _id: versionedObjectUid } of containers) {
    const versions = archived.filter((version) => version.object_id === versionedObjectUid);
    versions.sort((one, other) => one.version - other.version);
    await insertAll(session, COLLECTIONS.aql, recomputedDocuments(versions, input).documents);
  }
}

async function insertAll(
  session: Session,
  collection: Write['collection'],
  docs: readonly object[],
): Promise<void> {
  for (const part of inSteps(docs, STEP)) {
    await runWrites(
      session,
      part.map((insert) => ({ collection, insert })),
    );
  }
}

async function runRequired(session: Session, writes: readonly Write[]): Promise<void> {
  if (!(await runWrites(session, writes)))
    throw new Error('an unmerge found something else than was archived');
}
