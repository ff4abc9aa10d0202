import { ownedCount } from '../models/cross-collection/owned-documents.js';
import { contributionIds, newestContributionId } from '../models/contribution.js';
import { tagsOfEhr, tagsOnEnding } from '../models/item-tag.js';
import { averageVersionBytes, latestVersions } from '../models/version.js';
import {
  containersOfEhr,
  containersToEnd,
  ehrStatusContainer,
  liveCompositionIds,
  endedContainers,
  livePersistentCompositions,
  liveDirectory,
  type VersionedObjectDoc,
} from '../models/versioned-object.js';
import type { Session } from '../models/access/write.js';
import type { MergeablePair } from './check.js';
import { pairPersistent, type ContainerPair } from './plan/pairs.js';
import type { MergeSnapshot, MovedCounts } from './plan/plan.js';
import { listStory, listValue, type ListValue } from './replay/lists.js';
import { mergeStory } from './replay/story.js';
import type { MergeRequest } from './request.js';
import type { MergeWay } from './steps.js';

/** How it is read. */
interface SnapshotWay {
  readonly way: MergeWay;
  /** null: nobody writes, and there is no transaction. */
  readonly session: Session | null;
}

/**
 * Reads what a merge looks at; inside a transaction, so that all of it is of one moment, or where nobody writes. What only
 * moves is counted where it goes in steps, not listed: there may be a million of it.
 */
export async function mergeSnapshot(
  { source, target }: MergeablePair,
  request: MergeRequest,
  { way, session }: SnapshotWay,
): Promise<MergeSnapshot> {
  const isListed = way === 'transaction';
  const containers = isListed
    ? await containersOfEhr(source._id)
    : await endingContainers(source._id, request);
  const isPersistent = request.compositionMerge === 'PERSISTENT';
  const persistent = isPersistent ? await livePersistentCompositions(target._id) : [];
  const directory = await liveDirectory(target._id);
  const status = await ehrStatusContainer(target._id);
  if (status === null) throw new TypeError(`EHR ${target._id} has no EHR_STATUS`);
  const { pairs } = pairPersistent(containers, persistent);
  const needed: VersionedObjectDoc[] = pairs.flatMap((pair) => [pair.source, pair.target]);
  needed.push(status, ...containers.filter(({ type }) => type === 'EHR_STATUS'));
  if (request.folderMerge === 'COPY') {
    needed.push(...containers.filter(({ type, deleted }) => type === 'FOLDER' && !deleted));
    if (directory !== null) needed.push(directory);
  }
  return {
    source: {
      ehr: source,
      containers,
      contributionUids: isListed ? await contributionIds(source._id) : [],
      tags: isListed
        ? await tagsOfEhr(source._id)
        : await tagsOnEnding(
            source._id,
            containers.map(({ _id }) => _id),
          ),
      ...(!isListed && { counts: await countsOf(source._id) }),
      versions: await versionsOf(source._id, isListed ? containers : null),
    },
    target: { ehr: target, persistent, directory, status },
    latest: await latestVersions(needed),
    origins: await originsOfPairs(session, pairs),
  };
}

async function originsOfPairs(
  session: Session | null,
  pairs: readonly ContainerPair[],
): Promise<MergeSnapshot['origins']> {
  const found = new Map<string, ListValue>();
  for (const side of ['source', 'target'] as const) {
    const ids = pairs.map((pair) => pair[side]._id);
    const [ehrId] = pairs.map((pair) => pair[side].ehr_id);
    if (ehrId !== undefined)
      for (const [id, value] of await originsOf(session, ehrId, ids)) found.set(id, value);
  }
  return found;
}

/** When the content of these containers came to be: earlier merges may have brought it. */
async function originsOf(
  session: Session | null,
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<[string, ListValue][]> {
  const lists = await listStory(ehrId, await mergeStory(session, ehrId), versionedObjectUids);
  return versionedObjectUids.flatMap((id) => {
    const value = listValue(lists, id);
    return value === null ? [] : [[id, value] as [string, ListValue]];
  });
}

/** Compositions that a plan lists where they are only counted. */
const LISTED = 1_000;

/** What a merge ends, and what it may join. */
async function endingContainers(ehrId: string, request: MergeRequest): Promise<VersionedObjectDoc[]> {
  const ended = await containersToEnd(ehrId);
  if (request.compositionMerge !== 'PERSISTENT') return ended;
  return [...ended, ...(await livePersistentCompositions(ehrId))];
}

async function countsOf(ehrId: string): Promise<MovedCounts> {
  return {
    compositions: (await ownedCount('versioned_objects', ehrId)) - (await endedContainers(ehrId)),
    contributions: await ownedCount('contributions', ehrId),
    tags: await ownedCount('item_tags', ehrId),
    compositionIds: await liveCompositionIds(ehrId, LISTED),
    newestContribution: await newestContributionId(ehrId),
  };
}

/** Every container has as many versions as the number of its latest; where they are not listed the versions are counted. */
async function versionsOf(
  ehrId: string,
  containers: readonly VersionedObjectDoc[] | null,
): Promise<MergeSnapshot['source']['versions']> {
  const count =
    containers === null
      ? await ownedCount('versions', ehrId)
      : containers.reduce((sum, { latest_version: latest }) => sum + latest, 0);
  return { count, averageBytes: await averageVersionBytes(ehrId) };
}
