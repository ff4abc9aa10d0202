import type { JsonValue } from '../../openehr/base/json.js';
import { partyNamed, type AuditRequest } from '../../change/commit/audit.js';
import { CHANGE_TYPE, LIFECYCLE, type ChangeType } from '../../change/commit/codes.js';
import type { VersionEntry } from '../../change/commit/request.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { JoinedPair, MergeOutcome } from '../../models/merge/record.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import {
  choosePairs,
  mergedStatus,
  statusDifferences,
  type ChosenPair,
  type PairFacts,
  type StatusDifference,
} from './choices.js';
import { contentOf, requiredVersion, stateOf } from '../content.js';
import { asNewDirectory, withCopiedFolder, type FolderSource } from './folders.js';
import { pairPersistent, type Pairing, type UnmatchedTemplate } from './pairs.js';
import type { FreshIds, MergeRequest } from '../request.js';

/** What a merge looks at on the source's side. */
interface SourceSnapshot {
  readonly ehr: EhrDoc;
  readonly containers: readonly VersionedObjectDoc[];
  readonly contributionUids: readonly string[];
  readonly tags: readonly ItemTagDoc[];
  /** How many VERSIONs it has, and about how many bytes one of them. */
  readonly versions: { readonly count: number; readonly averageBytes: number };
  /** How much there is of what is not listed, of a merge in steps. */
  readonly counts?: MovedCounts;
}

/** How much an EHR holds, with what will be joined or dropped. */
export interface MovedCounts {
  readonly compositions: number;
  readonly contributions: number;
  readonly tags: number;
  /** Some of the compositions. */
  readonly compositionIds: readonly string[];
  /** The last CONTRIBUTION: whatever is written makes another one. */
  readonly newestContribution: string | null;
}

/** What a merge looks at on the target's side. */
interface TargetSnapshot {
  readonly ehr: EhrDoc;
  /** Live persistent compositions; not looked at by composition merge BASIC. */
  readonly persistent: readonly VersionedObjectDoc[];
  /** The live directory. */
  readonly directory: VersionedObjectDoc | null;
  /** Container of the EHR_STATUS. */
  readonly status: VersionedObjectDoc;
}

/** Snapshots of both EHRs. */
export interface MergeSnapshot {
  readonly source: SourceSnapshot;
  readonly target: TargetSnapshot;
  /** Latest versions by object id: of both EHR_STATUS, both live directories and all pairs of `pairPersistent`. */
  readonly latest: ReadonlyMap<string, VersionDoc>;
  /** Where the content of pairs is from that merges wrote, by object id. */
  readonly origins: PairFacts['origins'];
}

/** What a merge puts into the target's directory. */
interface FolderCopy {
  readonly kind: 'append' | 'create';
  readonly folderUid: string;
  /** `name` of the FOLDER that was copied. */
  readonly originalName: JsonValue;
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
  /** Every pair, those that stay as they are too. */
  readonly pairs: readonly ChosenPair[];
  readonly unmatched: readonly UnmatchedTemplate[];
  readonly statusDifferences: readonly StatusDifference[];
  /** What happens to the target's directory; null: nothing. */
  readonly folderCopy: FolderCopy | null;
  /** Attributes that the target has from the source's EHR_STATUS, whether they differed or not; null: none. */
  readonly statusTaken: { readonly fields: readonly string[]; readonly presentUid: string } | null;
  /** Tags that end. */
  readonly droppedTags: readonly ItemTagDoc[];
  /** Containers of the source that end: its EHR_STATUS and all directories. */
  readonly ended: readonly VersionedObjectDoc[];
  /** Versions to be committed to the target after the moves; empty: no CONTRIBUTION. */
  readonly entries: readonly VersionEntry[];
  /** Of all, listed or not. */
  readonly counts: MergeCounts;
  readonly outcome: MergeOutcome;
}

/**
 * Works out a merge from snapshots of both EHRs. Pure: neither database nor clock, so a dry run stops after it.
 * See docs/spec/merge.md#what-happens-to-the-data.
 */
export function planMerge(snapshot: MergeSnapshot, request: MergeRequest, fresh: FreshIds): MergePlan {
  const { containers, contributionUids, tags } = snapshot.source;
  const pairing = pairingOf(snapshot, request);
  const pairs = choosePairs(pairing.pairs, snapshot, request.resolutions);
  const joinedPairs = pairs.filter(({ choice }) => choice !== 'both');
  const joins = joinedPairs.map(joinOf);
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
  const status = planStatus(snapshot, request);
  const entries = [
    ...joinedPairs.flatMap((pair) => joinEntries(pair, snapshot.latest, request)),
    ...(folder === null ? [] : [folder.entry]),
    // Last: a source that is locked locks the target only after this merge.
    ...(status.entry === null ? [] : [status.entry]),
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
    pairs,
    unmatched: pairing.unmatched,
    statusDifferences: status.differences,
    folderCopy: folder === null ? null : folder.copy,
    statusTaken: statusTaken(snapshot, request),
    droppedTags,
    ended: containers.filter(({ type }) => type !== 'COMPOSITION'),
    entries,
    counts,
    outcome: {
      level: folder === null ? 'BASIC' : 'FOLDER_COPY',
      summary: summaryOf(counts, [...bothTexts(pairs), ...pairing.unmatched.map(unmatchedText)]),
    },
  };
}

function joinOf({ source, target, choice, reason }: ChosenPair): JoinedPair {
  const decided = reason === 'chosen' && choice !== 'both' ? { choice } : { by_rule: true as const };
  return { source: source._id, target: target._id, ...decided };
}

function statusTaken({ target }: MergeSnapshot, { resolutions }: MergeRequest): MergePlan['statusTaken'] {
  const fields = [...resolutions.ehrStatus].flatMap(([field, side]) => (side === 'source' ? [field] : []));
  return fields.length === 0 ? null : { fields, presentUid: target.status.latest_version_uid };
}

function movedCounts(
  all: MovedCounts | undefined,
  { moves, joins, droppedTags }: Pick<MergePlan, 'moves' | 'joins' | 'droppedTags'>,
): Pick<MergeCounts, 'compositions' | 'contributions' | 'movedTags'> {
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

/** The target's composition goes on with the content of one of both; the source's ends. RM: disjoint merge. */
function joinEntries(
  { source, target, choice }: ChosenPair,
  latest: ReadonlyMap<string, VersionDoc>,
  request: MergeRequest,
): VersionEntry[] {
  const content = requiredVersion(latest, choice === 'source' ? source : target);
  return [
    {
      kind: 'update',
      type: 'COMPOSITION',
      versionedObjectUid: target._id,
      precedingVersionUid: target.latest_version_uid,
      object: contentOf(content),
      audit: auditOf(CHANGE_TYPE.modification, request),
      lifecycleState: stateOf(content),
      templateDigest: content.template_digest,
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

interface PlannedStatus {
  readonly differences: readonly StatusDifference[];
  /** null: the target's EHR_STATUS stays as it is. */
  readonly entry: VersionEntry | null;
}

function planStatus({ source, target, latest }: MergeSnapshot, request: MergeRequest): PlannedStatus {
  const mine = source.containers.find(({ type }) => type === 'EHR_STATUS');
  if (mine === undefined) throw new TypeError(`EHR ${source.ehr._id} has no EHR_STATUS`);
  const theirs = requiredVersion(latest, target.status);
  const before = contentOf(theirs);
  const differences = statusDifferences(
    contentOf(requiredVersion(latest, mine)),
    before,
    request.resolutions,
  );
  const object = mergedStatus(before, differences);
  if (object === null) return { differences, entry: null };
  const entry: VersionEntry = {
    kind: 'update',
    type: 'EHR_STATUS',
    versionedObjectUid: target.status._id,
    precedingVersionUid: target.status.latest_version_uid,
    object,
    audit: auditOf(CHANGE_TYPE.modification, request),
    lifecycleState: stateOf(theirs),
    otherInputVersionUids: [mine.latest_version_uid],
  };
  return { differences, entry };
}

interface PlannedFolder {
  readonly copy: FolderCopy;
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
  const copied = { folderUid, originalName: copy.root.name ?? null };
  if (target.directory === null) {
    const state = { lifecycleState: stateOf(version), audit: auditOf(CHANGE_TYPE.creation, request) };
    const place = { versionedObjectUid: folderUid, isChosenId: true, object: asNewDirectory(copy) };
    return {
      copy: { kind: 'create', ...copied },
      entry: { kind: 'create', type: 'FOLDER', ...place, ...state },
    };
  }
  const extended = requiredVersion(latest, target.directory);
  const state = { lifecycleState: stateOf(extended), audit: auditOf(CHANGE_TYPE.modification, request) };
  const place = {
    versionedObjectUid: target.directory._id,
    precedingVersionUid: target.directory.latest_version_uid,
  };
  const object = withCopiedFolder(contentOf(extended), copy);
  return {
    copy: { kind: 'append', ...copied },
    entry: { kind: 'update', type: 'FOLDER', object, ...place, ...state },
  };
}

/** How much a merge does. */
interface MergeCounts {
  readonly compositions: number;
  readonly joined: number;
  readonly folders: number;
  readonly contributions: number;
  readonly movedTags: number;
  readonly droppedTags: number;
}

function summaryOf(counts: MergeCounts, notJoined: readonly string[]): string {
  const parts = [
    `${counts.compositions} compositions moved`,
    `${counts.joined} joined`,
    `${counts.folders} folder copied`,
    `${counts.contributions} contributions moved`,
    `${counts.movedTags} item tags moved`,
    `${counts.droppedTags} item tags deleted`,
    ...notJoined.map((text) => `not joined: ${text}`),
  ];
  return parts.join(', ');
}

function bothTexts(pairs: readonly ChosenPair[]): string[] {
  return pairs.flatMap(({ choice, templateId }) => (choice === 'both' ? [`${templateId} (both stay)`] : []));
}

function unmatchedText({ templateId, source, target }: UnmatchedTemplate): string {
  return `${templateId} (${source.length} in the source, ${target.length} in the target)`;
}
