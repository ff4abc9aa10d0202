import type { JsonObject } from '../openehr/base/json.js';
import { partyNamed, type AuditRequest } from '../change/commit/audit.js';
import { textAt } from '../openehr/rm/access.js';
import {
  CHANGE_TYPE,
  LIFECYCLE,
  lifecycleStateOf,
  type ChangeType,
  type LifecycleState,
} from '../change/commit/codes.js';
import type { VersionEntry } from '../change/commit/request.js';
import type { EhrDoc } from '../models/ehr.js';
import type { ItemTagDoc } from '../models/item-tag.js';
import type { JoinedPair, MergeOutcome } from '../models/merge-record.js';
import type { VersionDoc } from '../models/version.js';
import type { VersionedObjectDoc } from '../models/versioned-object.js';
import { asNewDirectory, withCopiedFolder, type FolderSource } from './folders.js';
import { pairPersistent, type Pairing } from './pairs.js';
import type { FreshIds, MergeRequest } from './request.js';

/** What a merge looks at on the source's side. */
interface SourceSnapshot {
  readonly ehr: EhrDoc;
  readonly containers: readonly VersionedObjectDoc[];
  readonly contributionUids: readonly string[];
  readonly tags: readonly ItemTagDoc[];
  /** How much there is of what is not listed, of a merge in steps. */
  readonly counts?: MovedCounts;
}

/** How much an EHR holds, with what will be joined or dropped. */
export interface MovedCounts {
  readonly compositions: number;
  readonly contributions: number;
  readonly tags: number;
}

/** What a merge looks at on the target's side. */
interface TargetSnapshot {
  readonly ehr: EhrDoc;
  /** Live persistent compositions; not looked at by composition merge BASIC. */
  readonly persistent: readonly VersionedObjectDoc[];
  /** The live directory. */
  readonly directory: VersionedObjectDoc | null;
}

/** Snapshots of both EHRs. */
export interface MergeSnapshot {
  readonly source: SourceSnapshot;
  readonly target: TargetSnapshot;
  /** Latest versions by object id: of both live directories and of all pairs of `pairPersistent`. */
  readonly latest: ReadonlyMap<string, VersionDoc>;
}

/** Everything a merge does, as data. */
export interface MergePlan {
  /** Ids of what gets the target as owner; compositions without the joined ones. */
  readonly moves: {
    readonly contributions: readonly string[];
    readonly compositions: readonly string[];
    readonly tags: readonly string[];
  };
  /** Persistent compositions that become one; the source's also moves. */
  readonly joins: readonly JoinedPair[];
  /** What happens to the target's directory; null: nothing. */
  readonly folderCopy: { readonly kind: 'append' | 'create'; readonly folderUid: string } | null;
  /** Tags that end. */
  readonly droppedTags: readonly ItemTagDoc[];
  /** Containers of the source that end: its EHR_STATUS and all directories. */
  readonly ended: readonly VersionedObjectDoc[];
  /** Versions to be committed to the target after the moves; empty: no CONTRIBUTION. */
  readonly entries: readonly VersionEntry[];
  readonly outcome: MergeOutcome;
}

/**
 * Works out a merge from snapshots of both EHRs. Pure: neither database nor clock, so a dry run stops after it.
 * See docs/spec/merge.md#what-happens-to-the-data.
 */
export function planMerge(snapshot: MergeSnapshot, request: MergeRequest, fresh: FreshIds): MergePlan {
  const { containers, contributionUids, tags } = snapshot.source;
  const pairing = pairingOf(snapshot, request);
  const joins = pairing.pairs.map((pair) => ({ source: pair.source._id, target: pair.target._id }));
  const joined = new Set(joins.map(({ source }) => source));
  const compositions = containers.filter(({ type, _id }) => type === 'COMPOSITION' && !joined.has(_id));
  const isDropped = (tag: ItemTagDoc): boolean => tag.target_type === 'EHR_STATUS' || joined.has(tag.target);
  const droppedTags = tags.filter(isDropped);
  const moves = {
    contributions: contributionUids,
    compositions: compositions.map(({ _id }) => _id),
    tags: tags.filter((tag) => !isDropped(tag)).map(({ _id }) => _id),
  };
  const folder = planFolder(snapshot, request, joins, fresh.folderUid);
  const entries = [
    ...pairing.pairs.flatMap((pair) => joinEntries(pair, snapshot.latest, request)),
    ...(folder === null ? [] : [folder.entry]),
  ];
  const counts = {
    ...movedCounts(snapshot.source.counts, { moves, joins, droppedTags }),
    joined: joins.length,
    folders: folder === null ? 0 : 1,
    droppedTags: droppedTags.length,
  };
  return {
    moves,
    joins,
    folderCopy: folder === null ? null : { kind: folder.kind, folderUid: fresh.folderUid },
    droppedTags,
    ended: containers.filter(({ type }) => type !== 'COMPOSITION'),
    entries,
    outcome: {
      level: folder === null ? 'BASIC' : 'FOLDER_COPY',
      summary: summaryOf(counts, pairing.unmatched),
    },
  };
}

function movedCounts(
  all: MovedCounts | undefined,
  { moves, joins, droppedTags }: Pick<MergePlan, 'moves' | 'joins' | 'droppedTags'>,
): Pick<Counts, 'compositions' | 'contributions' | 'movedTags'> {
  if (all === undefined)
    return {
      compositions: moves.compositions.length,
      contributions: moves.contributions.length,
      movedTags: moves.tags.length,
    };
  return {
    compositions: all.compositions - joins.length,
    contributions: all.contributions,
    movedTags: all.tags - droppedTags.length,
  };
}

function pairingOf({ source, target }: MergeSnapshot, request: MergeRequest): Pairing {
  if (request.compositionMerge === 'BASIC') return { pairs: [], unmatched: [] };
  return pairPersistent(source.containers, target.persistent);
}

/** Who commits what a merge makes, and why. */
export function mergeAudit(changeType: ChangeType, committer: string, description: string): AuditRequest {
  return {
    changeType,
    committer: partyNamed(committer),
    description: { _type: 'DV_TEXT', value: description },
  };
}

function auditOf(changeType: ChangeType, request: MergeRequest): AuditRequest {
  const description = mergeDescription(request);
  return mergeAudit(changeType, request.committer, description);
}

/** Description of the CONTRIBUTION of a merge. */
export function mergeDescription({
  sourceEhr,
  targetEhr,
}: Pick<MergeRequest, 'sourceEhr' | 'targetEhr'>): string {
  return `Merge of EHR ${sourceEhr} into ${targetEhr}`;
}

/** The target's composition goes on with the later content of both; the source's ends. RM: disjoint merge. */
function joinEntries(
  { source, target }: Pairing['pairs'][number],
  latest: ReadonlyMap<string, VersionDoc>,
  request: MergeRequest,
): VersionEntry[] {
  const isSourceLater = source.latest_time_committed.getTime() > target.latest_time_committed.getTime();
  const content = requiredVersion(latest, isSourceLater ? source : target);
  return [
    {
      kind: 'update',
      type: 'COMPOSITION',
      versionedObjectUid: target._id,
      precedingVersionUid: target.latest_version_uid,
      object: contentOf(content),
      audit: auditOf(CHANGE_TYPE.modification, request),
      lifecycleState: stateOf(content),
      otherInputVersionUids: [source.latest_version_uid],
    },
    {
      kind: 'delete',
      type: 'COMPOSITION',
      versionedObjectUid: source._id,
      precedingVersionUid: source.latest_version_uid,
      staleCode: 'conflict',
      audit: auditOf(CHANGE_TYPE.deleted, request),
      lifecycleState: LIFECYCLE.deleted,
    },
  ];
}

interface PlannedFolder {
  readonly kind: 'append' | 'create';
  readonly entry: VersionEntry;
}

function planFolder(
  { source, target, latest }: MergeSnapshot,
  request: MergeRequest,
  joins: readonly JoinedPair[],
  folderUid: string,
): PlannedFolder | null {
  if (request.folderMerge === 'BASIC') return null;
  const directory = source.containers.find(({ type, deleted }) => type === 'FOLDER' && !deleted);
  if (directory === undefined) return null;
  const version = requiredVersion(latest, directory);
  const copy: FolderSource = {
    root: contentOf(version),
    sourceEhr: request.sourceEhr,
    folderUid,
    survivors: new Map(joins.map((join) => [join.source, join.target])),
  };
  if (target.directory === null) {
    const state = { lifecycleState: stateOf(version), audit: auditOf(CHANGE_TYPE.creation, request) };
    const place = { versionedObjectUid: folderUid, isChosenId: true, object: asNewDirectory(copy) };
    return { kind: 'create', entry: { kind: 'create', type: 'FOLDER', ...place, ...state } };
  }
  const extended = requiredVersion(latest, target.directory);
  const state = { lifecycleState: stateOf(extended), audit: auditOf(CHANGE_TYPE.modification, request) };
  const place = {
    versionedObjectUid: target.directory._id,
    precedingVersionUid: target.directory.latest_version_uid,
  };
  const object = withCopiedFolder(contentOf(extended), copy);
  return { kind: 'append', entry: { kind: 'update', type: 'FOLDER', object, ...place, ...state } };
}

function requiredVersion(
  latest: ReadonlyMap<string, VersionDoc>,
  { _id, latest_version_uid: uid }: VersionedObjectDoc,
): VersionDoc {
  const version = latest.get(_id);
  if (version?._id !== uid) throw new TypeError(`the snapshot lacks version ${uid}`);
  return version;
}

/** RM object of a version. */
export function contentOf(version: VersionDoc): JsonObject {
  if (version.data === null) throw new TypeError(`version ${version._id} is a deletion`);
  return JSON.parse(version.data) as JsonObject;
}

/** Lifecycle state of a version with content. */
export function stateOf(version: VersionDoc): LifecycleState {
  return lifecycleStateOf({ code: textAt(version.lifecycle_state, 'defining_code', 'code_string') ?? '' });
}

interface Counts {
  readonly compositions: number;
  readonly joined: number;
  readonly folders: number;
  readonly contributions: number;
  readonly movedTags: number;
  readonly droppedTags: number;
}

function summaryOf(counts: Counts, unmatched: readonly string[]): string {
  const parts = [
    `${counts.compositions} compositions moved`,
    `${counts.joined} joined`,
    `${counts.folders} folder copied`,
    `${counts.contributions} contributions moved`,
    `${counts.movedTags} item tags moved`,
    `${counts.droppedTags} item tags deleted`,
    ...unmatched.map((text) => `not joined: ${text}`),
  ];
  return parts.join(', ');
}
