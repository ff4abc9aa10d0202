import Router from '@koa/router';
import type { Context } from 'koa';
import { CdrError } from '../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';
import type { Settings } from '../base/settings.js';
import { changeContext } from '../change/context.js';
import { createDirectory, deleteDirectory, folderAt, updateDirectory } from '../change/directory.js';
import { readInOrder } from '../change/ehr-access.js';
import { toXml } from '../format/canonical-xml.js';
import type { BodyType } from '../format/media-type.js';
import type { VersionDoc } from '../models/version.js';
import { directoryAtTime } from '../models/versioned-object.js';
import {
  answerDeletion,
  answerVersion,
  parseCanonical,
  requiredBodyText,
  rmExchange,
  rmResponse,
  setResourceHeaders,
  versionHeaders,
  writeText,
  writeVersion,
} from './exchange.js';
import { commitMetadata } from './headers.js';
import { idempotent } from './idempotency.js';
import { ehrIdFrom, ifMatchFrom, versionUidFrom } from './path-ids.js';
import { queryParameter } from './query-parameter.js';
import { requireVersion, requireVersionAt, versionAtTimeFrom } from './read-version.js';

/** Names of FOLDER attributes that clients of the service's own page use (D5). */
const CAMEL_CASE: Readonly<Record<string, string>> = {
  archetypeNodeId: 'archetype_node_id',
  archetypeDetails: 'archetype_details',
  feederAudit: 'feeder_audit',
};

/** Directory: contract section 8. ITS-REST: directory_create, _get_at_time, _get_by_version, _update, _delete. */
export function directoryRoutes(settings: Settings): Router {
  const router = new Router();
  const context = changeContext(settings);
  router.post(
    '/ehr/:ehr_id/directory',
    idempotent(async (ctx, { uids }) => {
      const form = rmResponse(ctx);
      const ehrId = ehrIdFrom(ctx);
      const version = await readInOrder(ehrId, () =>
        requireVersion(ehrId, 'FOLDER', { uid: uids.version_uid ?? '' }),
      );
      await answer(ctx, settings, form, { version, status: 201 });
    }),
    async (ctx) => {
      const { request, response } = rmExchange(ctx);
      const ehrId = ehrIdFrom(ctx);
      const metadata = commitMetadata(ctx, 'POST', settings);
      const version = await createDirectory(context, { ehrId, metadata }, await folderFrom(ctx, request));
      await answer(ctx, settings, response, { version, status: 201 });
    },
  );
  router.put('/ehr/:ehr_id/directory', async (ctx) => {
    const { request, response } = rmExchange(ctx);
    const ehrId = ehrIdFrom(ctx);
    const change = { ehrId, ifMatch: ifMatchFrom(ctx), metadata: commitMetadata(ctx, 'PUT', settings) };
    const version = await updateDirectory(context, change, await folderFrom(ctx, request));
    await answer(ctx, settings, response, { version, status: 200 });
  });
  router.delete('/ehr/:ehr_id/directory', async (ctx) => {
    const ehrId = ehrIdFrom(ctx);
    const change = { ehrId, ifMatch: ifMatchFrom(ctx), metadata: commitMetadata(ctx, 'DELETE', settings) };
    answerDeletion(ctx, await deleteDirectory(context, change));
  });
  router.get('/ehr/:ehr_id/directory', (ctx) => getAtTime(ctx, settings));
  router.get('/ehr/:ehr_id/directory/:version_uid', getByVersion);
  return router;
}

async function getAtTime(ctx: Context, settings: Settings): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = ehrIdFrom(ctx);
  const time = versionAtTimeFrom(ctx, settings.defaultTimezone);
  const names = pathFrom(ctx);
  await readInOrder(ehrId, async () => {
    const container = await directoryAtTime(ehrId, time);
    if (container === null)
      throw new CdrError(
        'not-found',
        `EHR with id ${ehrId} has no directory${time === null ? '' : ' at that time'}`,
      );
    writeFolder(ctx, form, await requireVersionAt(ehrId, 'FOLDER', container._id, time), names);
  });
}

async function getByVersion(ctx: Context): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = ehrIdFrom(ctx);
  const named = versionUidFrom(ctx, 'version_uid');
  const names = pathFrom(ctx);
  await readInOrder(ehrId, async () => {
    writeFolder(ctx, form, await requireVersion(ehrId, 'FOLDER', named), names);
  });
}

/** Names of `path` below the root; none for the root itself. */
function pathFrom(ctx: Context): string[] {
  return (queryParameter(ctx, 'path') ?? '').split('/').filter((name) => name !== '');
}

function writeFolder(ctx: Context, form: BodyType, version: VersionDoc, names: readonly string[]): void {
  if (version.data === null || names.length === 0) {
    writeVersion(ctx, form, version);
    return;
  }
  const folder = folderAt(JSON.parse(version.data) as JsonObject, names);
  if (folder === null) throw new CdrError('not-found', 'the directory has no FOLDER at this path');
  setResourceHeaders(ctx, versionHeaders(version));
  writeText(ctx, form, form.format === 'XML' ? toXml(folder, 'folder') : JSON.stringify(folder));
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
    represent: () => {
      writeVersion(ctx, form, made.version);
    },
  });
}
