import { precedingUid, rootOfUid } from '../../openehr/base/object-version-id.js';
import { inSteps } from '../../models/access/in-steps.js';
import type { Session } from '../../models/access/write.js';
import { contributionRefs, type ContributionRefs } from '../../models/contribution.js';
import { countTagsOn } from '../../models/item-tag.js';
import { archivedMovesOf } from '../../models/merge/archive.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import { ownersOf } from '../../models/versioned-object.js';
import { repairUid } from '../replay/repair-uid.js';
import type { MergeStory } from '../replay/story.js';

/** A composition that the merge took from the source, moved or joined. */
export interface TakenObject {
  /** Its place among all of them. */
  readonly place: number;
  /** `elsewhere`: moved on to another EHR, one by one, by a release that did not note it. */
  readonly now: 'target' | 'elsewhere' | 'erased';
}

/** What became of what a merge moved: counted, for there may be a million of it. */
export interface Moved {
  /** `compositions`: all that moved without being joined, but for those that were moved on. The others: those that the target still has. */
  readonly counts: { readonly compositions: number; readonly contributions: number; readonly tags: number };
  /** By object id the joined ones, those that the target has no longer, and those that `since` names. */
  readonly taken: ReadonlyMap<string, TakenObject>;
  /**
   * CONTRIBUTIONs of the target that name objects of the merge, beside the moved ones and those that merges, unmerges and
   * repairs made.
   */
  readonly since: readonly ContributionRefs[];
  /** By object id the places of what a person moved on, wherever it is now. */
  readonly movedOn: ReadonlyMap<string, number>;
  /** Uids of moved CONTRIBUTIONs that hold nothing else that still exists. */
  readonly staying: ReadonlySet<string>;
}

/** What `movedOf` is told of the merge. */
export interface MovedOf {
  readonly record: MergeRecordDoc;
  /** Object ids of what the merge made. */
  readonly made: ReadonlySet<string>;
  /** Tells which CONTRIBUTIONs no person made. */
  readonly story: MergeStory;
}

/** CONTRIBUTIONs, and versions that they name, which are compared with the archive at once: some megabytes. */
const COMPARED = 20_000;

/** Reads the archive of a merge part by part, and keeps what needs a look. `compared`: how much is compared with it at once. */
export async function movedOf(session: Session, merge: MovedOf, compared = COMPARED): Promise<Moved> {
  const others = new Set(merge.record.moved_on ?? []);
  const { taken, movedOn, ...counts } = await takenObjects(session, merge.record, others);
  const since: ContributionRefs[] = [];
  const staying = new Set<string>();
  let contributions = 0;
  const add = (ids: readonly string[]): Promise<void> =>
    addNamed(
      taken,
      merge.record._id,
      ids.filter((id) => !others.has(id)),
    );
  await add(ofLaterMerges(merge));
  const all = contributionRefs(session, merge.record.target_ehr);
  for await (const some of inBatches(all, compared)) {
    for (const uid of await holdingOnly(others, some)) staying.add(uid);
    const own = some.filter(({ _id }) => !staying.has(_id));
    const notMoved = await notArchived(merge.record._id, own);
    contributions += own.length - notMoved.length;
    const unknown = notMoved.filter((one) => !isOfMerges(merge.story, one));
    await add(unknown.flatMap(rootsOf));
    since.push(...unknown.filter((one) => rootsOf(one).some((id) => taken.has(id) || merge.made.has(id))));
  }
  return { counts: { ...counts, contributions }, taken, since, movedOn, staying };
}

/** CONTRIBUTIONs that hold one of these objects, and nothing else that still exists. */
async function holdingOnly(
  versionedObjectUids: ReadonlySet<string>,
  contributions: readonly ContributionRefs[],
): Promise<string[]> {
  const found: string[] = [];
  if (versionedObjectUids.size === 0) return found;
  for (const one of contributions) {
    const roots = rootsOf(one);
    const others = roots.filter((id) => !versionedObjectUids.has(id));
    if (others.length < roots.length && (await ownersOf(others)).size === 0) found.push(one._id);
  }
  return found;
}

/** The joined compositions and those that are gone, the places of those that were moved on, and how many moved. */
async function takenObjects(
  session: Session,
  { _id: mergeId, target_ehr: target, joined }: MergeRecordDoc,
  others: ReadonlySet<string>,
): Promise<Pick<Moved, 'movedOn'> & { taken: Map<string, TakenObject>; compositions: number; tags: number }> {
  const taken = new Map<string, TakenObject>();
  const movedOn = new Map<string, number>();
  let place = 0;
  let tags = 0;
  const look = async (ids: readonly string[], isWanted: (one: TakenObject) => boolean): Promise<void> => {
    const owners = await ownersOf(ids);
    for (const id of ids) {
      const one = { place, now: whereNow(owners.get(id), target) };
      if (others.has(id)) movedOn.set(id, place);
      else if (isWanted(one)) taken.set(id, one);
      place += 1;
    }
    const own = ids.filter((id) => !others.has(id));
    tags += await countTagsOn(session, target, own);
  };
  for await (const part of archivedMovesOf(mergeId, 'composition'))
    for (const ids of inSteps(part)) await look(ids, ({ now }) => now !== 'target');
  const compositions = place - movedOn.size;
  for (const ids of inSteps(joined.map(({ source }) => source))) await look(ids, () => true);
  return { taken, movedOn, compositions, tags };
}

function whereNow(owner: string | undefined, target: string): TakenObject['now'] {
  if (owner === undefined) return 'erased';
  return owner === target ? 'target' : 'elsewhere';
}

/** Those that the merge did not move. By their ids, not by their times: a clock may have been turned back. */
async function notArchived(
  mergeId: string,
  contributions: readonly ContributionRefs[],
): Promise<ContributionRefs[]> {
  const others = new Map(contributions.map((one) => [one._id, one]));
  for await (const part of archivedMovesOf(mergeId, 'contribution')) {
    for (const uid of part) others.delete(uid);
    if (others.size === 0) break;
  }
  return [...others.values()];
}

/** Adds those of these compositions that the merge moved and that are still there. */
async function addNamed(
  taken: Map<string, TakenObject>,
  mergeId: string,
  versionedObjectUids: readonly string[],
): Promise<void> {
  const named = new Set(versionedObjectUids);
  for (const id of taken.keys()) named.delete(id);
  if (named.size === 0) return;
  let place = 0;
  for await (const part of archivedMovesOf(mergeId, 'composition'))
    for (const id of part) {
      if (named.has(id)) taken.set(id, { place, now: 'target' });
      place += 1;
    }
}

/** What other merges joined something to, or could not join because of it. */
function ofLaterMerges({ record, story }: MovedOf): string[] {
  const others = story.into.filter(({ _id }) => _id !== record._id);
  return others.flatMap(({ joined, apart = [] }) => [
    ...joined.map(({ target }) => target),
    ...apart.flatMap(({ targets }) => targets),
  ]);
}

function isOfMerges(story: MergeStory, { _id, versions }: ContributionRefs): boolean {
  return (
    story.makers.has(_id) ||
    versions.some(({ uid }) => {
      const preceding = precedingUid(uid);
      return preceding !== null && repairUid(preceding) === _id;
    })
  );
}

function rootsOf({ versions }: ContributionRefs): string[] {
  return versions.map(({ uid }) => rootOfUid(uid));
}

async function* inBatches(
  contributions: AsyncIterable<ContributionRefs>,
  size: number,
): AsyncGenerator<ContributionRefs[]> {
  let batch: ContributionRefs[] = [];
  let length = 0;
  for await (const one of contributions) {
    batch.push(one);
    length += 1 + one.versions.length;
    if (length < size) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}
