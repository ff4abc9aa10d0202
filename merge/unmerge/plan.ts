import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { CHANGE_TYPE, LIFECYCLE, type ChangeType } from '../../change/commit/codes.js';
import type { UpdateEntry, VersionEntry } from '../../change/commit/request.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { MovedBack } from '../../models/merge/moved-back.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { folderOf, withoutCopy } from '../plan/folders.js';
import { isChanged, isSameContent, madeDirectory } from './obstacles.js';
import { contentOf, stateOf } from '../content.js';
import { mergeAudit } from '../plan/plan.js';
import { DRY_RUN, type UnmergeRequest } from '../request.js';
import type { Resolution } from './resolution.js';
import { statusUndo } from './status-undo.js';
import type { MadeVersion, UnmergeSnapshot } from './snapshot.js';

/** Everything an unmerge does, as data. */
export interface UnmergePlan {
  readonly back: MovedBack;
  /** How much that is: compositions with the joined ones. */
  readonly counts: { readonly compositions: number; readonly contributions: number };
  /** Tags that the merge dropped and that can be there again. */
  readonly restoredTags: readonly ItemTagDoc[];
  /** New versions with the content before the merge, in the EHR that owns them afterwards; empty: no CONTRIBUTION. */
  readonly entries: { readonly source: readonly VersionEntry[]; readonly target: readonly VersionEntry[] };
  readonly summary: string;
}

/** Works out an unmerge that nothing stands against any more. Pure. docs/spec/merge.md#unmerge */
export function planUnmerge(
  snapshot: UnmergeSnapshot,
  resolution: Resolution,
  request: UnmergeRequest,
): UnmergePlan {
  const going = goingBack(snapshot, resolution);
  const { back, counts, tags, restoredTags } = going;
  const joins = joinEntries(snapshot, { ...going, ...resolution }, request);
  const directory = planDirectory(snapshot, resolution, request);
  const entries = {
    source: joins.source,
    target: [
      ...joins.target,
      ...(directory.entry === null ? [] : [directory.entry]),
      ...statusEntries(snapshot, request),
    ],
  };
  const superseded = snapshot.droppedTags.length - restoredTags.length;
  const parts = [
    `${counts.compositions - back.joined.length} compositions moved back`,
    `${back.joined.length} separated`,
    `${directory.entry === null ? 0 : 1} folder removed`,
    `${counts.contributions} contributions moved back`,
    `${tags} item tags moved back`,
    `${restoredTags.length} item tags restored`,
    ...(superseded > 0 ? [`${superseded} item tags not restored: written anew since`] : []),
    ...directory.kept.map((what) => `kept at the root of the directory: ${what}`),
    ...leftOut(snapshot, resolution),
  ];
  const summary = (request.dryRun ? DRY_RUN : '') + parts.join(', ');
  return { back, counts, restoredTags, entries, summary };
}

interface GoingBack extends Pick<UnmergePlan, 'back' | 'counts' | 'restoredTags'> {
  /** Those of `taken` that go back. */
  readonly goesBack: ReadonlySet<string>;
  /** How many item tags go along. */
  readonly tags: number;
}

function goingBack(snapshot: UnmergeSnapshot, { kept }: Resolution): GoingBack {
  const { record, taken, counts } = snapshot;
  const isHere = (id: string): boolean => taken.get(id)?.now === 'target';
  const goesBack = new Set([...taken.keys()].filter((id) => isHere(id) && !kept.has(id)));
  const isBack = ({ uid }: { readonly uid: string }): boolean => {
    const id = rootOfUid(uid);
    return goesBack.has(id) || (taken.has(id) && !isHere(id));
  };
  const since = snapshot.since.filter(({ versions }) => versions.every(isBack)).map(({ _id }) => _id);
  const sources = new Set(record.joined.map(({ source }) => source));
  const joined = [...sources].filter((id) => goesBack.has(id));
  const except = new Set([...taken.keys()].filter((id) => !sources.has(id) && !goesBack.has(id)));
  const staying = snapshot.tags.filter(({ target }) => taken.has(target) && !goesBack.has(target));
  const addresses = new Set(snapshot.tags.filter(({ target }) => goesBack.has(target)).map(addressOf));
  return {
    back: { mergeId: record._id, except, joined, since },
    counts: {
      compositions: counts.compositions - except.size + joined.length,
      contributions: counts.contributions + since.length,
    },
    goesBack,
    tags: counts.tags - staying.length,
    restoredTags: snapshot.droppedTags.filter((tag) => !addresses.has(addressOf(tag))),
  };
}

/** In the order in which they were moved. */
function leftOut({ taken }: UnmergeSnapshot, { kept }: Resolution): string[] {
  const inOrder = [...taken].toSorted(([, a], [, b]) => a.place - b.place);
  return inOrder.flatMap(([id, { now }]) => {
    if (now !== 'target')
      return [`left out: composition ${id}, ${now === 'elsewhere' ? 'moved on' : 'erased'} since`];
    return kept.has(id) ? [`kept in the target: composition ${id}`] : [];
  });
}

/** Both compositions of a pair go on with what they held before the merge; no version uid is ever given twice. */
function joinEntries(
  { record, made }: UnmergeSnapshot,
  { goesBack, kept, taken }: Resolution & { readonly goesBack: ReadonlySet<string> },
  request: UnmergeRequest,
): UnmergePlan['entries'] {
  const source: VersionEntry[] = [];
  const target: VersionEntry[] = [];
  for (const pair of record.joined) {
    const mine = made.get(pair.source);
    const theirs = made.get(pair.target);
    if (theirs?.before != null && !kept.has(pair.target))
      target.push(nextVersion(theirs.latest, theirs.before, CHANGE_TYPE.modification, request));
    if (mine?.before == null || mine.latest.data !== null || !goesBack.has(pair.source)) continue;
    const content = (taken.has(pair.target) ? editOf(theirs) : null) ?? mine.before;
    source.push(nextVersion(mine.latest, content, CHANGE_TYPE.creation, request));
  }
  return { source, target };
}

/** What the joined composition holds that the merge did not put there; null: nothing. */
function editOf(joined: MadeVersion | undefined): VersionDoc | null {
  if (joined === undefined || joined.latest.data === null) return null;
  return isSameContent(joined.version, joined.latest) ? null : joined.latest;
}

/** The target's EHR_STATUS without what the merge took from the source. */
function statusEntries(snapshot: UnmergeSnapshot, request: UnmergeRequest): VersionEntry[] {
  const undo = statusUndo(snapshot);
  if (undo === null) return [];
  const { latest } = undo.made;
  return [{ ...nextVersion(latest, latest, CHANGE_TYPE.modification, request), object: undo.object }];
}

interface DirectoryUndo {
  /** null: the directory stays as it is. */
  readonly entry: VersionEntry | null;
  /** What others put into the copied FOLDER, now at the root. */
  readonly kept: readonly string[];
}

/** The target's directory without what the merge put into it. */
function planDirectory(
  snapshot: UnmergeSnapshot,
  { kept }: Resolution,
  request: UnmergeRequest,
): DirectoryUndo {
  const { record, directory } = snapshot;
  if (record.copied_folder_uid === undefined) return { entry: null, kept: [] };
  const made = madeDirectory(snapshot);
  if (made?.before != null && !isChanged(snapshot, made)) {
    const entry = nextVersion(made.latest, made.before, CHANGE_TYPE.modification, request);
    return { entry, kept: [] };
  }
  if (made?.before === null) {
    const isThere = made.latest.data !== null && !kept.has(made.version.object_id);
    return { entry: isThere ? deletionOf(made.latest, request) : null, kept: [] };
  }
  if (directory === null) return { entry: null, kept: [] };
  const found = withoutCopy(directory.root, copiedFolder(made, record.copied_folder_uid));
  if (found === null) return { entry: null, kept: [] };
  return { entry: changedDirectory(directory.container, found.root, request), kept: found.kept };
}

/** The FOLDER as the merge copied it; its uid alone where the directory was erased. */
function copiedFolder(made: MadeVersion | null, uid: string): JsonObject {
  const copied = made === null ? null : folderOf(contentOf(made.version), uid);
  return copied ?? { uid: { value: uid }, name: { value: uid } };
}

function changedDirectory(
  container: VersionedObjectDoc,
  object: JsonObject,
  request: UnmergeRequest,
): VersionEntry {
  return {
    kind: 'update',
    type: 'FOLDER',
    versionedObjectUid: container._id,
    precedingVersionUid: container.latest_version_uid,
    object,
    audit: auditOf(CHANGE_TYPE.modification, request),
    lifecycleState: LIFECYCLE.complete,
  };
}

/** A version after the latest one with the content and state of another. */
function nextVersion(
  latest: VersionDoc,
  content: VersionDoc,
  changeType: ChangeType,
  request: UnmergeRequest,
): UpdateEntry {
  return {
    kind: 'update',
    type: latest.type,
    versionedObjectUid: latest.object_id,
    precedingVersionUid: latest._id,
    object: contentOf(content),
    audit: auditOf(changeType, request),
    lifecycleState: stateOf(content),
  };
}

function deletionOf(latest: VersionDoc, request: UnmergeRequest): VersionEntry {
  return {
    kind: 'delete',
    type: latest.type,
    versionedObjectUid: latest.object_id,
    precedingVersionUid: latest._id,
    staleCode: 'conflict',
    audit: auditOf(CHANGE_TYPE.deleted, request),
    lifecycleState: LIFECYCLE.deleted,
  };
}

function auditOf(changeType: ChangeType, { committer, ...pair }: UnmergeRequest): VersionEntry['audit'] {
  return mergeAudit(changeType, committer, unmergeDescription(pair));
}

/** Description of the CONTRIBUTIONs of an unmerge. */
export function unmergeDescription({
  sourceEhr,
  targetEhr,
}: Pick<UnmergeRequest, 'sourceEhr' | 'targetEhr'>): string {
  return `Unmerge of EHR ${sourceEhr} from ${targetEhr}`;
}

/** What is unique about a tag inside an EHR. */
function addressOf(tag: ItemTagDoc): string {
  return JSON.stringify([tag.target, tag.target_version, tag.key, tag.target_path]);
}
