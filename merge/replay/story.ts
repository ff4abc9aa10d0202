import type { Session } from '../../models/access/write.js';
import { mergesThatMoved } from '../../models/merge/archive.js';
import { undoneMergesAmong, type MergeHistoryDoc } from '../../models/merge/history.js';
import { mergesInto, type MergeRecordDoc } from '../../models/merge/record.js';
import { isRepairOf } from './repair-uid.js';

/** What made a version that no person made. */
export interface Maker {
  readonly kind: 'merge' | 'unmerge' | 'repair' | 'upgrade';
  /** Of a repair, and of an upgrade of data: null. */
  readonly merge: MergeRecordDoc | MergeHistoryDoc | null;
}

/** The merges whose data are in an EHR now, and those that were taken back around it. */
export interface MergeStory {
  /** Those directly into the EHR that stand, oldest first. */
  readonly into: readonly MergeRecordDoc[];
  readonly undone: readonly MergeHistoryDoc[];
  /** By CONTRIBUTION uid. */
  readonly makers: ReadonlyMap<string, Maker>;
  /** VERSIONs that persons made and of which an unmerge gave the content to its source. */
  readonly taken: ReadonlySet<string>;
}

/** Reads the merges around an EHR, in the caller's transaction where there is one. */
export async function mergeStory(session: Session | null, ehrId: string): Promise<MergeStory> {
  const standing = await standingInto(ehrId);
  const into = standing.filter((one) => one.target_ehr === ehrId);
  const ehrIds = [ehrId, ...standing.map((one) => one.source_ehr)];
  return storyOf(into, standing, await undoneMergesAmong(ehrIds, session === null ? {} : { session }));
}

/** The merges whose data are in an EHR now: those directly into it, oldest first, then those into their sources, and so on. */
export async function standingInto(ehrId: string): Promise<MergeRecordDoc[]> {
  const standing: MergeRecordDoc[] = [];
  for (let targets = [ehrId]; targets.length > 0;) {
    const found = await mergesInto(targets);
    standing.push(...found);
    targets = found.map((one) => one.source_ehr);
  }
  return standing;
}

/** By object id those of these merges that brought the composition, moved or joined, in their order. */
export async function broughtBy(
  merges: readonly MergeRecordDoc[],
  versionedObjectUids: readonly string[],
): Promise<Map<string, MergeRecordDoc[]>> {
  const mergeIds = merges.map(({ _id }) => _id);
  const moved = await mergesThatMoved(mergeIds, versionedObjectUids);
  const isBrought = ({ _id, joined }: MergeRecordDoc, id: string): boolean =>
    moved.get(id)?.includes(_id) === true || joined.some(({ source }) => source === id);
  return new Map(versionedObjectUids.map((id) => [id, merges.filter((merge) => isBrought(merge, id))]));
}

function storyOf(
  into: readonly MergeRecordDoc[],
  standing: readonly MergeRecordDoc[],
  undone: readonly MergeHistoryDoc[],
): MergeStory {
  const makers = new Map<string, Maker>();
  for (const merge of [...standing, ...undone])
    if (merge.contribution_uid !== undefined) makers.set(merge.contribution_uid, { kind: 'merge', merge });
  for (const merge of undone)
    for (const uid of merge.undone.contribution_uids) makers.set(uid, { kind: 'unmerge', merge });
  const taken = new Set(undone.flatMap((merge) => merge.undone.taken ?? []));
  return { into, undone, makers, taken };
}

/** A version, as far as what made it is concerned. */
interface Made {
  readonly contribution_uid: string;
  readonly preceding_version_uid?: string;
}

/** What made a version; null: a person. Pure. */
export function makerOf({ makers }: MergeStory, version: Made): Maker | null {
  const maker = makers.get(version.contribution_uid);
  if (maker !== undefined) return maker;
  return isRepairOf(version) ? { kind: 'repair', merge: null } : null;
}

/** How a merge was taken back; null while it stands. */
export function undoingOf(merge: MergeRecordDoc | MergeHistoryDoc): MergeHistoryDoc['undone'] | null {
  return 'undone' in merge ? merge.undone : null;
}
