import Router from '@koa/router';
import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { Settings } from '../../base/settings.js';
import { readableEhr, readInOrder } from '../../change/ehr-access.js';
import { objectNotFound } from '../../change/refusal.js';
import {
  originalVersionResource,
  revisionHistoryResource,
  versionedObjectResource,
} from '../../change/resource.js';
import type { RootType } from '../../models/layout.js';
import { versionHeads, type VersionDoc } from '../../models/version.js';
import { containerOf } from '../../models/versioned-object.js';
import { rmResponse, setResourceHeaders, writeResource } from '../http/exchange.js';
import { absoluteUrl } from '../http/exchange.js';
import { ehrIdFrom, uuidFrom, versionUidFrom } from '../http/path-ids.js';
import { requireVersion, requireVersionAt, versionAtTimeFrom } from './read-version.js';
import type { BodyType } from '../../format/media-type.js';

/** One kind of container among the routes. */
interface ContainerKind {
  readonly type: RootType;
  /** Path of the container below the standard API. */
  readonly path: string;
  /** Name of the XML root element. */
  readonly xmlRoot: string;
  /** The container's id; reads the EHR where the path does not name it. */
  readonly objectIdOf: (ctx: Context, ehrId: string) => Promise<string>;
}

const KINDS: readonly ContainerKind[] = [
  {
    type: 'COMPOSITION',
    path: '/ehr/:ehr_id/versioned_composition/:versioned_object_uid',
    xmlRoot: 'versioned_composition',
    objectIdOf: (ctx) => Promise.resolve(uuidFrom(ctx, 'versioned_object_uid')),
  },
  {
    type: 'EHR_STATUS',
    path: '/ehr/:ehr_id/versioned_ehr_status',
    xmlRoot: 'versioned_ehr_status',
    objectIdOf: async (_ctx, ehrId) => (await readableEhr(ehrId)).ehr_status_id,
  },
];

/** VERSIONED_COMPOSITION, VERSIONED_EHR_STATUS: contract section 8. ITS-REST: versioned_composition_*, versioned_ehr_status_*. */
export function versionedObjectRoutes(settings: Settings): Router {
  const router = new Router();
  for (const kind of KINDS) addRoutes(router, kind, settings);
  return router;
}

function addRoutes(router: Router, kind: ContainerKind, settings: Settings): void {
  router.get(kind.path, (ctx) => answer(ctx, kind, getContainer));
  router.get(`${kind.path}/revision_history`, (ctx) => answer(ctx, kind, getHistory));
  router.get(`${kind.path}/version`, async (ctx) => {
    const form = rmResponse(ctx);
    const time = versionAtTimeFrom(ctx, settings.defaultTimezone);
    await answer(ctx, kind, async (_form, place) => {
      const version = await requireVersionAt(place.ehrId, kind.type, place.objectId, time);
      writeOriginalVersion(ctx, form, version);
    });
  });
  router.get(`${kind.path}/version/:version_uid`, (ctx) => getVersion(ctx, kind));
}

/** A container as the path names it. */
interface Place {
  readonly ctx: Context;
  readonly kind: ContainerKind;
  readonly ehrId: string;
  readonly objectId: string;
}

async function answer(
  ctx: Context,
  kind: ContainerKind,
  write: (form: BodyType, place: Place) => Promise<void>,
): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = ehrIdFrom(ctx);
  const objectId = await kind.objectIdOf(ctx, ehrId);
  await readInOrder(ehrId, () => write(form, { ctx, kind, ehrId, objectId }));
}

async function getContainer(form: BodyType, { ctx, kind, ehrId, objectId }: Place): Promise<void> {
  const container = await containerOf(ehrId, kind.type, objectId);
  if (container === null) throw objectNotFound(ehrId, kind.type, objectId);
  writeResource(ctx, form, versionedObjectResource(container), kind.xmlRoot);
}

async function getHistory(form: BodyType, { ctx, kind, ehrId, objectId }: Place): Promise<void> {
  const versions = await versionHeads(ehrId, objectId);
  if (versions[0]?.type !== kind.type) throw objectNotFound(ehrId, kind.type, objectId);
  writeResource(ctx, form, revisionHistoryResource(versions), 'revision_history');
}

async function getVersion(ctx: Context, kind: ContainerKind): Promise<void> {
  const named = versionUidFrom(ctx, 'version_uid');
  await answer(ctx, kind, async (form, { ehrId, objectId }) => {
    if (kind.type === 'COMPOSITION' && named.id.objectId !== objectId)
      throw new CdrError('invalid', 'the version_uid is of another object than the versioned_object_uid');
    writeOriginalVersion(ctx, form, await requireVersion(ehrId, kind.type, named));
  });
}

/** ORIGINAL_VERSION with the headers of the version; `Location` is that of the VERSION itself. */
function writeOriginalVersion(ctx: Context, form: BodyType, version: VersionDoc): void {
  setResourceHeaders(ctx, { etag: version._id, lastModified: version.time_committed });
  ctx.set('Location', absoluteUrl(ctx, originalVersionPath(version)));
  writeResource(ctx, form, originalVersionResource(version), 'version');
}

function originalVersionPath({ ehr_id: ehrId, type, object_id: objectId, _id: uid }: VersionDoc): string {
  const container = type === 'COMPOSITION' ? `versioned_composition/${objectId}` : 'versioned_ehr_status';
  return `/ehr/${ehrId}/${container}/version/${uid}`;
}
