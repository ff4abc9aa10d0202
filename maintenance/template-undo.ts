import { jsonObjectOf, type JsonObject } from '../openehr/base/json.js';
import { requestsOf } from '../models/contribution.js';
import { versionHeads, versionsByUid, type VersionDoc, type VersionHead } from '../models/version.js';
import type { LeftComposition, TemplateUpgradeDoc } from '../models/template-upgrade.js';
import type { LatestComposition } from './template-walk.js';

/** What stood in a COMPOSITION before an upgrade wrote its latest VERSION. */
interface FormerContent {
  readonly content: JsonObject;
}

/** An upgrade as far as what it wrote is known by it. */
type Upgrade = Pick<TemplateUpgradeDoc, '_id' | 'begun_by' | 'undone_by'>;

/**
 * What is written back into COMPOSITIONs to take an upgrade back: the content before it. An obstacle where somebody has written
 * since; null where the upgrade wrote nothing, or it is taken back already.
 */
export async function undoingEntries(
  latests: readonly LatestComposition[],
  upgrade: Upgrade,
): Promise<(FormerContent | LeftComposition | null)[]> {
  const versions = latests.map(({ version }) => version);
  const requests = await requestsOf(versions.map(({ contribution_uid: uid }) => uid));
  const isWritten = ({ contribution_uid: uid }: VersionHead): boolean =>
    requests.get(uid) === upgrade.begun_by.request_id;
  const uids = versions.filter(isWritten).flatMap(({ preceding_version_uid: uid }) => uid ?? []);
  const formers = new Map((await versionsByUid(uids)).map((former) => [former._id, former]));
  const found: (FormerContent | LeftComposition | null)[] = [];
  for (const version of versions) {
    const former = formers.get(version.preceding_version_uid ?? '');
    if (!isWritten(version)) found.push(await isEditedSince(version, upgrade));
    else if (former?.data == null)
      found.push(obstacle(version, 'the VERSION before it is not there any more'));
    else found.push({ content: jsonObjectOf(former.data) });
  }
  return found;
}

/**
 * Who made a VERSION says its CONTRIBUTION by the request that it is of, which only this server writes. The audit says it too, for
 * people: a client may have written there whatever it likes.
 */
async function isEditedSince(version: VersionDoc, upgrade: Upgrade): Promise<LeftComposition | null> {
  // An upgrade writes no first VERSION.
  if (version.preceding_version_uid === undefined) return null;
  const heads = await versionHeads(version.ehr_id, version.object_id);
  const requests = await requestsOf(heads.map(({ contribution_uid: uid }) => uid));
  const isOf = (head: VersionHead, request: string | undefined): boolean =>
    request !== undefined && requests.get(head.contribution_uid) === request;
  const at = heads.findIndex((head) => isOf(head, upgrade.begun_by.request_id));
  const since = at < 0 ? [] : heads.slice(at + 1);
  if (since.length === 0 || since.some((head) => isOf(head, upgrade.undone_by?.request_id))) return null;
  if (version.data === null) return obstacle(version, 'it was deleted since');
  return obstacle(version, `${since.length} VERSIONs were written since`);
}

/** What the audits of VERSIONs say that an upgrade wrote, or its undo. */
export function descriptionOf(upgradeId: string, isBack: boolean): string {
  return `${isBack ? 'undo of the ' : ''}upgrade ${upgradeId}`;
}

function obstacle({ ehr_id, object_id, _id: uid }: VersionHead, reason: string): LeftComposition {
  return { ehr_id, object_id, uid, reason };
}
