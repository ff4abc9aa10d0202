import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { contributionOf, type ContributionDoc, type ContributionRefs } from '../../models/contribution.js';
import { ehrBySubject, finalEhrId, releasedSubjects, type EhrDoc } from '../../models/ehr.js';
import { archivedBodies } from '../../models/merge/archive.js';
import { tagsOn, type ItemTagDoc } from '../../models/item-tag.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import {
  anyVersion,
  latestVersions,
  versionsByUid,
  versionsOfContainer,
  type VersionDoc,
} from '../../models/version.js';
import { containersById, ehrStatusContainer, ownersOf } from '../../models/versioned-object.js';
import type { Session } from '../../models/access/write.js';
import { editsSince, isDeletion, listStory, listValue, upgradedFrom } from '../replay/lists.js';
import { statusWithout } from '../replay/status.js';
import { broughtBy, mergeStory, type MergeStory } from '../replay/story.js';
import { directorySnapshot, type DirectorySnapshot } from './directory.js';
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
  readonly subjectHolders: readonly SubjectHolder[];
  /** What the merge made in containers that still exist, by object id. */
  readonly made: ReadonlyMap<string, MadeVersion>;
  /** Object ids that `since` names and that were erased or moved on. */
  readonly erased: ReadonlySet<string>;
  /** Item tags of the target on containers that the merge made or `taken` has. */
  readonly tags: readonly ItemTagDoc[];
  /** Item tags that the merge dropped. */
  readonly droppedTags: readonly ItemTagDoc[];
  readonly directory: DirectorySnapshot;
  /** The merges around the target. */
  readonly story: MergeStory;
  /** What joined COMPOSITIONs of the target hold without the merge, by object id. */
  readonly lists: ReadonlyMap<string, JoinedUndo>;
  /** CONTRIBUTIONs of upgrades of data that wrote joined COMPOSITIONs of the target. */
  readonly upgrades: ReadonlySet<string>;
  /** The target's EHR_STATUS without the merge; null: it stays as it is. */
  readonly status: StatusUndo | null;
  /** Of the objects that `apart` of merges names those that the target has and are not deleted. */
  readonly live: ReadonlySet<string>;
  /** And those that another EHR has: the merge that brought them was taken back. */
  readonly elsewhere: ReadonlySet<string>;
  /** By object id the merges that stand and brought one of these to the target, oldest first; but for those that it was moved on from. */
  readonly broughtBy: ReadonlyMap<string, readonly string[]>;
}

/** Another EHR has a subject that an unmerge gives back. */
interface SubjectHolder {
  /** To which it belongs. */
  readonly ehrId: string;
  readonly holder: string;
  /** true: a merge made since reserved it. */
  readonly isMerged: boolean;
}

/** The EHR_STATUS that an unmerge gives back to the target. */
interface StatusUndo {
  readonly latest: VersionDoc;
  readonly object: JsonObject;
}

/** What becomes of a joined COMPOSITION of the target. */
interface JoinedUndo {
  /** VERSIONs that persons made since. */
  readonly edits: readonly string[];
  /** What the last of them left, as upgrades made it; null: none, or a deletion. */
  readonly edited: VersionDoc | null;
  /** What it holds without the merge and them; null: nothing. */
  readonly before: VersionDoc | null;
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
  const story = await mergeStory(session, target._id);
  const moved = await movedOf(session, { record, made, story });
  const versions = await madeVersions(madeUids, target._id);
  return {
    ...moved,
    record,
    target,
    targetMergedInto: target.state === 'merged' ? await finalEhrId(target) : null,
    source: source ?? null,
    subjectHolders: await subjectHolders(source, record),
    made: versions,
    erased: await goneAmong(moved.since, target._id),
    tags: await tagsOn(session, target._id, [...new Set([...moved.taken.keys(), ...made])]),
    droppedTags: await archivedBodies(record._id, 'tag'),
    directory: await directorySnapshot(record, story),
    story,
    ...(await joinedUndos(record, story, versions)),
    status: await statusUndo(record, story, versions.has(target.ehr_status_id)),
    ...(await placesOf(target._id, story)),
  };
}

async function joinedUndos(
  record: MergeRecordDoc,
  story: MergeStory,
  made: UnmergeSnapshot['made'],
): Promise<Pick<UnmergeSnapshot, 'lists' | 'upgrades'>> {
  const targets = record.joined.map(({ target }) => target).filter((id) => made.has(id));
  const lists = await listStory(record.target_ehr, story, targets);
  const found = new Map<string, JoinedUndo>();
  for (const id of targets) {
    const heads = editsSince(lists, id, made.get(id)?.version.version ?? Infinity);
    const edits = heads.map(({ _id }) => _id);
    const last = heads.at(-1);
    const value = listValue(lists, id, { mergeId: record._id, taken: new Set(edits) });
    found.set(id, {
      edits,
      edited: last === undefined || isDeletion(last) ? null : await anyVersion(upgradedFrom(lists, last)),
      before: value === null ? null : await anyVersion(value.versionUid),
    });
  }
  return { lists: found, upgrades: lists.upgrades };
}

async function statusUndo(
  record: MergeRecordDoc,
  story: MergeStory,
  madeStatus: boolean,
): Promise<StatusUndo | null> {
  if (record.status_taken === undefined && !madeStatus) return null;
  const container = await ehrStatusContainer(record.target_ehr);
  if (container === null) return null;
  const versions = await versionsOfContainer(record.target_ehr, container._id);
  const object = statusWithout(versions, story, record._id);
  const latest = versions.at(-1);
  return object === null || latest === undefined ? null : { latest, object };
}

/** Where the lists are now that merges left apart, and how they came there. */
async function placesOf(
  ehrId: string,
  { into }: MergeStory,
): Promise<Pick<UnmergeSnapshot, 'live' | 'elsewhere' | 'broughtBy'>> {
  const apart = into.flatMap(({ apart: left = [] }) => left);
  const ids = [...new Set(apart.flatMap(({ source, targets }) => [source, ...targets]))];
  const containers = await containersById(ids);
  const own = containers.filter(({ ehr_id: owner }) => owner === ehrId);
  const others = containers.filter(({ ehr_id: owner }) => owner !== ehrId);
  const brought = [...(await broughtBy(into, ids))].map(([id, merges]): [string, string[]] => {
    const standing = merges.filter(({ moved_on: on = [] }) => !on.includes(id));
    return [id, standing.map(({ _id }) => _id)];
  });
  return {
    live: new Set(own.flatMap(({ _id, deleted }) => (deleted ? [] : [_id]))),
    elsewhere: new Set(others.map(({ _id }) => _id)),
    broughtBy: new Map(brought),
  };
}

async function madeVersions(
  made: ContributionDoc['versions'],
  target: string,
): Promise<Map<string, MadeVersion>> {
  const containers = await containersById(made.map(({ uid }) => rootOfUid(uid)));
  const present = containers.filter(({ ehr_id: owner }) => owner === target);
  const latest = await latestVersions(present);
  const own = await versionsByUid(made.map(({ uid }) => uid));
  const preceding = await versionsByUid(own.flatMap((version) => version.preceding_version_uid ?? []));
  const versions = new Map([...preceding, ...own].map((version) => [version._id, version]));
  const found = new Map<string, MadeVersion>();
  for (const { uid } of made) {
    const now = latest.get(rootOfUid(uid));
    const version = versions.get(uid);
    if (now === undefined || version === undefined) continue;
    const before = versions.get(version.preceding_version_uid ?? '') ?? null;
    found.set(version.object_id, { before, version, latest: now });
  }
  return found;
}

async function subjectHolders(
  source: EhrDoc | undefined,
  record: MergeRecordDoc,
): Promise<UnmergeSnapshot['subjectHolders']> {
  const own = source?.subject === undefined ? [] : [{ ehrId: source._id, subject: source.subject }];
  const found: SubjectHolder[] = [];
  const inner = await releasedSubjects(record.source_ehr);
  const goBack = new Set([record.source_ehr, ...inner.map(({ ehrId }) => ehrId)]);
  for (const { ehrId, subject } of [...own, ...inner]) {
    const holder = subject === null ? null : await ehrBySubject(subject);
    if (holder !== null && !goBack.has(holder._id))
      found.push({ ehrId, holder: holder._id, isMerged: holder.state === 'merged' });
  }
  return found;
}

async function goneAmong(contributions: readonly ContributionRefs[], ehrId: string): Promise<Set<string>> {
  const named = new Set(contributions.flatMap(({ versions }) => versions.map(({ uid }) => rootOfUid(uid))));
  const owners = await ownersOf([...named]);
  return new Set([...named].filter((id) => owners.get(id) !== ehrId));
}
