import { violationAt, type Violation } from '../openehr/base/violation.js';
import { randomUUID } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import { isUuid, ownVersionId, parseObjectVersionId } from '../openehr/base/object-version-id.js';
import type { VersionDoc } from '../models/version.js';
import { liveDirectory, type VersionedObjectDoc } from '../models/versioned-object.js';
import { accept, type AcceptedFinding } from '../openehr/rm/lenient.js';
import type { PartialRm, Rm } from '../openehr/rm/model/rm.js';
import { requireSameObject } from './composition/composition.js';
import { requireValid, readObject } from './content/content.js';
import type { ChangeContext } from './commit/context.js';
import { commitEntry, type DirectChange } from './commit/direct.js';
import { viewing } from './access/viewer.js';
import { withEhrErrorFirst } from './commit/ehr-access.js';
import { staleVersion, withLatestVersion } from './commit/refusal.js';
import type { CreateEntry, VersionMetadata } from './commit/request.js';

/** Creates the directory of an EHR. ITS-REST: directory_create. @throws CdrError: docs/spec/rest.md#directory */
export async function createDirectory(
  context: ChangeContext,
  change: DirectChange,
  body: JsonValue,
): Promise<VersionDoc> {
  const { ehrId, metadata } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const entry = newFolder(context, metadata, validatedFolder(body, metadata.findings));
    return commitEntry(context, entry, { ehrId }).catch(async (error: unknown) => {
      throw await withLatestDirectory(ehrId, error);
    });
  });
}

/** A conflict with the directory that the EHR has names its latest version. */
async function withLatestDirectory(ehrId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof CdrError) || error.code !== 'conflict') return error;
  const live = await seenDirectory(ehrId);
  return live === null ? error : withLatestVersion(error, live);
}

/** The live directory of an EHR; null: there is none, or none for who asks. */
async function seenDirectory(ehrId: string): Promise<VersionedObjectDoc | null> {
  const live = await liveDirectory(ehrId);
  if (live === null || (await viewing.getStore()?.viewer?.seesLatest(live)) === false) return null;
  return live;
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
    const container = await seenDirectory(ehrId);
    const object = validatedFolder(body, metadata.findings);
    const live = requireLive(ehrId, container, ifMatch);
    requireSameObject(object, live._id, live);
    const target = { versionedObjectUid: live._id, precedingVersionUid: ifMatch };
    const entry = { kind: 'update', type: 'FOLDER', object, ...target, ...metadata } as const;
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
    const live = requireLive(ehrId, await seenDirectory(ehrId), ifMatch);
    const target = { versionedObjectUid: live._id, precedingVersionUid: ifMatch };
    const how = { kind: 'delete', type: 'FOLDER', staleCode: 'precondition-failed' } as const;
    return commitEntry(context, { ...how, ...target, ...metadata }, { ehrId }, [live]);
  });
}

function requireLive(
  ehrId: string,
  container: VersionedObjectDoc | null,
  ifMatch: string,
): VersionedObjectDoc {
  if (container === null)
    throw new CdrError('precondition-failed', `EHR with id ${ehrId} has no directory`, {
      about: 'no-directory',
    });
  if (container.latest_version_uid !== ifMatch) throw staleVersion('precondition-failed', container);
  return container;
}

/** The entry of a new directory. @throws precondition-failed when the root's uid cannot be taken over */
export function newFolder(
  context: ChangeContext,
  metadata: VersionMetadata,
  object: Rm<'FOLDER'>,
): CreateEntry {
  const chosen = chosenRootId(object, context.settings.systemId);
  const id = { versionedObjectUid: chosen ?? randomUUID(), isChosenId: chosen !== null };
  return { kind: 'create', type: 'FOLDER', ...id, object, ...metadata };
}

function chosenRootId({ uid }: Rm<'FOLDER'>, systemId: string): string | null {
  if (uid === undefined) return null;
  if (isUuid(uid.value)) return uid.value.toLowerCase();
  const id = ownVersionId(uid.value, systemId);
  if (id?.version !== 1)
    throw new CdrError(
      'precondition-failed',
      `the uid of a new FOLDER must be a UUID or <uuid>::${systemId}::1`,
    );
  return id.versionedObjectUid;
}

/**
 * A FOLDER tree read, validated, and with a uid in every sub-folder. `findings`: as in `readObject`. @throws invalid with
 * all violations
 */
export function validatedFolder(body: JsonValue, findings?: AcceptedFinding[]): Rm<'FOLDER'> {
  const object = readObject(
    findings === undefined ? body : withFolderDefaults(body, findings, { path: '', name: 'Folder' }),
    'FOLDER',
    findings,
  );
  return withSubFolderUids(requireValid(object, folderViolations(object, ''), findings));
}

/** Under lenient validation what older servers took without: the name and the node id of a FOLDER. */
function withFolderDefaults(
  value: JsonValue,
  findings: AcceptedFinding[],
  { path, name: usualName }: { readonly path: string; readonly name: string },
): JsonValue {
  if (!isJsonObject(value)) return value;
  const filled: JsonObject = { ...value };
  const defaults = {
    name: { _type: 'DV_TEXT', value: usualName },
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  };
  for (const [name, usual] of Object.entries(defaults)) {
    if (filled[name] !== undefined && filled[name] !== null) continue;
    filled[name] = usual;
    const message = `Attribute ${name} of class FOLDER was absent and got its usual value`;
    accept(findings, { path: path === '' ? '/' : path, code: 'missing', message });
  }
  const { folders } = filled;
  if (Array.isArray(folders))
    filled.folders = folders.map((child, index) =>
      withFolderDefaults(child, findings, {
        path: `${path}/folders[${index}]`,
        name: `Folder ${index + 1}`,
      }),
    );
  return filled;
}

/** Rules beyond the RM: distinct names of siblings, items that refer to objects or versions. */
function folderViolations({ items = [], folders = [] }: PartialRm<'FOLDER'>, path: string): Violation[] {
  const found: Violation[] = [];
  items.forEach((item, index) => {
    const id = item.id?.value ?? '';
    const isOfVersion = item.id?._type === 'HIER_OBJECT_ID' || item.id?._type === 'OBJECT_VERSION_ID';
    if (isOfVersion && !isUuid(id) && parseObjectVersionId(id) === null)
      found.push(
        violationAt(`${path}/items[${index}]/id/value`, 'The value must be a UUID or an OBJECT_VERSION_ID'),
      );
  });
  const names = new Set<string>();
  folders.forEach((child, index) => {
    const childPath = `${path}/folders[${index}]`;
    const name = child.name?.value ?? '';
    if (names.has(name))
      found.push(violationAt(`${childPath}/name/value`, 'Sibling FOLDERs must have distinct names'));
    names.add(name);
    found.push(...folderViolations(child, childPath));
  });
  return found;
}

function withSubFolderUids(folder: Rm<'FOLDER'>): Rm<'FOLDER'> {
  if (folder.folders === undefined) return folder;
  const folders = folder.folders.map((child) => {
    const uid = child.uid ?? ({ _type: 'HIER_OBJECT_ID', value: randomUUID() } as const);
    const { _type, ...others } = child;
    return withSubFolderUids({ _type, uid, ...others });
  });
  return { ...folder, folders };
}

/** The sub-FOLDER at a path of names below the root; null when there is none. */
export function folderAt(root: Rm<'FOLDER'>, names: readonly string[]): Rm<'FOLDER'> | null {
  let folder: Rm<'FOLDER'> | undefined = root;
  for (const name of names) {
    folder = folder.folders?.find((child) => child.name.value === name);
    if (folder === undefined) return null;
  }
  return folder;
}
