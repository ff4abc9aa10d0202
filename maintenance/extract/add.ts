import { CdrError, type ErrorObstacle } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { within } from '../../openehr/base/work.js';
import { requireUnrestricted } from '../../change/mark/restriction.js';
import { digestOf } from '../../change/approval/gate.js';
import { writableEhr } from '../../change/commit/ehr-access.js';
import { notModifiable } from '../../change/commit/refusal.js';
import { storedBeside } from '../../models/cross-collection/interchange.js';
import { listOf, versionLeaf } from '../../models/cross-collection/seal-hash.js';
import { templateById } from '../../models/definition/template.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { EhrPart, RestoreState } from '../interchange/part.js';
import { planPart } from '../interchange/plan.js';
import { isRefusal } from '../interchange/restore.js';
import type { RestoredVersion } from '../interchange/version-in.js';
import { restorePart, type ExtractHow, type MadeOfExtract } from './make.js';
import { contributionsOf, restoredObjects, type RestoredObject } from './part.js';
import type { ReadExtract } from './read.js';

/** Why something of an EXTRACT does not go into an EHR. */
type LeftOutReason = 'own_ehr_status' | 'own_directory';

/** What an EXTRACT does to an EHR that has content. docs/spec/interchange.md#extract */
export interface ExtractPlan {
  readonly part: EhrPart;
  /** Hexadecimal SHA-256 of all this, and of what it is done to. */
  readonly hash: string;
  /** Version uids that are here already, as they are in the EXTRACT. */
  readonly there: readonly string[];
  readonly leftOut: readonly { readonly object: RestoredObject; readonly reason: LeftOutReason }[];
  /** Why it cannot be done; none: it can. */
  readonly obstacles: readonly ErrorObstacle[];
}

/** Works out what an EXTRACT does to an EHR. @throws as `writableEhr`; restricted where its processing is; invalid for what contradicts itself */
export async function planExtract(
  extract: ReadExtract,
  ehrId: string,
  how: ExtractHow,
): Promise<ExtractPlan> {
  const ehr = await writableEhr(ehrId);
  await requireUnrestricted(ehrId);
  const objects = await restoredObjects(extract, ehrId, how);
  const state = await stateBeside(ehr, objects);
  const leftOut = objects.flatMap((object) => {
    const reason = reasonOf(object, ehr, state);
    return reason === null ? [] : [{ object, reason }];
  });
  const kept = objects.filter((object) => !leftOut.some((one) => one.object === object));
  const obstacles = ehr.is_modifiable
    ? []
    : [obstacle('not_modifiable', `${notModifiable(ehrId).message}: change its EHR_STATUS first`)];
  const there: string[] = [];
  const fresh: RestoredVersion[] = [];
  for (const object of kept) {
    const known = object.versions.filter(({ doc }) => state.versions.has(doc._id));
    const added = object.versions.filter((version) => !known.includes(version));
    obstacles.push(...(await obstaclesTo(object, { state, ehrId, how })));
    there.push(...known.map(({ doc }) => doc._id));
    fresh.push(...added);
  }
  const contributions = contributionsOf(ehrId, fresh);
  const part = { ehrId, ehr: null, tombstones: [], contributions, versions: fresh, tags: [] };
  return { part, hash: hashOf(part, { ehr, state, there, leftOut }), there, leftOut, obstacles };
}

/**
 * Brings what a plan says, as it was made, all or nothing. @throws conflict, with the plan of now, when it is not the one of `hash`; with
 * obstacles when there are any; as `planExtract`
 */
export async function addExtract(
  extract: ReadExtract,
  { ehrId, hash }: { readonly ehrId: string; readonly hash: string },
  how: ExtractHow,
): Promise<MadeOfExtract> {
  const plan = await planExtract(extract, ehrId, how);
  if (plan.hash !== hash)
    throw new CdrError(
      'conflict',
      'the plan is another one now: agree on this one, or ask again with dry_run=true',
      {
        plan: planJson(ehrId, plan),
      },
    );
  const { obstacles, part } = plan;
  if (obstacles.length > 0) {
    const reasons = obstacles.map(({ message }) => message);
    throw new CdrError('conflict', reasons.join('; '), { reasons, obstacles });
  }
  if (part.versions.length === 0)
    throw new CdrError('conflict', `all of the EXTRACT that EHR ${ehrId} would take is there already`);
  const batch = await restorePart(part, how);
  return { ehrId, batch, contributions: part.contributions.length, versions: part.versions.length };
}

/** A plan as it is answered. */
export function planJson(ehrId: string, plan: ExtractPlan): JsonObject {
  const { part, hash, there, leftOut, obstacles } = plan;
  return {
    ehr_id: ehrId,
    dry_run: true,
    hash,
    contributions: part.contributions.length,
    versions: part.versions.length,
    adds: part.versions.map(({ doc }) => ({ uid: doc._id, type: doc.type })),
    already_there: [...there],
    left_out: leftOut.map(({ object, reason }) => ({ object_id: object.uid, type: object.type, reason })),
    obstacles: obstacles.map(({ code, message, object_ids }) => ({
      code,
      message,
      object_ids: [...object_ids],
    })),
  };
}

async function stateBeside(ehr: EhrDoc, objects: readonly RestoredObject[]): Promise<RestoreState> {
  const docs = objects.flatMap(({ versions }) => versions.map(({ doc }) => doc));
  return {
    ehrs: new Map([[ehr._id, ehr]]),
    contributions: await storedBeside(
      'contributions',
      docs.map((doc) => doc.contribution_uid),
    ),
    versions: await storedBeside(
      'versions',
      docs.map(({ _id }) => _id),
    ),
    containers: await storedBeside(
      'versioned_objects',
      objects.map(({ uid }) => uid),
    ),
    tags: new Map(),
    subjectHolder: null,
  };
}

/** An EHR keeps the EHR_STATUS that it has, and its directory, as a merge does. */
function reasonOf(
  { type, uid, versions }: RestoredObject,
  ehr: EhrDoc,
  state: RestoreState,
): LeftOutReason | null {
  if (type === 'EHR_STATUS') return 'own_ehr_status';
  if (type !== 'FOLDER' || versions.every(({ doc }) => state.versions.has(doc._id))) return null;
  return ehr.directory_id !== undefined || state.containers.has(uid) ? 'own_directory' : null;
}

/** What one object comes to by itself. */
async function obstaclesTo(
  object: RestoredObject,
  { state, ehrId, how }: { readonly state: RestoreState; readonly ehrId: string; readonly how: ExtractHow },
): Promise<ErrorObstacle[]> {
  const { uid, versions } = object;
  const known = versions.filter(({ doc }) => state.versions.has(doc._id));
  const added = versions.filter((version) => !known.includes(version));
  const differing = known.filter(({ doc }) => !isHere(doc, state));
  const found = differing.map(({ doc }) =>
    obstacle('version_differs', `another VERSION with uid ${doc._id} is here`, [doc._id]),
  );
  const templates = new Set(added.flatMap(({ doc }) => doc.template_id ?? []));
  for (const templateId of templates)
    if ((await templateById(templateId)) === null)
      found.push(obstacle('template_missing', `template ${templateId} is not here`, [uid]));
  if (added.length === 0 || found.length > 0) return found;
  try {
    const contributions = contributionsOf(ehrId, added);
    const part = { ehrId, ehr: null, tombstones: [], contributions, versions: added, tags: [] };
    const alone = { ...state, contributions: new Map() };
    within(how.work, () => planPart(part, alone, { batch: '', leafIndex: how.leafIndex }));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    found.push(obstacle('does_not_follow', error.message, [uid]));
  }
  return found;
}

/** Whether a VERSION is here in this EHR as it is in the EXTRACT, whatever was attested since, and noted here of its content. */
function isHere(doc: RestoredVersion['doc'], { versions }: RestoreState): boolean {
  const known = versions.get(doc._id);
  if (known?.ehr_id !== doc.ehr_id) return false;
  const shared = Math.min(listOf(doc.attestations).length, listOf(known.attestations).length);
  const { validation_findings: findings, template_digest: digest } = known;
  const asHere = {
    ...withoutFindings(doc),
    ...(findings !== undefined && { validation_findings: findings }),
    ...(digest !== undefined && { template_digest: digest }),
  };
  return versionLeaf(asHere, shared).equals(versionLeaf(known, shared));
}

function withoutFindings(doc: RestoredVersion['doc']): RestoredVersion['doc'] {
  const kept = Object.entries(doc).filter(([name]) => name !== 'validation_findings');
  return Object.fromEntries(kept) as unknown as RestoredVersion['doc'];
}

function hashOf(
  { ehrId, versions }: EhrPart,
  beside: Pick<ExtractPlan, 'there' | 'leftOut'> & { readonly ehr: EhrDoc; readonly state: RestoreState },
): string {
  const { ehr, state, there, leftOut } = beside;
  return digestOf([
    ehrId,
    versions.map(({ doc }) => [doc._id, versionLeaf(doc, Infinity).toString('hex')]).sort(),
    [...there].sort(),
    leftOut.map(({ object, reason }) => [object.uid, reason]).sort(),
    [...state.containers.values()].map((one) => [one._id, one.ehr_id, one.latest_version_uid]).sort(),
    [ehr.directory_id ?? null, ehr.is_modifiable],
  ]);
}

function obstacle(code: string, message: string, objectIds: readonly string[] = []): ErrorObstacle {
  return { code, message, object_ids: objectIds, choices: [] };
}
