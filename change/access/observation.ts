import { ehrById, finalEhrId, type EhrDoc } from '../../models/ehr.js';
import { versionHeads } from '../../models/version.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import type { Viewer } from './viewer.js';

/** EHRs of one request that are judged, and objects in one of them: of more the first. */
const LOOKED_AT = 100;

/**
 * Judges EHRs, and in the first of them what has these uids (of versions, or of containers: their latest version), as they are now.
 * Refuses nothing: the observer knows afterwards. What is not there hides nothing. docs/access.md#observed
 */
export async function observe(
  observer: Viewer,
  ehrIds: readonly string[],
  uids: readonly string[] = [],
): Promise<void> {
  for (const [index, ehrId] of [...new Set(ehrIds)].slice(0, LOOKED_AT).entries()) {
    const ehr = await activeEhr(ehrId);
    if (ehr === null || !(await observer.seesEhr(ehr)) || index > 0) continue;
    const versions: string[] = [];
    for (const uid of uids.slice(0, LOOKED_AT)) versions.push(...(await versionsNamed(ehr._id, uid)));
    await observer.seenAmong(ehr._id, versions);
  }
}

/** The EHR that merges took this one to; null: it is not there. */
async function activeEhr(ehrId: string): Promise<EhrDoc | null> {
  const ehr = await ehrById(ehrId);
  const now = ehr?.state === 'merged' ? await ehrById(await finalEhrId(ehr)) : ehr;
  return now?.state === 'active' ? now : null;
}

async function versionsNamed(ehrId: string, uid: string): Promise<string[]> {
  if (parseObjectVersionId(uid) !== null) return [uid];
  const latest = (await versionHeads(ehrId, uid.toLowerCase())).at(-1);
  return latest === undefined ? [] : [latest._id];
}
