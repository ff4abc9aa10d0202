import type { JsonObject } from '../../openehr/base/json.js';
import {
  formatObjectVersionId,
  parseObjectVersionId,
  rootOfUid,
} from '../../openehr/base/object-version-id.js';
import { contributionOf, type ContributionDoc, type ContributionRefs } from '../../models/contribution.js';
import { ehrBySubject, finalEhrId, releasedSubjects, type EhrDoc } from '../../models/ehr.js';
import { archivedBodies } from '../../models/merge/archive.js';
import { undoneMergesOf } from '../../models/merge/history.js';
import { tagsOn, type ItemTagDoc } from '../../models/item-tag.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import { latestVersions, versionsByUid, type VersionDoc } from '../../models/version.js';
import {
  containersById,
  liveDirectory,
  ownersOf,
  type VersionedObjectDoc,
} from '../../models/versioned-object.js';
import type { Session } from '../../models/access/write.js';
import { contentOf } from '../content.js';
import { movedOf, type Moved } from './moved.js';

/** A version that the merge made, what stood before it, and what stands now. */
export interface MadeVersion {
  /** null: the merge made the container. */
  readonly before: VersionDoc | null;
  readonly version: VersionDoc;
  readonly latest: VersionDoc;
}

/** What an unmerge looks at. */
export interface UnmergeSnapshot extends Moved {
  readonly record: MergeRecordDoc;
  readonly target: EhrDoc;
  /** Where the target itself was merged into; null while it is active. */
  readonly targetMergedInto: string | null;
  /** The source's EHR document before the merge; null when nothing was archived. */
  readonly source: EhrDoc | null;
  /** Subjects of the source, and of EHRs that had been merged into it, which other EHRs have now. */
  readonly subjectHolders: readonly { readonly ehrId: string; readonly holder: string }[];
  /** What the merge made in containers that still exist, by object id. */
  readonly made: ReadonlyMap<string, MadeVersion>;
  /** Object ids that `since` names and that were erased or moved on. */
  readonly erased: ReadonlySet<string>;
  /** Item tags of the target on containers that the merge made or `taken` has. */
  readonly tags: readonly ItemTagDoc[];
  /** Item tags that the merge dropped. */
  readonly droppedTags: readonly ItemTagDoc[];
  /** Live directory of the target with its root. */
  readonly directory: { readonly container: VersionedObjectDoc; readonly root: JsonObject } | null;
}

/** Reads what an unmerge looks at, in the caller's transaction. */
export async function unmergeSnapshot(
  session: Session,
  record: MergeRecordDoc,
  target: EhrDoc,
): Promise<UnmergeSnapshot> {
  const [source] = await archivedBodies(record._id, 'ehr');
  const contribution = await contributionOf(target._id, record.contribution_uid ?? '');
  const madeUids = contribution?.versions ?? [];
  const made = new Set(madeUids.map(({ uid }) => rootOfUid(uid)));
  const moved = await movedOf(session, { record, made, over: await ofMerges(session, record) });
  return {
    ...moved,
    record,
    target,
    targetMergedInto: target.state === 'merged' ? await finalEhrId(target) : null,
    source: source ?? null,
    subjectHolders: await subjectHolders(source, record),
    made: await madeVersions(madeUids, target._id),
    erased: await goneAmong(moved.since, target._id),
    tags: await tagsOn(session, target._id, [...new Set([...moved.taken.keys(), ...made])]),
    droppedTags: await archivedBodies(record._id, 'tag'),
    directory: await directoryOf(target._id),
  };
}

/** CONTRIBUTIONs that this merge made, and that others made which were taken back: together they changed nothing. */
async function ofMerges(session: Session, record: MergeRecordDoc): Promise<ReadonlySet<string>> {
  const over = await undoneMergesOf(record.target_ehr, { session });
  return new Set([
    ...[record, ...over].flatMap(({ contribution_uid: uid }) => (uid === undefined ? [] : [uid])),
    ...over.flatMap(({ undone }) => undone.contribution_uids),
  ]);
}

async function madeVersions(
  made: ContributionDoc['versions'],
  target: string,
): Promise<Map<string, MadeVersion>> {
  const containers = await containersById(made.map(({ uid }) => rootOfUid(uid)));
  const present = containers.filter(({ ehr_id: owner }) => owner === target);
  const latest = await latestVersions(present);
  const uids = made.flatMap(({ uid }) => [uid, versionUidBefore(uid) ?? uid]);
  const versions = new Map((await versionsByUid(uids)).map((version) => [version._id, version]));
  const found = new Map<string, MadeVersion>();
  for (const { uid } of made) {
    const now = latest.get(rootOfUid(uid));
    const version = versions.get(uid);
    if (now === undefined || version === undefined) continue;
    const before = versions.get(versionUidBefore(uid) ?? '') ?? null;
    found.set(version.object_id, { before, version, latest: now });
  }
  return found;
}

function versionUidBefore(versionUid: string): string | null {
  const id = parseObjectVersionId(versionUid);
  return id === null || id.version === 1 ? null : formatObjectVersionId({ ...id, version: id.version - 1 });
}

async function subjectHolders(
  source: EhrDoc | undefined,
  record: MergeRecordDoc,
): Promise<UnmergeSnapshot['subjectHolders']> {
  const own = source?.subject === undefined ? [] : [{ ehrId: source._id, subject: source.subject }];
  const found: { ehrId: string; holder: string }[] = [];
  const inner = await releasedSubjects(record.source_ehr);
  const goBack = new Set([record.source_ehr, ...inner.map(({ ehrId }) => ehrId)]);
  for (const { ehrId, subject } of [...own, ...inner]) {
    const holder = subject === null ? null : await ehrBySubject(subject);
    if (holder !== null && !goBack.has(holder._id)) found.push({ ehrId, holder: holder._id });
  }
  return found;
}

async function goneAmong(contributions: readonly ContributionRefs[], ehrId: string): Promise<Set<string>> {
  const named = new Set(contributions.flatMap(({ versions }) => versions.map(({ uid }) => rootOfUid(uid))));
  const owners = await ownersOf([...named]);
  return new Set([...named].filter((id) => owners.get(id) !== ehrId));
}

async function directoryOf(ehrId: string): Promise<UnmergeSnapshot['directory']> {
  const container = await liveDirectory(ehrId);
  if (container === null) return null;
  const version = (await latestVersions([container])).get(container._id);
  return version === undefined ? null : { container, root: contentOf(version) };
}
