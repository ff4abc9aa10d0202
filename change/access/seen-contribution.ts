import type { ContributionDoc } from '../../models/contribution.js';
import { versionExists } from '../../models/version.js';
import type { Viewer } from './viewer.js';

type Made = ContributionDoc['versions'];

/** Asks the same of a CONTRIBUTION that is not there: time is not to tell which it was. */
export async function seenOfNothing(viewer: Viewer, ehrId: string): Promise<void> {
  await viewer.lookForVersion(ehrId);
  await versionExists(ehrId, '');
}

/**
 * What a CONTRIBUTION made of that what is there for somebody who sees the EHR; none: it is not there for him. Where nothing of it is in
 * the EHR any more, after a merge, a move or an erasure, all that it lists: nothing is left to judge it by.
 */
export async function seenOfContribution(viewer: Viewer, ehrId: string, made: Made): Promise<Made> {
  const uids = made.map(({ uid }) => uid);
  const seen = await viewer.seenAmong(ehrId, uids);
  if (seen.size > 0) return made.filter(({ uid }) => seen.has(uid));
  for (const uid of uids) if (await versionExists(ehrId, uid)) return [];
  return made;
}
