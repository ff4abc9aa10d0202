import type { JsonObject } from '../openehr/base/json.js';
import { parseObjectVersionId, rootOfUid } from '../openehr/base/object-version-id.js';
import { mergedMessage, notModifiable } from '../change/commit/refusal.js';
import type { ContributionDoc, ContributionRefs } from '../models/contribution.js';
import type { EhrDoc } from '../models/ehr.js';
import type { ItemTagDoc } from '../models/item-tag.js';
import type { MergeRecordDoc } from '../models/merge-record.js';
import type { VersionedObjectDoc } from '../models/versioned-object.js';
import { withoutFolder } from './folders.js';
import { DRY_RUN } from './request.js';

/** What an unmerge looks at. */
export interface UnmergeSnapshot {
  readonly record: MergeRecordDoc;
  readonly target: EhrDoc;
  /** Where the target itself was merged into; null while it is active. */
  readonly targetMergedInto: string | null;
  /** The source's EHR document before the merge; null when nothing was archived. */
  readonly source: EhrDoc | null;
  /** EHR that has the source's subject now, the source's tombstone apart; null when none has. */
  readonly subjectHolder: string | null;
  /** Ids that the merge moved; compositions without the joined ones. */
  readonly moved: { readonly contributions: readonly string[]; readonly compositions: readonly string[] };
  /** Containers of the target, by id, as far as the merge moved, joined or made them and they still exist. */
  readonly containers: ReadonlyMap<string, VersionedObjectDoc>;
  /** The versions that the merge made, in the order of its CONTRIBUTION. */
  readonly made: ContributionDoc['versions'];
  /** CONTRIBUTIONs of the target beside the moved ones and the merge's own that name objects of the merge. */
  readonly since: readonly ContributionRefs[];
  /** Item tags of the target on moved and joined containers. */
  readonly tags: readonly ItemTagDoc[];
  /** Item tags that the merge dropped. */
  readonly droppedTags: readonly ItemTagDoc[];
  /** Live directory of the target with its root. */
  readonly directory: { readonly container: VersionedObjectDoc; readonly root: JsonObject } | null;
}

/** What becomes of the target's directory. */
type DirectoryUndo =
  | { readonly kind: 'none' }
  /** The merge's version is still the latest, so it goes, with its container if that was made too. */
  | { readonly kind: 'remove'; readonly versionUid: string }
  /** It went on, so a further version is made without the copied FOLDER. */
  | { readonly kind: 'replace'; readonly container: VersionedObjectDoc; readonly root: JsonObject };

/** Everything an unmerge does, as data. */
export interface UnmergePlan {
  readonly contributions: readonly string[];
  /** Object ids that go back, joined ones of the source included. */
  readonly compositions: readonly string[];
  readonly tags: readonly string[];
  readonly restoredTags: readonly ItemTagDoc[];
  /** Versions made by the merge that go. */
  readonly removedVersions: readonly string[];
  /** What remains in the merge's CONTRIBUTION; empty: it goes. */
  readonly remaining: ContributionDoc['versions'];
  readonly directory: DirectoryUndo;
  readonly summary: string;
}

/** All reasons why a merge cannot be undone; none: it can. Pure. docs/spec/merge.md#reasons-against-an-unmerge */
export function unmergeReasons(snapshot: UnmergeSnapshot): string[] {
  const { record, target, targetMergedInto, source, subjectHolder } = snapshot;
  const reasons: string[] = [];
  if (!record.reversible || source === null) reasons.push('the merge was not reversible');
  if (targetMergedInto !== null) return [...reasons, mergedMessage(target._id, targetMergedInto)];
  reasons.push(...joinReasons(snapshot), ...directoryReasons(snapshot), ...contributionReasons(snapshot));
  if (subjectHolder !== null) reasons.push(`the subject of the source is now used by EHR ${subjectHolder}`);
  if (!target.is_modifiable) reasons.push(notModifiable(target._id).message);
  return reasons;
}

/** Joined compositions must be what the merge made of them. */
function joinReasons(snapshot: UnmergeSnapshot): string[] {
  return snapshot.record.joined
    .flatMap(({ source, target }) => [source, target])
    .flatMap((versionedObjectUid) => {
      const made = snapshot.made.find(({ uid }) => rootOfUid(uid) === versionedObjectUid)?.uid;
      const container = snapshot.containers.get(versionedObjectUid);
      const name = `the joined composition ${versionedObjectUid}`;
      if (container === undefined) return [`${name} was erased since`];
      if (made === undefined || isChanged(snapshot, made)) return [`${name} was changed since`];
      if (snapshot.tags.some((tag) => isTagOf(tag, made)))
        return [`the version ${made} of ${name} has item tags`];
      return [];
    });
}

/** A directory made by the merge goes as a whole, which must not lose anything. */
function directoryReasons(snapshot: UnmergeSnapshot): string[] {
  const made = snapshot.record.directory_version_uid;
  if (made === undefined || !isFirst(made) || !snapshot.containers.has(rootOfUid(made))) return [];
  return isChanged(snapshot, made) ? ['the directory that the merge created was changed since'] : [];
}

/** A CONTRIBUTION cannot be in two EHRs. */
function contributionReasons(snapshot: UnmergeSnapshot): string[] {
  const goesBack = backIds(snapshot);
  return snapshot.since
    .filter(({ versions }) => {
      const back = versions.filter(({ uid }) => goesBack.has(rootOfUid(uid))).length;
      return back > 0 && back < versions.length;
    })
    .map(({ _id }) => `CONTRIBUTION ${_id}, made since, holds versions of moved objects and of others`);
}

/** Whether the container went on after this version of the merge, or something was attested to the version. */
function isChanged({ containers, since }: UnmergeSnapshot, versionUid: string): boolean {
  const latest = containers.get(rootOfUid(versionUid))?.latest_version_uid;
  return (
    latest !== versionUid || since.some(({ versions }) => versions.some(({ uid }) => uid === versionUid))
  );
}

/** Works out an unmerge that nothing stands against. Pure. */
export function planUnmerge(snapshot: UnmergeSnapshot, isDryRun: boolean): UnmergePlan {
  const { record, containers, moved, made } = snapshot;
  const goesBack = backIds(snapshot);
  const since = snapshot.since.filter(({ versions }) =>
    versions.every(({ uid }) => goesBack.has(rootOfUid(uid))),
  );
  const directory = planDirectory(snapshot);
  const removedVersions = made
    .filter(({ type }) => type === 'COMPOSITION' || directory.kind === 'remove')
    .map(({ uid }) => uid);
  const tags = snapshot.tags.filter((tag) => goesBack.has(tag.target));
  const addresses = new Set(tags.map(addressOf));
  const restoredTags = snapshot.droppedTags.filter((tag) => !addresses.has(addressOf(tag)));
  const plan = {
    contributions: [...moved.contributions, ...since.map(({ _id }) => _id)],
    compositions: [...goesBack].filter((versionedObjectUid) => containers.has(versionedObjectUid)),
    tags: tags.map(({ _id }) => _id),
    restoredTags,
    removedVersions,
    remaining: made.filter(
      ({ uid, type }) => type === 'FOLDER' && !removedVersions.includes(uid) && isKept(snapshot, uid),
    ),
    directory,
  };
  const erased = moved.compositions.filter((versionedObjectUid) => !containers.has(versionedObjectUid));
  const superseded = snapshot.droppedTags.length - restoredTags.length;
  const parts = [
    `${plan.compositions.length - record.joined.length} compositions moved back`,
    `${record.joined.length} separated`,
    `${directory.kind === 'none' ? 0 : 1} folder removed`,
    `${plan.contributions.length} contributions moved back`,
    `${plan.tags.length} item tags moved back`,
    `${restoredTags.length} item tags restored`,
    ...(superseded > 0 ? [`${superseded} item tags not restored: written anew since`] : []),
    ...erased.map((versionedObjectUid) => `left out: composition ${versionedObjectUid}, erased since`),
  ];
  return { ...plan, summary: (isDryRun ? DRY_RUN : '') + parts.join(', ') };
}

function planDirectory(snapshot: UnmergeSnapshot): DirectoryUndo {
  const { record, containers, directory } = snapshot;
  const { directory_version_uid: made, copied_folder_uid: folderUid } = record;
  if (made === undefined || folderUid === undefined) return { kind: 'none' };
  if (containers.has(rootOfUid(made)) && !isChanged(snapshot, made))
    return { kind: 'remove', versionUid: made };
  const root = directory === null ? null : withoutFolder(directory.root, folderUid);
  if (directory === null || root === null) return { kind: 'none' };
  return { kind: 'replace', container: directory.container, root };
}

/** Whether the version of the directory still exists. */
function isKept({ containers }: UnmergeSnapshot, versionUid: string): boolean {
  return containers.has(rootOfUid(versionUid));
}

/** Containers that leave the target, erased ones included. */
function backIds({ record, moved }: UnmergeSnapshot): Set<string> {
  return new Set([...moved.compositions, ...record.joined.map(({ source }) => source)]);
}

function isFirst(versionUid: string): boolean {
  return parseObjectVersionId(versionUid)?.version === 1;
}

function isTagOf(tag: ItemTagDoc, versionUid: string): boolean {
  const id = parseObjectVersionId(versionUid);
  return tag.target === id?.versionedObjectUid && tag.target_version === id.version;
}

/** What is unique about a tag inside an EHR. */
function addressOf(tag: ItemTagDoc): string {
  return JSON.stringify([tag.target, tag.target_version, tag.key, tag.target_path]);
}
