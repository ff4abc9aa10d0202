import { requestsOf } from '../../models/contribution.js';
import { upgradeRequests } from '../../models/template-upgrade.js';
import type { VersionHead } from '../../models/version.js';

/**
 * CONTRIBUTIONs of these versions that an upgrade of data made, or its undo: what those wrote no person wrote. Known as the undo
 * of an upgrade knows it, by their requests.
 */
export async function upgradesAmong(heads: readonly VersionHead[]): Promise<ReadonlySet<string>> {
  const requests = await upgradeRequests();
  if (requests.size === 0) return requests;
  const made = await requestsOf(heads.map(({ contribution_uid: uid }) => uid));
  return new Set([...made].flatMap(([uid, request]) => (requests.has(request) ? [uid] : [])));
}
