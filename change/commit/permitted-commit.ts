import { CdrError } from '../../openehr/base/errors.js';
import { jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { latestVersions, versionsById, type VersionDoc } from '../../models/version.js';
import type { EhrDoc } from '../../models/ehr.js';
import { containersById } from '../../models/versioned-object.js';
import { belongsTo } from '../../models/access/merge-job.js';
import { ehrObject, versionObject, type AccessTags } from '../../policy/attributes.js';
import type { AccessObject } from '../../policy/object.js';
import type { Action } from '../../policy/subject.js';
import type { Viewer } from '../access/viewer.js';
import { writableEhr } from './ehr-access.js';
import { subjectOf } from './ehr-flags.js';
import { atEntry } from './refusal.js';
import type { CommitRequest, CreateEntry, UpdateEntry, VersionEntry } from './request.js';

/** What an entry does, as policies call it. */
const ACTIONS: Readonly<Record<VersionEntry['kind'], Action>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  attest: 'update',
};

/** The refusal of a change to something that may be seen. */
export function notPermitted(viewer: Viewer, action: Action): CdrError {
  return new CdrError('forbidden', `${viewer.refusedBy} permits you to ${action} this`);
}

/**
 * Judges a CONTRIBUTION before it is planned: what it makes by the action of each entry, and what it changes by the version that is
 * the latest. Gives the request with the containers that are not there for who asks, so that the plan refuses them as it refuses
 * what is not there. docs/access.md#writing
 * @throws not-found for an EHR that is not there for him; forbidden for what he sees and may not change, or may not make
 */
export async function permittedCommit(
  viewer: Viewer,
  request: CommitRequest,
  systemId: string,
): Promise<CommitRequest> {
  if (request.isNewEhr === true) requireNewEhr(viewer, request);
  viewer.renew(request.ehrId);
  const ehr = request.isNewEhr === true ? null : await writableEhr(request.ehrId);
  if (ehr !== null) viewer.requireMinding(ehr);
  // A new EHR has no tags yet: those of one that has its id already decide nothing, so that it is refused as ever, seen or not.
  const tags = ehr === null ? {} : await viewer.tagsOf(request.ehrId);
  await requireMakeable(viewer, request, { systemId, tags });
  const unseen = await unseenContainers(viewer, request, { ehrId: request.ehrId, ehr, tags });
  if (ehr === null) return { ...request, unseen };
  const { merge_seq = null, marks_seq = null } = ehr;
  return { ...request, unseen, judged: { merge_seq, marks_seq } };
}

/** @throws forbidden for an entry that makes what he may not make */
async function requireMakeable(
  viewer: Viewer,
  request: CommitRequest,
  { systemId, tags }: { readonly systemId: string; readonly tags: AccessTags },
): Promise<void> {
  const readsContent = await viewer.asksContentOf(request.ehrId);
  for (const [index, entry] of request.entries.entries()) {
    if (!('object' in entry)) continue;
    const action = ACTIONS[entry.kind];
    const made = objectToBe(request.ehrId, entry, { systemId, tags, readsContent });
    const object = request.isNewEhr === true ? made : await viewer.withMarks(request.ehrId, made);
    if (!viewer.permits(action, object)) throw placed(request, index, notPermitted(viewer, action));
  }
}

/** The containers that entries change and that are not there for him. @throws forbidden for what he sees and may not change */
async function unseenContainers(
  viewer: Viewer,
  request: CommitRequest,
  owner: JudgedEhr,
): Promise<ReadonlySet<string>> {
  const unseen = new Set(request.unseen);
  for (const [index, entry] of request.entries.entries()) {
    if (entry.kind === 'create' || unseen.has(entry.versionedObjectUid)) continue;
    const judgement = await judged(viewer, owner, entry);
    if (judgement === 'unseen') unseen.add(entry.versionedObjectUid);
    if (judgement === 'forbidden') throw placed(request, index, notPermitted(viewer, ACTIONS[entry.kind]));
  }
  return unseen;
}

/** Judges a CONTRIBUTION as `permittedCommit` does, and refuses nothing: the observer knows afterwards. */
export async function observedCommit(
  observer: Viewer,
  request: CommitRequest,
  systemId: string,
): Promise<void> {
  try {
    await permittedCommit(observer, request, systemId);
  } catch (error) {
    // Whatever else is wrong with it the commit itself will say.
    if (error instanceof CdrError && error.code === 'forbidden') observer.refused();
  }
}

function placed({ namesEntries }: CommitRequest, index: number, error: CdrError): unknown {
  return namesEntries === true ? atEntry(index, error) : error;
}

function requireNewEhr(viewer: Viewer, { ehrId, entries }: CommitRequest): void {
  const status = entries.find((entry) => 'object' in entry && entry.type === 'EHR_STATUS');
  const subject = status !== undefined && 'object' in status ? subjectOf(status.object) : null;
  const ehr = ehrObject({ ehrId, namespace: subject?.namespace, tags: {} });
  if (!viewer.permits('create', ehr)) throw notPermitted(viewer, 'create');
}

/** The EHR of a commit; `ehr` null: it is made by it. */
interface JudgedEhr {
  readonly ehrId: string;
  readonly ehr: EhrDoc | null;
  readonly tags: AccessTags;
}

/** An EHR_STATUS that gives the subject another name space changes what policies see of the EHR: that as it is, and as it will be. */
async function mayRename(
  viewer: Viewer,
  { ehrId, ehr, tags }: JudgedEhr,
  entry: VersionEntry,
): Promise<boolean> {
  if (ehr === null || entry.kind !== 'update' || entry.type !== 'EHR_STATUS') return true;
  const namespaces = [ehr.subject?.namespace, subjectOf(entry.object)?.namespace];
  if (namespaces[0] === namespaces[1]) return true;
  for (const namespace of namespaces) {
    const object = await viewer.withMarks(ehrId, ehrObject({ ehrId, namespace, tags }));
    if (!viewer.permits('update', object)) return false;
  }
  return true;
}

/** What is there already of what an entry changes. What does not exist is for the plan to refuse. */
async function judged(
  viewer: Viewer,
  owner: JudgedEhr,
  entry: Exclude<VersionEntry, CreateEntry>,
): Promise<'permitted' | 'unseen' | 'forbidden'> {
  const { ehrId } = owner;
  const version = await versionChanged(ehrId, entry);
  if (version === undefined) {
    await viewer.lookForVersion(ehrId);
    return 'permitted';
  }
  const object = await viewer.objectOf(ehrId, version);
  const action = ACTIONS[entry.kind];
  if (viewer.permits(action, object))
    return (await mayRename(viewer, owner, entry)) ? 'permitted' : 'forbidden';
  if (viewer.permits('read', object)) return 'forbidden';
  viewer.refused(object);
  return 'unseen';
}

async function versionChanged(
  ehrId: string,
  entry: Exclude<VersionEntry, CreateEntry>,
): Promise<VersionDoc | undefined> {
  if (entry.kind === 'attest') {
    const [attested] = await versionsById(ehrId, [entry.versionUid]);
    if (attested !== undefined) return attested;
  }
  const [container] = await containersById([entry.versionedObjectUid]);
  if (container === undefined || belongsTo(container.ehr_id) !== ehrId) return undefined;
  return (await latestVersions([container])).get(container._id);
}

/** What an entry makes, as policies will see it. `readsContent`: false where no policy asks for what only the content says. */
function objectToBe(
  ehrId: string,
  entry: CreateEntry | UpdateEntry,
  {
    systemId,
    tags,
    readsContent,
  }: { readonly systemId: string; readonly tags: AccessTags; readonly readsContent: boolean },
): AccessObject {
  const { type, versionedObjectUid, composition, lifecycleState, audit } = entry;
  const before = entry.kind === 'update' ? parseObjectVersionId(entry.precedingVersionUid) : null;
  return versionObject({
    ...{ ehrId, type, lifecycleState, systemId, tags },
    uid: `${versionedObjectUid}::${systemId}::${(before?.version ?? 0) + 1}`,
    templateId: composition?.templateId,
    timeCommitted: new Date(),
    committer: audit.committer,
    content: readsContent ? contentOf(entry) : {},
  });
}

/** Of a large COMPOSITION the root is `object`, and all the rest is text. */
function contentOf({ object, prepared }: CreateEntry | UpdateEntry): JsonObject {
  return prepared === undefined ? object : jsonObjectOf(`{"_type":"COMPOSITION",${prepared.tail}`);
}
