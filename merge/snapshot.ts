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
import type { MergeablePair } from './check.js';
import { pairPersistent } from './plan/pairs.js';
import type { MergeSnapshot, MovedCounts } from './plan/plan.js';
import type { MergeRequest } from './request.js';
import type { MergeWay } from './steps.js';

/**
 * Reads what a merge looks at; inside a transaction, so that all of it is of one moment, or where nobody writes. What only
 * moves is counted where it goes in steps, not listed: there may be a million of it.
 */
export async function mergeSnapshot(
  { source, target }: MergeablePair,
  request: MergeRequest,
  way: MergeWay,
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
  const needed: VersionedObjectDoc[] = pairPersistent(containers, persistent).pairs.flatMap((pair) => [
    pair.source,
    pair.target,
  ]);
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
  };
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
