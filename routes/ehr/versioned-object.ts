import type { Context } from 'koa';
import { readableEhr, readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import type { Settings } from '../../config/settings.js';
import { DIALECTS } from '../../openehr/base/dialect.js';
import { within } from '../../openehr/base/work.js';
import { signatureState } from '../../change/commit/signature.js';
import { objectNotFound } from '../../change/commit/refusal.js';
import { viewing } from '../../change/access/viewer.js';
import {
  versionResource,
  revisionHistoryResource,
  versionedObjectResource,
} from '../../change/commit/resource.js';
import { versionHeads, type VersionDoc, type VersionHead } from '../../models/version.js';
import { containerOf } from '../../models/versioned-object.js';
import { preferredContent, rmResponse, setResourceHeaders, writeResource } from '../http/exchange.js';
import { absoluteUrl } from '../http/exchange.js';
import type { AnswerDescription, BodyDescription, Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { versionAnswer, requireVersion, requireVersionAt } from './read-version.js';
import type { BodyType } from '../http/negotiation/media-type.js';

/** One kind of container. */
interface ContainerKind {
  readonly type: 'COMPOSITION' | 'EHR_STATUS';
  /** Path of the container below the EHR. */
  readonly path: string;
  /** Name of the XML root element, and beginning of the ids of the operations. */
  readonly name: string;
  /** The container's id; reads the EHR where the path does not name it. */
  readonly versionedObjectUidOf: (ctx: Context, ehrId: string) => Promise<string>;
  /** The container and its history say when the latest version was committed. */
  readonly isObjectDated: boolean;
}

const KINDS: Readonly<Record<ContainerKind['type'], Omit<ContainerKind, 'isObjectDated'>>> = {
  COMPOSITION: {
    type: 'COMPOSITION',
    path: 'versioned_composition/{versioned_object_uid}',
    name: 'versioned_composition',
    versionedObjectUidOf: (ctx) => Promise.resolve(pathParameter(ctx, 'versioned_object_uid')),
  },
  EHR_STATUS: {
    type: 'EHR_STATUS',
    path: 'versioned_ehr_status',
    name: 'versioned_ehr_status',
    versionedObjectUidOf: async (_ctx, ehrId) => (await readableEhr(ehrId)).ehr_status_id,
  },
};
const READ = { method: 'GET', access: 'read', audit: 'read', discloses: 'read' } as const;
const VERSION: BodyDescription = { schema: 'VERSION', types: 'rm' };

/** The four reads of a VERSIONED_COMPOSITION or VERSIONED_EHR_STATUS. */
export function versionedObjectOperations(
  type: ContainerKind['type'],
  { itsRest }: Pick<Settings, 'itsRest'>,
): Operation[] {
  const { isObjectDated } = DIALECTS[itsRest];
  const dated = isObjectDated && { headers: ['Last-Modified'] as const };
  const kind = { ...KINDS[type], isObjectDated };
  const path = `${STANDARD_API}/ehr/{ehr_id}/${kind.path}`;
  const read = { ...READ, errors: [400, 404] } as const;
  return [
    {
      ...read,
      id: `${kind.name}_get`,
      path,
      summary: 'Get the container',
      responses: {
        200: { description: 'The container', body: { schema: 'VERSIONED_OBJECT', types: 'rm' }, ...dated },
      },
      handle: (ctx) => answer(ctx, kind, getContainer),
    },
    {
      ...read,
      id: `${kind.name}_revision_history_get`,
      path: `${path}/revision_history`,
      summary: 'Get the audits of all versions',
      responses: {
        200: { description: 'The history', body: { schema: 'REVISION_HISTORY', types: 'rm' }, ...dated },
      },
      handle: (ctx) => answer(ctx, kind, getHistory),
    },
    {
      ...read,
      id: `${kind.name}_version_get_at_time`,
      path: `${path}/version`,
      summary: 'Get a version with its audit, now or at a time',
      parameters: ['version_at_time', 'Prefer'],
      responses: { 200: versionAnswer('The version', VERSION) },
      handle: (ctx) => getVersionAtTime(ctx, kind),
    },
    {
      ...read,
      id: `${kind.name}_version_get_by_id`,
      path: `${path}/version/{version_uid}`,
      summary: 'Get one version with its audit',
      parameters: ['Prefer', 'verify'],
      responses: { 200: verifiedAnswer() },
      handle: (ctx) => getVersion(ctx, kind),
    },
  ];
}

function verifiedAnswer(): AnswerDescription {
  const { headers = [], ...answered } = versionAnswer('The version', VERSION);
  return { ...answered, headers: [...headers, 'Everchart-Template-Revision', 'Everchart-Signature'] };
}

async function getVersionAtTime(ctx: Context, kind: ContainerKind): Promise<void> {
  const form = rmResponse(ctx);
  const time = queryParameter(ctx, 'version_at_time');
  await answer(ctx, kind, async (_form, { ehrId, versionedObjectUid }) => {
    await writeVersion(ctx, form, await requireVersionAt(ehrId, kind.type, versionedObjectUid, time));
  });
}

/** A container as the path names it. */
interface ContainerRequest {
  readonly ctx: Context;
  readonly kind: ContainerKind;
  readonly ehrId: string;
  readonly versionedObjectUid: string;
}

async function answer(
  ctx: Context,
  kind: ContainerKind,
  write: (form: BodyType, request: ContainerRequest) => Promise<void>,
): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const versionedObjectUid = await kind.versionedObjectUidOf(ctx, ehrId);
  await readWithEhrErrorFirst(ehrId, () => write(form, { ctx, kind, ehrId, versionedObjectUid }));
}

async function getContainer(
  form: BodyType,
  { ctx, kind, ehrId, versionedObjectUid }: ContainerRequest,
): Promise<void> {
  const container = await containerOf(ehrId, kind.type, versionedObjectUid);
  if (container === null) {
    await seenHeads(ehrId, await headsUnlessOpen(ehrId, versionedObjectUid));
    throw objectNotFound(ehrId, kind.type, versionedObjectUid);
  }
  let lastModified = container.latest_time_committed;
  if (viewing.getStore()?.viewer !== undefined) {
    const latest = (await seenHeads(ehrId, await versionHeads(ehrId, versionedObjectUid))).at(-1);
    if (latest === undefined) throw objectNotFound(ehrId, kind.type, versionedObjectUid);
    lastModified = latest.time_committed;
  }
  if (kind.isObjectDated) setResourceHeaders(ctx, { lastModified });
  await writeResource(ctx, form, versionedObjectResource(container), kind.name);
}

async function getHistory(
  form: BodyType,
  { ctx, kind, ehrId, versionedObjectUid }: ContainerRequest,
): Promise<void> {
  const versions = await seenHeads(ehrId, await versionHeads(ehrId, versionedObjectUid));
  if (versions[0]?.type !== kind.type) throw objectNotFound(ehrId, kind.type, versionedObjectUid);
  const latest = versions.at(-1);
  if (kind.isObjectDated && latest !== undefined)
    setResourceHeaders(ctx, { lastModified: latest.time_committed });
  await writeResource(ctx, form, revisionHistoryResource(versions), 'revision_history');
}

/** Of a container that is not there, as far as policies would have asked for its versions. */
async function headsUnlessOpen(ehrId: string, versionedObjectUid: string): Promise<readonly VersionHead[]> {
  return viewing.getStore()?.viewer === undefined ? [] : versionHeads(ehrId, versionedObjectUid);
}

/** Those of versions that are there for who asks. */
async function seenHeads(ehrId: string, heads: readonly VersionHead[]): Promise<readonly VersionHead[]> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer === undefined) return heads;
  if (heads.length === 0) await viewer.lookForVersion(ehrId);
  const seen = await viewer.seenAmong(
    ehrId,
    heads.map(({ _id }) => _id),
  );
  return heads.filter(({ _id }) => seen.has(_id));
}

async function getVersion(ctx: Context, kind: ContainerKind): Promise<void> {
  const named = pathParameter(ctx, 'version_uid');
  const isVerified = queryParameter(ctx, 'verify');
  await answer(ctx, kind, async (form, { ehrId, versionedObjectUid }) => {
    if (kind.type === 'COMPOSITION' && named.id.versionedObjectUid !== versionedObjectUid)
      throw objectNotFound(ehrId, kind.type, named.uid);
    const version = await requireVersion(ehrId, kind.type, named);
    if (isVerified) {
      const state = await signatureState(version, (text) => within(ctx.state.work, text));
      ctx.set('Everchart-Signature', state);
    }
    await writeVersion(ctx, form, version);
  });
}

/** VERSION with the headers of the version; `Location` is that of the VERSION itself. */
async function writeVersion(ctx: Context, form: BodyType, version: VersionDoc): Promise<void> {
  const { _id: etag, time_committed: lastModified, template_digest: templateRevision } = version;
  setResourceHeaders(ctx, { etag, lastModified, templateRevision });
  ctx.set('Location', absoluteUrl(ctx, versionAddress(version)));
  await writeResource(ctx, form, versionResource(preferredContent(ctx, version)), 'version');
}

function versionAddress({
  ehr_id: ehrId,
  type,
  object_id: versionedObjectUid,
  _id: uid,
}: VersionDoc): string {
  const container =
    type === 'COMPOSITION' ? `versioned_composition/${versionedObjectUid}` : 'versioned_ehr_status';
  return `/ehr/${ehrId}/${container}/version/${uid}`;
}
