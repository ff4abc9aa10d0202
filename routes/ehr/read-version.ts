import { CdrError } from '../../openehr/base/errors.js';
import { inOneState, readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import { objectNotFound } from '../../change/commit/refusal.js';
import { viewing } from '../../change/access/viewer.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { tagsBesideVersion, type ItemTagDoc } from '../../models/item-tag.js';
import { ifOf, latestVersion, versionAtTime, versionById, type VersionDoc } from '../../models/version.js';
import type { NamedVersion } from '../http/operation/object-ids.js';
import type { Settings } from '../../config/settings.js';
import type { AnswerDescription, BodyDescription } from '../http/operation/operation.js';

/** The version with this uid. @throws not-found, also for what policies hide from who asks */
export async function requireVersion(
  ehrId: string,
  type: RootType,
  { uid }: Pick<NamedVersion, 'uid'>,
): Promise<VersionDoc> {
  const viewer = viewing.getStore()?.viewer;
  const ahead = viewer?.readVersion(ehrId, uid) ?? null;
  const version = ahead === null ? await versionById(ehrId, type, uid) : ifOf(ehrId, type, await ahead);
  if (version === null || (await viewer?.sees(ehrId, version)) === false)
    throw objectNotFound(ehrId, type, uid);
  return version;
}

/** A version of a COMPOSITION of which a change keeps what its form does not show; null where who asks may not read it. */
export async function readableVersion(ehrId: string, uid: string): Promise<VersionDoc | null> {
  const version = await versionById(ehrId, 'COMPOSITION', uid);
  const viewer = viewing.getStore()?.viewer;
  if (version === null || viewer === undefined) return version;
  return viewer.permits('read', await viewer.objectOf(ehrId, version)) ? version : null;
}

/** The version of a container extant at a time; null = the latest. @throws as `requireVersion` */
export async function requireVersionAt(
  ehrId: string,
  type: RootType,
  versionedObjectUid: string,
  time: Date | null,
): Promise<VersionDoc> {
  const version = await (time === null
    ? latestVersion(ehrId, type, versionedObjectUid)
    : versionAtTime(ehrId, type, versionedObjectUid, time));
  const isSeen = version !== null && (await viewing.getStore()?.viewer?.sees(ehrId, version)) !== false;
  if (isSeen) return version;
  if (time === null) throw objectNotFound(ehrId, type, versionedObjectUid);
  throw new CdrError('not-found', `${type} with id ${versionedObjectUid} did not exist at that time`);
}

/** A version with the tags of itself and of its container, all of one moment. */
interface TaggedVersion {
  readonly version: VersionDoc;
  readonly tags: readonly ItemTagDoc[];
}

/** What `read` gives with its tags; one read unless there ever were any. @throws as `readWithEhrErrorFirst` */
export async function readTagged(ehrId: string, read: () => Promise<VersionDoc>): Promise<TaggedVersion> {
  const version = await readWithEhrErrorFirst(ehrId, read);
  if (version.has_item_tags !== true) return { version, tags: [] };
  return inOneState(ehrId, async () => {
    const tagged = await read();
    return { version: tagged, tags: await tagsBesideVersion(tagged) };
  });
}

/** An answer about one version, whose headers say which. */
export function versionAnswer(description: string, body?: BodyDescription): AnswerDescription {
  return {
    description,
    ...(body !== undefined && { body }),
    headers: ['ETag', 'Location', 'Last-Modified'],
  };
}

/** What a creation answers. */
export const CREATED = 'Created; a body only when `Prefer` asks for one';

/** What an update answers; 204 without a body where the settings say so (`PREFER_MINIMAL_UPDATE_STATUS`). */
export function updateAnswers(
  { preferMinimalUpdateStatus: minimal }: Pick<Settings, 'preferMinimalUpdateStatus'>,
  body: BodyDescription,
): Readonly<Record<number, AnswerDescription>> {
  const updated = versionAnswer('Updated; a body only when `Prefer` asks for one', body);
  return {
    200: updated,
    ...(minimal === 204 && { 204: versionAnswer('Updated; `Prefer` asks for no body') }),
  };
}

/** Answer to a read of what was deleted at that time. */
export const DELETED_THEN = versionAnswer('Deleted then; the headers name the deletion');

/** Answer to a read of the version that the client has already. */
export const NOT_MODIFIED: AnswerDescription = {
  description: '`If-None-Match` names the version that would be answered',
  headers: ['ETag'],
};

/** Answer to a logical deletion. */
export const DELETED = versionAnswer('Deleted; the headers name the deletion version');
