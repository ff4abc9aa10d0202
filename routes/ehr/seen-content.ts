import { seenOfContribution } from '../../change/access/seen-contribution.js';
import type { Viewer } from '../../change/access/viewer.js';
import type { EhrContent } from '../../models/cross-collection/ehr-contents.js';
import { contributionOf } from '../../models/contribution.js';
import { containersById } from '../../models/versioned-object.js';

/**
 * What an EHR is answered with, without what policies hide from who asks: of COMPOSITIONs those whose latest version he may see, of
 * CONTRIBUTIONs those that made at least one version that he may, or of which nothing is left.
 */
export async function seenContent(viewer: Viewer, ehrId: string, all: EhrContent): Promise<EhrContent> {
  const { status } = all;
  const isStatusSeen = status === null || (await viewer.sees(ehrId, status));
  const latest = new Map(
    (await containersById(all.compositions)).map(({ _id, latest_version_uid: uid }) => [_id, uid]),
  );
  const seen = await viewer.seenAmong(ehrId, [...latest.values(), ...all.versions.map(({ uid }) => uid)]);
  const contributions: string[] = [];
  for (const uid of all.contributions)
    if (await seesContribution(viewer, ehrId, uid)) contributions.push(uid);
  return {
    status: isStatusSeen ? status : { ...status, data: null },
    compositions: all.compositions.filter((uid) => seen.has(latest.get(uid) ?? '')),
    contributions,
    versions: all.versions.filter(({ uid }) => seen.has(uid)),
  };
}

async function seesContribution(viewer: Viewer, ehrId: string, uid: string): Promise<boolean> {
  const contribution = await contributionOf(ehrId, uid);
  if (contribution === null) return false;
  return (await seenOfContribution(viewer, ehrId, contribution.versions)).length > 0;
}
