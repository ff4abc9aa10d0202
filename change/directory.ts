import { randomUUID } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import { isUuid, parseObjectVersionId } from '../openehr/base/object-version-id.js';
import type { VersionDoc } from '../models/version.js';
import { liveDirectory, type VersionedObjectDoc } from '../models/versioned-object.js';
import { requireSameObject } from './composition/composition.js';
import { validateByRm, readObject, textAt } from './composition/content.js';
import type { ChangeContext } from './commit/context.js';
import { commitEntry, type DirectChange } from './commit/direct.js';
import { withEhrErrorFirst } from './commit/ehr-access.js';
import { staleVersion, tellingLatest } from './commit/refusal.js';
import type { CreateEntry, VersionMetadata } from './commit/request.js';

/** Creates the directory of an EHR. ITS-REST: directory_create. @throws CdrError: docs/spec/rest.md#directory */
export async function createDirectory(
  context: ChangeContext,
  change: DirectChange,
  body: JsonValue,
): Promise<VersionDoc> {
  const { ehrId, metadata } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const entry = newFolder(context, metadata, validatedFolder(body));
    const committing = commitEntry(context, entry, {
      ehrId,
      remember: ({ versions }) => ({
        kind: 'FOLDER',
        uids: { ehr_id: ehrId, version_uid: versions[0]?.versionUid ?? '' },
      }),
    });
    return committing.catch(async (error: unknown) => {
      throw await tellingDirectory(ehrId, error);
    });
  });
}

/** A conflict with the directory that the EHR has tells its latest version. */
async function tellingDirectory(ehrId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof CdrError) || error.code !== 'conflict') return error;
  const live = await liveDirectory(ehrId);
  return live === null ? error : tellingLatest(error, live);
}

/**
 * Creates the next version of the directory. ITS-REST: directory_update. @throws CdrError:
 * docs/spec/rest.md#directory
 */
export async function updateDirectory(
  context: ChangeContext,
  change: DirectChange & { readonly ifMatch: string },
  body: JsonValue,
): Promise<VersionDoc> {
  const { ehrId, ifMatch, metadata } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const container = await liveDirectory(ehrId);
    const object = validatedFolder(body);
    const live = requireLive(ehrId, container, ifMatch);
    requireSameObject(object, live._id, live);
    const place = { versionedObjectUid: live._id, precedingVersionUid: ifMatch };
    const entry = { kind: 'update', type: 'FOLDER', object, ...place, ...metadata } as const;
    return commitEntry(context, entry, { ehrId }, [live]);
  });
}

/** Deletes the directory logically. ITS-REST: directory_delete. @throws CdrError: docs/spec/rest.md#directory */
export async function deleteDirectory(
  context: ChangeContext,
  change: DirectChange & { readonly ifMatch: string },
): Promise<VersionDoc> {
  const { ehrId, ifMatch, metadata } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const live = requireLive(ehrId, await liveDirectory(ehrId), ifMatch);
    const place = { versionedObjectUid: live._id, precedingVersionUid: ifMatch };
    const how = { kind: 'delete', type: 'FOLDER', staleCode: 'precondition-failed' } as const;
    return commitEntry(context, { ...how, ...place, ...metadata }, { ehrId }, [live]);
  });
}

function requireLive(
  ehrId: string,
  container: VersionedObjectDoc | null,
  ifMatch: string,
): VersionedObjectDoc {
  if (container === null) throw new CdrError('precondition-failed', `EHR with id ${ehrId} has no directory`);
  if (container.latest_version_uid !== ifMatch) throw staleVersion('precondition-failed', container);
  return container;
}

/** The entry of a new directory. @throws precondition-failed when the root's uid cannot be taken over */
export function newFolder(
  context: ChangeContext,
  metadata: VersionMetadata,
  object: JsonObject,
): CreateEntry {
  const chosen = chosenRootId(object, context.settings.systemId);
  const id = { versionedObjectUid: chosen ?? randomUUID(), isChosenId: chosen !== null };
  return { kind: 'create', type: 'FOLDER', ...id, object, ...metadata };
}

function chosenRootId(object: JsonObject, systemId: string): string | null {
  if (object.uid === undefined) return null;
  const text = textAt(object, ['uid', 'value']) ?? '';
  if (isUuid(text)) return text.toLowerCase();
  const id = parseObjectVersionId(text);
  if (id?.systemId !== systemId || id.version !== 1)
    throw new CdrError(
      'precondition-failed',
      `the uid of a new FOLDER must be a UUID or <uuid>::${systemId}::1`,
    );
  return id.versionedObjectUid;
}

/** A FOLDER tree read, validated, and with a uid in every sub-folder. @throws invalid with all findings */
export function validatedFolder(body: JsonValue): JsonObject {
  const object = readObject(body, 'FOLDER');
  validateByRm(object, folderFindings(object, ''));
  return withSubFolderUids(object);
}

/** Rules beyond the RM: distinct names of siblings, items that refer to objects or versions. */
function folderFindings(folder: JsonObject, path: string): string[] {
  const found: string[] = [];
  listOf(folder.items).forEach((item, index) => {
    const id = textAt(item, ['id', 'value']) ?? '';
    if (!isUuid(id) && parseObjectVersionId(id) === null)
      found.push(`${path}/items[${index}]/id/value: The value must be a UUID or an OBJECT_VERSION_ID`);
  });
  const names = new Set<string>();
  subFolders(folder).forEach((child, index) => {
    const place = `${path}/folders[${index}]`;
    const name = textAt(child, ['name', 'value']) ?? '';
    if (names.has(name)) found.push(`${place}/name/value: Sibling FOLDERs must have distinct names`);
    names.add(name);
    found.push(...folderFindings(child, place));
  });
  return found;
}

function withSubFolderUids(folder: JsonObject): JsonObject {
  const children = subFolders(folder);
  if (children.length === 0) return folder;
  const folders = children.map((child) => {
    const uid = child.uid ?? { _type: 'HIER_OBJECT_ID', value: randomUUID() };
    return withSubFolderUids({ _type: 'FOLDER', uid, ...child });
  });
  return { ...folder, folders };
}

/** The sub-FOLDER at a path of names below the root; null when there is none. */
export function folderAt(root: JsonObject, names: readonly string[]): JsonObject | null {
  let folder: JsonObject | undefined = root;
  for (const name of names) {
    folder = subFolders(folder).find((child) => textAt(child, ['name', 'value']) === name);
    if (folder === undefined) return null;
  }
  return folder;
}

function subFolders(folder: JsonObject): JsonObject[] {
  return listOf(folder.folders).filter(isJsonObject);
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
