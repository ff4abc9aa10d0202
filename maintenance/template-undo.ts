import { jsonObjectOf, type JsonObject } from '../openehr/base/json.js';
import { textAt } from '../openehr/rm/access.js';
import { versionHeads, versionsByUid, type VersionHead } from '../models/version.js';
import type { LeftComposition } from '../models/template-upgrade.js';
import type { LatestComposition } from './template-walk.js';

/** What stood in a COMPOSITION before an upgrade wrote its latest VERSION. */
interface FormerContent {
  readonly content: JsonObject;
}

/**
 * What is written back into a COMPOSITION to take an upgrade back: the content before it. An obstacle where somebody has written
 * since; null where the upgrade wrote nothing, or it is taken back already.
 */
export async function undoingEntry(
  { version }: LatestComposition,
  upgradeId: string,
): Promise<FormerContent | LeftComposition | null> {
  if (!isBy(version, upgradeId)) return isEditedSince(version, upgradeId);
  const { preceding_version_uid: uid } = version;
  const [former] = uid === undefined ? [] : await versionsByUid([uid]);
  if (former?.data == null) return obstacle(version, 'the VERSION before it is not there any more');
  return { content: jsonObjectOf(former.data) };
}

async function isEditedSince(version: VersionHead, upgradeId: string): Promise<LeftComposition | null> {
  const heads = await versionHeads(version.ehr_id, version.object_id);
  const at = heads.findIndex((head) => isBy(head, upgradeId));
  const since = at < 0 ? [] : heads.slice(at + 1);
  if (since.length === 0 || since.some((head) => isUndoOf(head, upgradeId))) return null;
  return obstacle(version, `${since.length} VERSIONs were written since`);
}

/** What the audits of VERSIONs say that an upgrade wrote, or its undo: they are known by it. */
export function descriptionOf(upgradeId: string, isBack: boolean): string {
  return `${isBack ? 'undo of the ' : ''}upgrade ${upgradeId}`;
}

function isBy(head: VersionHead, upgradeId: string): boolean {
  return descriptionAt(head) === descriptionOf(upgradeId, false);
}

function isUndoOf(head: VersionHead, upgradeId: string): boolean {
  return descriptionAt(head) === descriptionOf(upgradeId, true);
}

function descriptionAt({ commit_audit: audit }: VersionHead): string | undefined {
  return textAt(audit, 'description', 'value');
}

function obstacle({ ehr_id, object_id, _id: uid }: VersionHead, reason: string): LeftComposition {
  return { ehr_id, object_id, uid, reason };
}
