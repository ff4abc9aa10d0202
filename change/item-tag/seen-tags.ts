import { CdrError } from '../../openehr/base/errors.js';
import { formatObjectVersionId, type ObjectVersionId } from '../../openehr/base/object-version-id.js';
import { ehrById } from '../../models/ehr.js';
import type { ItemTagDoc, TagTargetType } from '../../models/item-tag.js';
import { versionById, versionHeads } from '../../models/version.js';
import type { Viewer } from '../access/viewer.js';
import { notPermitted } from '../commit/permitted-commit.js';
import { objectNotFound } from '../commit/refusal.js';

/** A container, or one of its versions, as a path names it. */
export interface TagAddress {
  readonly ehrId: string;
  readonly type: TagTargetType;
  readonly versionedObjectUid: string;
  /** null: the container. */
  readonly version: ObjectVersionId | null;
}

/** The refusal of a version that a container does not have. */
export function noSuchVersion(
  type: TagTargetType,
  versionedObjectUid: string,
  version: ObjectVersionId,
): CdrError {
  const uid = formatObjectVersionId(version);
  return new CdrError('not-found', `${type} ${versionedObjectUid} has no version ${uid}`);
}

/** @throws not-found, as where it is not there, for a target that is not there for who asks */
export async function requireSeenTarget(viewer: Viewer, address: TagAddress): Promise<void> {
  const { ehrId, type, versionedObjectUid, version } = address;
  if (!(await viewer.seesContainer(ehrId, versionedObjectUid)))
    throw objectNotFound(ehrId, type, versionedObjectUid);
  if (version === null) return;
  const uid = formatObjectVersionId(version);
  if ((await viewer.seenAmong(ehrId, [uid])).size === 0)
    throw noSuchVersion(type, versionedObjectUid, version);
}

/** Tags are of what they are on: whoever may update that may change them. @throws as `requireSeenTarget`; forbidden */
export async function requireTaggable(viewer: Viewer, address: TagAddress): Promise<void> {
  await requireSeenTarget(viewer, address);
  const { ehrId, type, versionedObjectUid, version } = address;
  const number = version?.version;
  const heads = await versionHeads(ehrId, versionedObjectUid);
  const tagged = number === undefined ? heads.at(-1) : heads.find((head) => head.version === number);
  const found = tagged === undefined ? null : await versionById(ehrId, type, tagged._id);
  if (found !== null && !viewer.permits('update', await viewer.objectOf(ehrId, found)))
    throw notPermitted(viewer, 'update');
}

/** Of tags of an EHR those on what is there for who asks. */
export async function seenTags(
  viewer: Viewer,
  ehrId: string,
  tags: readonly ItemTagDoc[],
): Promise<ItemTagDoc[]> {
  const known = new Map<string, boolean>();
  const seen: ItemTagDoc[] = [];
  for (const tag of tags) {
    const name = `${tag.target} ${tag.target_version ?? ''}`;
    const isThere = known.get(name) ?? (await seesTagged(viewer, ehrId, tag));
    known.set(name, isThere);
    if (isThere) seen.push(tag);
  }
  return seen;
}

async function seesTagged(
  viewer: Viewer,
  ehrId: string,
  { target, target_type: type, target_version: number }: ItemTagDoc,
): Promise<boolean> {
  if (number === null)
    return viewer.seesContainer(ehrId, type === 'EHR_STATUS' ? await statusOf(ehrId) : target);
  const heads = await versionHeads(ehrId, target);
  const uids = heads.filter(({ version }) => version === number).map(({ _id }) => _id);
  return (await viewer.seenAmong(ehrId, uids)).size > 0;
}

/** The EHR_STATUS that an EHR has: tags that a merge brought are on a former one. */
async function statusOf(ehrId: string): Promise<string> {
  return (await ehrById(ehrId))?.ehr_status_id ?? '';
}
