import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { Rm } from '../../openehr/rm/model/rm.js';
import type { Settings } from '../../config/settings.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { createDirectory, deleteDirectory, folderAt, updateDirectory } from '../../change/directory.js';
import { readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import { viewing, type Viewer } from '../../change/access/viewer.js';
import { rootName } from '../../change/commit/resource.js';
import type { BodyType } from '../http/negotiation/media-type.js';
import { latestVersion, versionAtTime, type VersionDoc } from '../../models/version.js';
import { directoriesAtTime, directoryAtTime } from '../../models/versioned-object.js';
import {
  answerDeletion,
  answerVersion,
  parseCanonical,
  requiredBodyText,
  rmExchange,
  rmResponse,
  setResourceHeaders,
  versionHeaders,
  writeJson,
  writeVersion,
} from '../http/exchange.js';
import { commitMetadata } from '../http/request/headers.js';
import { ifMatchFrom } from '../http/operation/object-ids.js';
import type { BodyDescription, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { refuseTagHeaders } from '../tag/tag-headers.js';
import {
  CREATED,
  DELETED,
  DELETED_THEN,
  NOT_MODIFIED,
  updateAnswers,
  versionAnswer,
  requireVersion,
  requireVersionAt,
} from './read-version.js';

/** Names of FOLDER attributes that clients of the service's own documentation use (docs/spec/rest.md#directory). */
const CAMEL_CASE: Readonly<Record<string, string>> = {
  archetypeNodeId: 'archetype_node_id',
  archetypeDetails: 'archetype_details',
  feederAudit: 'feeder_audit',
};

const PATH = `${STANDARD_API}/ehr/{ehr_id}/directory`;
const READ = { access: 'read', audit: 'read', discloses: 'read' } as const;
const FOLDER: BodyDescription = { schema: 'FOLDER', types: 'rm' };

/** Making, reading, changing and deleting the directory. */
export function directoryOperations(settings: Settings): OperationGroup {
  const context = changeContext(settings);
  return {
    tag: 'DIRECTORY',
    description: 'Versioned FOLDER tree of an EHR',
    operations: [
      {
        id: 'directory_create',
        discloses: 'create',
        method: 'POST',
        path: PATH,
        summary: 'Create the directory',
        access: 'write',
        audit: 'write',
        parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
        request: FOLDER,
        responses: { 201: versionAnswer(CREATED, FOLDER) },
        errors: [400, 404, 409, 412, 422],
        replay: (ctx, { uids }) => answerAgain(ctx, settings, uids.version_uid ?? '', 201),
        handle: (ctx) => create(ctx, settings, context),
      },
      {
        id: 'directory_get_at_time',
        method: 'GET',
        path: PATH,
        summary: 'Get the directory or one of its folders, now or at a time',
        ...READ,
        parameters: ['version_at_time', 'path', 'Prefer'],
        responses: { 200: versionAnswer('The FOLDER', FOLDER), 204: DELETED_THEN, 304: NOT_MODIFIED },
        errors: [400, 404],
        handle: getAtTime,
      },
      {
        id: 'directory_get_by_version',
        method: 'GET',
        path: `${PATH}/{version_uid}`,
        summary: 'Get one version of the directory or of one of its folders',
        ...READ,
        parameters: ['path', 'Prefer'],
        responses: { 200: versionAnswer('The FOLDER', FOLDER), 204: DELETED_THEN, 304: NOT_MODIFIED },
        errors: [400, 404],
        handle: getByVersion,
      },
      {
        id: 'directory_update',
        discloses: 'update',
        method: 'PUT',
        path: PATH,
        summary: 'Commit a new version of the directory',
        access: 'write',
        audit: 'write',
        parameters: ['If-Match', 'Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
        request: FOLDER,
        responses: updateAnswers(settings, FOLDER),
        errors: [400, 404, 409, 412],
        replay: (ctx, { uids }) => answerAgain(ctx, settings, uids.version_uid ?? '', 200),
        handle: (ctx) => update(ctx, settings, context),
      },
      {
        id: 'directory_delete',
        discloses: 'delete',
        method: 'DELETE',
        path: PATH,
        summary: 'Delete the directory logically',
        access: 'write',
        audit: 'write',
        parameters: ['If-Match', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
        responses: { 204: DELETED },
        errors: [400, 404, 409, 412],
        replay: async (ctx, { uids }) => {
          answerDeletion(ctx, await madeBefore(ctx, uids.version_uid ?? ''));
        },
        handle: async (ctx) => {
          refuseTagHeaders(ctx);
          const change = {
            ehrId: pathParameter(ctx, 'ehr_id'),
            ifMatch: ifMatchFrom(ctx, settings.systemId),
            metadata: commitMetadata(ctx, 'DELETE', settings),
          };
          answerDeletion(ctx, await deleteDirectory(context, change));
        },
      },
    ],
  };
}

async function create(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = rmExchange(ctx);
  refuseTagHeaders(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const metadata = commitMetadata(ctx, 'POST', settings);
  const version = await createDirectory(context, { ehrId, metadata }, await folderFrom(ctx, request));
  await answer(ctx, settings, response, { version, status: 201 });
}

async function update(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = rmExchange(ctx);
  refuseTagHeaders(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const change = {
    ehrId,
    ifMatch: ifMatchFrom(ctx, settings.systemId),
    metadata: commitMetadata(ctx, 'PUT', settings),
  };
  const version = await updateDirectory(context, change, await folderFrom(ctx, request));
  await answer(ctx, settings, response, { version, status: 200 });
}

async function answerAgain(ctx: Context, settings: Settings, uid: string, status: 200 | 201): Promise<void> {
  const form = rmResponse(ctx);
  await answer(ctx, settings, form, { version: await madeBefore(ctx, uid), status });
}

/** What an earlier request with the same `Idempotency-Key` made. */
function madeBefore(ctx: Context, uid: string): Promise<VersionDoc> {
  const ehrId = pathParameter(ctx, 'ehr_id');
  return readWithEhrErrorFirst(ehrId, () => requireVersion(ehrId, 'FOLDER', { uid }));
}

async function getAtTime(ctx: Context): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const time = queryParameter(ctx, 'version_at_time');
  const names = queryParameter(ctx, 'path') ?? [];
  await readWithEhrErrorFirst(ehrId, async () => {
    await writeFolder(ctx, form, await directoryVersion(ehrId, time), names);
  });
}

/** The version of the directory at a time. @throws not-found */
async function directoryVersion(ehrId: string, time: Date | null): Promise<VersionDoc> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer !== undefined) return seenDirectoryVersion(viewer, ehrId, time);
  const container = await directoryAtTime(ehrId, time);
  if (container === null) throw noDirectory(ehrId, time);
  return requireVersionAt(ehrId, 'FOLDER', container._id, time);
}

/** The same for who sees only what policies permit: of the newest directory that is there for him. @throws not-found */
async function seenDirectoryVersion(viewer: Viewer, ehrId: string, time: Date | null): Promise<VersionDoc> {
  for (const { _id } of await directoriesAtTime(ehrId, time)) {
    const version = await (time === null
      ? latestVersion(ehrId, 'FOLDER', _id)
      : versionAtTime(ehrId, 'FOLDER', _id, time));
    if (version !== null && (await viewer.sees(ehrId, version))) return version;
  }
  throw noDirectory(ehrId, time);
}

function noDirectory(ehrId: string, time: Date | null): CdrError {
  const when = time === null ? '' : ' at that time';
  return new CdrError('not-found', `EHR with id ${ehrId} has no directory${when}`);
}

async function getByVersion(ctx: Context): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const named = pathParameter(ctx, 'version_uid');
  const names = queryParameter(ctx, 'path') ?? [];
  await readWithEhrErrorFirst(ehrId, async () => {
    await writeFolder(ctx, form, await requireVersion(ehrId, 'FOLDER', named), names);
  });
}

async function writeFolder(
  ctx: Context,
  form: BodyType,
  version: VersionDoc,
  names: readonly string[],
): Promise<void> {
  if (version.data === null || names.length === 0) {
    await writeVersion(ctx, form, version);
    return;
  }
  const folder = folderAt(JSON.parse(version.data) as Rm<'FOLDER'>, names);
  if (folder === null) throw new CdrError('not-found', 'the directory has no FOLDER at this path');
  setResourceHeaders(ctx, versionHeaders(version));
  await writeJson(ctx, form, JSON.stringify(folder), rootName('FOLDER'));
}

async function folderFrom(ctx: Context, form: BodyType): Promise<JsonValue> {
  return snakeCaseFolder(await parseCanonical(ctx, requiredBodyText(ctx), form, 'FOLDER'));
}

/** A FOLDER tree with the names of the RM. @throws invalid when an attribute is there under both names */
function snakeCaseFolder(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const folder: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(CAMEL_CASE, name) ? (CAMEL_CASE[name] ?? name) : name;
    if (known !== name && Object.hasOwn(value, known))
      throw new CdrError('invalid', `${known} is given twice`);
    folder[known] = known === 'folders' && Array.isArray(member) ? member.map(snakeCaseFolder) : member;
  }
  return folder;
}

function answer(
  ctx: Context,
  settings: Settings,
  form: BodyType,
  made: { readonly version: VersionDoc; readonly status: 200 | 201 },
): Promise<void> {
  return answerVersion(ctx, settings, {
    ...made,
    form,
    represent: () => writeVersion(ctx, form, made.version),
  });
}
