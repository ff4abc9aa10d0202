import { contributionIds } from '../models/contribution.js';
import { tagsOfEhr } from '../models/item-tag.js';
import { latestVersions } from '../models/version.js';
import {
  containersOfEhr,
  liveCompositionsOfCategory,
  liveDirectory,
  type VersionedObjectDoc,
} from '../models/versioned-object.js';
import type { MergeablePair } from './check.js';
import { pairPersistent, PERSISTENT } from './pairs.js';
import type { MergeSnapshot } from './plan.js';
import type { MergeRequest } from './request.js';

/** Reads what a merge looks at; inside a transaction, so that all of it is of one moment. */
export async function mergeSnapshot(
  { source, target }: MergeablePair,
  request: MergeRequest,
): Promise<MergeSnapshot> {
  const containers = await containersOfEhr(source._id);
  const isPersistent = request.compositionMerge === 'PERSISTENT';
  const persistent = isPersistent ? await liveCompositionsOfCategory(target._id, PERSISTENT) : [];
  const directory = await liveDirectory(target._id);
  const needed: VersionedObjectDoc[] = pairPersistent(containers, persistent).pairs.flatMap((pair) => [
    pair.source,
    pair.target,
  ]);
  if (request.folderMerge === 'COPY') {
    needed.push(...containers.filter(({ type, deleted }) => type === 'FOLDER' && !deleted));
    if (directory !== null) needed.push(directory);
  }
  return {
    source: {
      ehr: source,
      containers,
      contributionUids: await contributionIds(source._id),
      tags: await tagsOfEhr(source._id),
    },
    target: { ehr: target, persistent, directory },
    latest: await latestVersions(needed),
  };
}
