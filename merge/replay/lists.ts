import { LIFECYCLE } from '../../change/commit/codes.js';
import { textAt } from '../../openehr/rm/access.js';
import { parseObjectVersionId, rootOfUid } from '../../openehr/base/object-version-id.js';
import type { MergeHistoryDoc } from '../../models/merge/history.js';
import { headsOfContainers } from '../../models/merge/version-heads.js';
import type { JoinedPair, MergeRecordDoc } from '../../models/merge/record.js';
import { versionsByUid, type VersionHead } from '../../models/version.js';
import { isSameContent } from '../content.js';
import { makerOf, undoingOf, type Maker, type MergeStory } from './story.js';
import { upgradesAmong } from './upgrades.js';

/** Content that a joined COMPOSITION goes on with. */
export interface ListValue {
  /** The VERSION that holds it. */
  readonly versionUid: string;
  /** When it came to be. */
  readonly time: Date;
  readonly isIncomplete: boolean;
  /** The rule gave it where an older release joined two and did not record whose content was chosen. */
  readonly isGuess: boolean;
}

/** The histories of the COMPOSITIONs that merges joined, as far as one of them is concerned. */
export interface ListStory {
  readonly story: MergeStory;
  /** By object id, oldest first. */
  readonly heads: ReadonlyMap<string, readonly VersionHead[]>;
  /** When content came to be that a person took from elsewhere, by the uid of the VERSION that has it. */
  readonly origins: ReadonlyMap<string, Date>;
  /** VERSIONs that unmerges made of sources with what a person had written. */
  readonly edits: ReadonlySet<string>;
  /** CONTRIBUTIONs of upgrades of data, and of their undos. */
  readonly upgrades: ReadonlySet<string>;
  /** By the uid of a VERSION that an upgrade made that of which it has the content, in the other revision of its template. */
  readonly upgraded: ReadonlyMap<string, string>;
}

/** What is left out of a replay. */
export interface Without {
  readonly mergeId: string | null;
  /** VERSIONs of persons. */
  readonly taken: ReadonlySet<string>;
}

const NOTHING: Without = { mergeId: null, taken: new Set() };

/** Reads what a replay of these containers needs, with what merges joined into them, in the caller's transaction. */
export async function listStory(
  ehrId: string,
  story: MergeStory,
  versionedObjectUids: readonly string[],
): Promise<ListStory> {
  const heads = new Map<string, readonly VersionHead[]>();
  for (let ids = [...versionedObjectUids]; ids.length > 0;) {
    const found = await headsOfContainers(ehrId, ids);
    for (const id of ids) heads.set(id, found.get(id) ?? []);
    const joined = [...found.values()].flat().flatMap((head) => {
      const { merge } = makerOf(story, head) ?? {};
      return (
        merge?.joined.filter(({ target }) => target === head.object_id).map(({ source }) => source) ?? []
      );
    });
    ids = [...new Set(joined)].filter((id) => !heads.has(id));
  }
  const upgrades = await upgradesAmong([...heads.values()].flat());
  const lists = { story, heads, upgrades, ...(await comparedContents(story, heads)) };
  return { ...lists, upgraded: await upgradedContents(lists) };
}

/**
 * An upgrade makes what a container holds anew: the oldest first, since one follows the other. Where it rewrote something else, which
 * an older release had left wrong, its VERSION is that of nothing.
 */
async function upgradedContents(lists: Omit<ListStory, 'upgraded'>): Promise<ListStory['upgraded']> {
  const upgraded = new Map<string, string>();
  const made = [...lists.heads.values()]
    .flat()
    .filter(({ contribution_uid: uid }) => lists.upgrades.has(uid))
    .toSorted((a, b) => a.time_committed.getTime() - b.time_committed.getTime());
  for (const { _id, object_id: id, version, preceding_version_uid: preceding = '' } of made) {
    const value = listValue({ ...lists, upgraded }, id, NOTHING, version - 1);
    if (value === null) continue;
    const isSame =
      value.versionUid === preceding || (await likeAmong(preceding, [value.versionUid])).size > 0;
    if (isSame) upgraded.set(_id, value.versionUid);
  }
  return upgraded;
}

/** What made a version of these lists; null: a person. Pure. */
export function makerIn(
  { story, upgrades }: Pick<ListStory, 'story' | 'upgrades'>,
  head: VersionHead,
): Maker | null {
  return upgrades.has(head.contribution_uid) ? { kind: 'upgrade', merge: null } : makerOf(story, head);
}

/** What upgrades of data made of a version of a list; itself where none did. Pure. */
export function upgradedFrom(lists: ListStory, head: VersionHead): string {
  const later = (lists.heads.get(head.object_id) ?? []).filter(({ version }) => version > head.version);
  return later.reduce((uid, { _id }) => (lists.upgraded.get(_id) === uid ? _id : uid), head._id);
}

/** Few versions name where their content is from, or were made by an unmerge: only theirs is read. */
async function comparedContents(
  story: MergeStory,
  heads: ListStory['heads'],
): Promise<Pick<ListStory, 'origins' | 'edits'>> {
  const origins = new Map<string, Date>();
  const edits = new Set<string>();
  const all = [...heads.values()].flatMap((versions) =>
    versions.map((head, index) => ({ head, before: revivedFrom(story, head, versions.slice(0, index)) })),
  );
  for (const { head, before } of all) {
    const isOfMerge = makerOf(story, head) !== null && before === null;
    const inputs = isOfMerge ? [] : (head.other_input_version_uids ?? []);
    if (before === null && inputs.length === 0) continue;
    const like = await likeAmong(head._id, [...inputs, ...(before === null ? [] : [before._id])]);
    if (before !== null && !like.has(before._id)) edits.add(head._id);
    const origin = inputs.find((uid) => like.has(uid));
    if (origin !== undefined) origins.set(head._id, like.get(origin) ?? head.time_committed);
  }
  return { origins, edits };
}

/** Of a version with which an unmerge brought its source back: what was there before the deletion. Else null. */
function revivedFrom(
  story: MergeStory,
  head: VersionHead,
  earlier: readonly VersionHead[],
): VersionHead | null {
  const maker = makerOf(story, head);
  const isRevived = maker?.kind === 'unmerge' && roleOf(maker.merge, head.object_id)?.role === 'source';
  return isRevived ? (earlier.findLast((one) => !isDeletion(one)) ?? null) : null;
}

/** Those of the versions that hold the same as one, with their times. */
async function likeAmong(versionUid: string, others: readonly string[]): Promise<Map<string, Date>> {
  const versions = await versionsByUid([versionUid, ...others]);
  const own = versions.find(({ _id }) => _id === versionUid);
  if (own === undefined) return new Map();
  const like = versions.filter((one) => one !== own && isSameContent(own, one));
  return new Map(like.map((one) => [one._id, one.time_committed]));
}

/**
 * What a container holds by what persons wrote and by the merges that stand, whatever was committed by merges that were taken
 * back; null: nothing. Pure. docs/spec/merge.md#undo-is-replay
 */
export function listValue(
  lists: ListStory,
  versionedObjectUid: string,
  without: Without = NOTHING,
  upTo = Infinity,
): ListValue | null {
  let value: ListValue | null = null;
  for (const head of lists.heads.get(versionedObjectUid) ?? []) {
    if (head.version > upTo) break;
    value = nextValue(lists, head, value, without);
  }
  return value;
}

function nextValue(
  lists: ListStory,
  head: VersionHead,
  value: ListValue | null,
  without: Without,
): ListValue | null {
  const maker = makerIn(lists, head);
  if (maker?.kind === 'upgrade') return upgradedValue(lists, head, value);
  if (maker === null) return isTaken(lists, head, without) ? value : valueOf(lists, head);
  if (lists.edits.has(head._id) || isKept(lists, maker, head)) return valueOf(lists, head);
  const role = maker.kind === 'merge' && stands(maker, without) ? roleOf(maker.merge, head.object_id) : null;
  if (role === null) return value;
  if (role.role === 'source') return null;
  return joinedValue(value, sourceValue(lists, role.pair, head, without), role.pair);
}

/** Whether an unmerge gave to its source what a person had written. */
function isTaken(lists: ListStory, head: VersionHead, without: Without): boolean {
  return lists.story.taken.has(head._id) || without.taken.has(head._id) || wasTaken(lists, head);
}

/** Where what it was made of is left out there is nothing of it. It came to be when a person wrote that. */
function upgradedValue(
  { upgraded }: ListStory,
  { _id }: VersionHead,
  value: ListValue | null,
): ListValue | null {
  return value !== null && upgraded.get(_id) === value.versionUid ? { ...value, versionUid: _id } : value;
}

function stands({ merge }: Maker, { mergeId }: Without): boolean {
  return merge !== null && undoingOf(merge) === null && merge._id !== mergeId;
}

function valueOf({ origins }: ListStory, head: VersionHead): ListValue | null {
  if (isDeletion(head)) return null;
  return {
    versionUid: head._id,
    time: origins.get(head._id) ?? head.time_committed,
    isIncomplete: stateCode(head) === LIFECYCLE.incomplete,
    isGuess: false,
  };
}

/** What the source's held when it was joined; what the merge made where that was erased since. */
function sourceValue(
  lists: ListStory,
  { source }: JoinedPair,
  head: VersionHead,
  without: Without,
): ListValue | null {
  const input = (head.other_input_version_uids ?? []).find((uid) => rootOfUid(uid) === source);
  const version = input === undefined ? undefined : parseObjectVersionId(input)?.version;
  return listValue(lists, source, without, version) ?? valueOf(lists, head);
}

/** An incomplete version never replaces a complete one; else the choice holds, else what came to be later. */
function joinedValue(
  target: ListValue | null,
  source: ListValue | null,
  { choice, by_rule: isByRule }: JoinedPair,
): ListValue | null {
  if (target === null || source === null) return target ?? source;
  if (target.isIncomplete !== source.isIncomplete) return target.isIncomplete ? source : target;
  if (choice !== undefined) return choice === 'source' ? source : target;
  const later = source.time.getTime() > target.time.getTime() ? source : target;
  return isByRule === true ? later : { ...later, isGuess: true };
}

interface Role {
  readonly role: 'source' | 'target';
  readonly pair: JoinedPair;
}

function roleOf(merge: MergeRecordDoc | MergeHistoryDoc | null, versionedObjectUid: string): Role | null {
  for (const pair of merge?.joined ?? []) {
    if (pair.target === versionedObjectUid) return { role: 'target', pair };
    if (pair.source === versionedObjectUid) return { role: 'source', pair };
  }
  return null;
}

/**
 * Whether what a merge made stayed when the merge was taken back, since that was chosen. What a person had written after it is
 * what was kept then, by itself: another patient's content below it is nobody's choice.
 */
function isKept(lists: ListStory, { kind, merge }: Maker, head: VersionHead): boolean {
  const undone = kind !== 'merge' || merge === null ? null : undoingOf(merge);
  if (undone === null || roleOf(merge, head.object_id) === null) return false;
  const heads = lists.heads.get(head.object_id) ?? [];
  const isCovered = heads.some(
    (one) => one.version > head.version && makerIn(lists, one) === null && one.time_committed <= undone.date,
  );
  if (isCovered) return false;
  if (undone.kept !== undefined) return undone.kept.includes(head.object_id);
  // Older releases wrote a version wherever nothing was kept.
  return !heads.some((one) => undone.contribution_uids.includes(one.contribution_uid));
}

/** Whether an unmerge of an older release, which did not note it, gave what a person wrote to its source. */
function wasTaken({ story, heads }: ListStory, version: VersionHead): boolean {
  const versions = heads.get(version.object_id) ?? [];
  return story.undone.some(({ contribution_uid: made, undone, joined }) => {
    if (undone.taken !== undefined || !joined.some(({ target }) => target === version.object_id))
      return false;
    const begin = versions.find((head) => head.contribution_uid === made)?.version ?? Infinity;
    const end =
      versions.find((head) => undone.contribution_uids.includes(head.contribution_uid))?.version ?? 0;
    return begin < version.version && version.version < end;
  });
}

/** VERSIONs of a container after a number that persons made and that still count, oldest first. Pure. */
export function editsSince(lists: ListStory, versionedObjectUid: string, version: number): VersionHead[] {
  const heads = lists.heads.get(versionedObjectUid) ?? [];
  return heads.filter(
    (head) =>
      head.version > version &&
      makerIn(lists, head) === null &&
      !lists.story.taken.has(head._id) &&
      !wasTaken(lists, head),
  );
}

function stateCode(head: VersionHead): string | undefined {
  return textAt(head.lifecycle_state, 'defining_code', 'code_string');
}

/** Whether a version is a logical deletion. */
export function isDeletion(head: VersionHead): boolean {
  return stateCode(head) === LIFECYCLE.deleted;
}
