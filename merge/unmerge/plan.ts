import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { CHANGE_TYPE, LIFECYCLE, type ChangeType } from '../../change/commit/codes.js';
import type { UpdateEntry, VersionEntry } from '../../change/commit/request.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { JoinedPair } from '../../models/merge/record.js';
import type { MovedBack } from '../../models/merge/moved-back.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { folderOf, withoutCopy, withoutRoot } from '../plan/folders.js';
import { madeDirectory } from './obstacles.js';
import { contentOf, isSameContent, stateOf } from '../content.js';
import { mergeAudit } from '../plan/plan.js';
import { DRY_RUN, type UnmergeRequest } from '../request.js';
import type { Resolution } from './resolution.js';
import type { MadeVersion, UnmergeSnapshot } from './snapshot.js';

/** Everything an unmerge does, as data. */
export interface UnmergePlan {
  readonly back: MovedBack;
  /** Object ids of what the merge brought and the target keeps, as somebody chose. */
  readonly left: readonly string[];
  /** How much goes back: compositions with the joined ones. */
  readonly counts: { readonly compositions: number; readonly contributions: number };
  /** Tags that the merge dropped and that can be there again. */
  readonly restoredTags: readonly ItemTagDoc[];
  /** New versions with the content before the merge, in the EHR that owns them afterwards; empty: no CONTRIBUTION. */
  readonly entries: { readonly source: readonly VersionEntry[]; readonly target: readonly VersionEntry[] };
  /** What was chosen, for the record: object ids that stay as they are, and VERSIONs whose content goes to the source. */
  readonly chosen: { readonly kept: readonly string[]; readonly taken: readonly string[] };
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
  const taken = [...snapshot.lists].flatMap(([id, { edits }]) => (resolution.taken.has(id) ? edits : []));
  const chosen = { kept: [...resolution.kept], taken };
  return { back, left: going.left, counts, restoredTags, entries, chosen, summary };
}

interface GoingBack extends Pick<UnmergePlan, 'back' | 'left' | 'counts' | 'restoredTags'> {
  /** Those of `taken` that go back. */
  readonly goesBack: ReadonlySet<string>;
  /** How many item tags go along. */
  readonly tags: number;
}

function goingBack(snapshot: UnmergeSnapshot, { kept }: Resolution): GoingBack {
  const { record, taken, counts, movedOn } = snapshot;
  const isHere = (id: string): boolean => taken.get(id)?.now === 'target';
  const goesBack = new Set([...taken.keys()].filter((id) => isHere(id) && !kept.has(id)));
  const isBack = ({ uid }: { readonly uid: string }): boolean => {
    const id = rootOfUid(uid);
    return goesBack.has(id) || (taken.has(id) ? !isHere(id) : movedOn.has(id) && snapshot.erased.has(id));
  };
  const since = snapshot.since.filter(({ versions }) => versions.every(isBack)).map(({ _id }) => _id);
  const sources = new Set(record.joined.map(({ source }) => source));
  const joined = [...sources].filter((id) => goesBack.has(id));
  const except = new Set([...taken.keys()].filter((id) => !sources.has(id) && !goesBack.has(id)));
  const staying = snapshot.tags.filter(({ target }) => taken.has(target) && !goesBack.has(target));
  const addresses = new Set(snapshot.tags.filter(({ target }) => goesBack.has(target)).map(addressOf));
  return {
    back: {
      mergeId: record._id,
      except: new Set([...except, ...movedOn.keys(), ...snapshot.staying]),
      joined,
      since,
    },
    left: [...taken.keys()].filter((id) => isHere(id) && kept.has(id)),
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
function leftOut({ taken, movedOn }: UnmergeSnapshot, { kept }: Resolution): string[] {
  const notBack = [...taken].flatMap(([id, { place, now }]): (readonly [number, string])[] => {
    if (now !== 'target')
      return [[place, `left out: composition ${id}, ${now === 'elsewhere' ? 'moved on' : 'erased'} since`]];
    return kept.has(id) ? [[place, `kept in the target: composition ${id}`]] : [];
  });
  const others = [...movedOn].map(
    ([id, place]) => [place, `left out: composition ${id}, moved on since`] as const,
  );
  return [...notBack, ...others].toSorted(([a], [b]) => a - b).map(([, text]) => text);
}

/** Both compositions of a pair go on with what they hold without the merge; no version uid is ever given twice. */
function joinEntries(
  snapshot: UnmergeSnapshot,
  going: Resolution & { readonly goesBack: ReadonlySet<string> },
  request: UnmergeRequest,
): UnmergePlan['entries'] {
  const { joined } = snapshot.record;
  const next = ([latest, content]: readonly [VersionDoc, VersionDoc]): VersionEntry =>
    nextVersion(latest, content, request);
  return {
    target: joined.flatMap((pair) => targetUndo(snapshot, going, pair)).map(next),
    source: joined.flatMap((pair) => sourceUndo(snapshot, going, pair)).map(next),
  };
}

/** A version, and that whose content follows it. */
type Following = readonly [latest: VersionDoc, content: VersionDoc];

function targetUndo(
  { made, lists }: UnmergeSnapshot,
  { kept }: Resolution,
  { target }: JoinedPair,
): Following[] {
  const latest = made.get(target)?.latest;
  const before = lists.get(target)?.before ?? null;
  if (latest === undefined || before === null || kept.has(target)) return [];
  return isSameContent(latest, before) ? [] : [[latest, before]];
}

function sourceUndo(
  { made, lists }: UnmergeSnapshot,
  { taken, goesBack }: Resolution & { readonly goesBack: ReadonlySet<string> },
  { source, target }: JoinedPair,
): Following[] {
  const { latest, before = null } = made.get(source) ?? {};
  if (latest === undefined || before === null || latest.data !== null || !goesBack.has(source)) return [];
  const edited = taken.has(target) ? (lists.get(target)?.edited ?? null) : null;
  return [[latest, edited ?? before]];
}

/** The target's EHR_STATUS without what the merge took from the source. */
function statusEntries(snapshot: UnmergeSnapshot, request: UnmergeRequest): VersionEntry[] {
  if (snapshot.status === null) return [];
  const { latest, object } = snapshot.status;
  return [{ ...nextVersion(latest, latest, request), object }];
}

interface DirectoryUndo {
  /** null: the directory stays as it is. */
  readonly entry: VersionEntry | null;
  /** What others put into the copied FOLDER, now at the root. */
  readonly kept: readonly string[];
}

const UNCHANGED: DirectoryUndo = { entry: null, kept: [] };

/** The target's directory without what the merge put into it. */
function planDirectory(
  snapshot: UnmergeSnapshot,
  { kept }: Resolution,
  request: UnmergeRequest,
): DirectoryUndo {
  const { record, directory } = snapshot;
  if (record.copied_folder_uid === undefined) return UNCHANGED;
  const made = madeDirectory(snapshot);
  if (directory.isRoot)
    return made === null || kept.has(made.version.object_id)
      ? UNCHANGED
      : withoutTree(snapshot, made, request);
  if (made?.before != null && made.latest._id === made.version._id)
    return { entry: nextVersion(made.latest, made.before, request), kept: [] };
  if (directory.live === null) return UNCHANGED;
  const found = withoutCopy(directory.live.root, copiedFolder(made, record.copied_folder_uid));
  if (found === null) return UNCHANGED;
  return { entry: changedDirectory(directory.live.container, found.root, request), kept: found.kept };
}

/** The directory of which the merge made the root, without it: what other merges copied into it stays, or nothing does. */
function withoutTree(
  { directory: { live, others } }: UnmergeSnapshot,
  { latest }: MadeVersion,
  request: UnmergeRequest,
): DirectoryUndo {
  if (latest.data === null || live === null) return UNCHANGED;
  const root = withoutRoot(live.root, others);
  const entry = root === null ? deletionOf(latest, request) : changedDirectory(live.container, root, request);
  return { entry, kept: [] };
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
function nextVersion(latest: VersionDoc, content: VersionDoc, request: UnmergeRequest): UpdateEntry {
  const isFromElsewhere = content.object_id !== latest.object_id;
  return {
    kind: 'update',
    type: latest.type,
    versionedObjectUid: latest.object_id,
    precedingVersionUid: latest._id,
    object: contentOf(content),
    audit: auditOf(latest.data === null ? CHANGE_TYPE.creation : CHANGE_TYPE.modification, request),
    lifecycleState: stateOf(content),
    templateDigest: content.template_digest,
    ...(isFromElsewhere && { otherInputVersionUids: [content._id] }),
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
