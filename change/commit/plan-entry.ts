import { CdrError } from '../../openehr/base/errors.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { aqlDocument } from '../../aql/index/derive.js';
import { COLLECTIONS } from '../../models/layout.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { Write } from '../../models/write-batch.js';
import { flagsOf } from './ehr-flags.js';
import { derivedContent, followingVersion, newVersion, stamped } from './plan-version.js';
import type { EhrFlags, CommitDraft } from './progress.js';
import { objectNotFound, staleVersion } from './refusal.js';
import type {
  AttestEntry,
  CommittedVersion,
  CreateEntry,
  DeleteEntry,
  TemplateOfEntry,
  UpdateEntry,
  VersionEntry,
} from './request.js';

/** One entry worked out. */
export interface PlannedEntry {
  readonly version: CommittedVersion;
  readonly writes: readonly Write[];
  readonly shapes: readonly string[];
}

/** The writes of one entry; moves `progress` on. @throws CdrError when the entry cannot be committed */
export function planEntry(progress: CommitDraft, entry: VersionEntry): PlannedEntry {
  switch (entry.kind) {
    case 'create':
      return planCreate(progress, entry);
    case 'update':
      return planUpdate(progress, entry);
    case 'delete':
      return planDelete(progress, entry);
    case 'attest':
      return planAttest(progress, entry);
  }
}

function planCreate(progress: CommitDraft, entry: CreateEntry): PlannedEntry {
  const { type, versionedObjectUid } = entry;
  if (type !== 'EHR_STATUS') progress.requireModifiable();
  if (type === 'FOLDER' && progress.directoryId !== null)
    throw new CdrError('conflict', `EHR with id ${progress.request.ehrId} already contains a directory`);
  if (progress.container(versionedObjectUid) !== null) throw idInUse(type, versionedObjectUid);
  const version = newVersion(progress, entry, { versionedObjectUid, type, version: 1, time: progress.time });
  const container: VersionedObjectDoc = {
    _id: versionedObjectUid,
    ehr_id: progress.request.ehrId,
    type,
    time_created: version.time_committed,
    ...latestOf(version),
    ...compositionFields(entry.composition),
  };
  progress.keep(container);
  const derived = followContent(progress, entry, version);
  const insert = { collection: COLLECTIONS.versionedObjects, insert: container };
  return planned(version, [insert, ...derived.writes, ...templateUse(entry.composition)], derived.shapes);
}

function planUpdate(progress: CommitDraft, entry: UpdateEntry): PlannedEntry {
  const container = requireContainer(progress, entry.versionedObjectUid, entry.type);
  if (entry.type !== 'EHR_STATUS') progress.requireModifiable();
  requireLatest(container, entry.precedingVersionUid, 'precondition-failed');
  if (container.type === 'FOLDER' && container.deleted) throw staleVersion('precondition-failed', container);
  const version = followingVersion(progress, entry, container);
  progress.keep({ ...container, ...latestOf(version), ...compositionFields(entry.composition) });
  const derived = followContent(progress, entry, version);
  const writes = [
    advanceHead(container, version, compositionFields(entry.composition)),
    ...closePrevious(progress, container, version),
    ...derived.writes,
    ...templateUse(entry.composition),
  ];
  return planned(version, writes, derived.shapes);
}

function planDelete(progress: CommitDraft, entry: DeleteEntry): PlannedEntry {
  const container = requireContainer(progress, entry.versionedObjectUid, entry.type);
  if (container.type === 'EHR_STATUS') throw new CdrError('invalid', 'EHR_STATUS cannot be deleted');
  progress.requireModifiable();
  if (container.deleted)
    throw new CdrError('invalid', `${container.type} with id ${container._id} is deleted already`);
  requireLatest(container, entry.precedingVersionUid, entry.staleCode);
  const version = followingVersion(progress, { ...entry, lifecycleState: '523' }, container);
  progress.keep({ ...container, ...latestOf(version) });
  if (container.type === 'FOLDER') progress.directoryId = null;
  const insert = { collection: COLLECTIONS.versions, insert: version };
  return planned(
    version,
    [advanceHead(container, version, {}), ...closePrevious(progress, container, version), insert],
    [],
  );
}

function planAttest(progress: CommitDraft, entry: AttestEntry): PlannedEntry {
  const { request, settings, time } = progress;
  const container = requireContainer(progress, entry.versionedObjectUid, undefined);
  const id = parseObjectVersionId(entry.versionUid);
  const isKnown = id?.systemId === settings.systemId && id.version <= container.latest_version;
  if (!isKnown) throw objectNotFound(request.ehrId, 'object', entry.versionUid);
  if (container.type !== 'EHR_STATUS') progress.requireModifiable();
  const update = { $push: { attestations: { $each: stamped(progress, entry, time) } } };
  const filter = { _id: entry.versionUid, ehr_id: request.ehrId };
  return {
    version: { versionUid: entry.versionUid, type: container.type, timeCommitted: time, doc: null },
    writes: [{ collection: COLLECTIONS.versions, filter, update, matching: 'one' }],
    shapes: [],
  };
}

function planned(version: VersionDoc, writes: readonly Write[], shapes: readonly string[]): PlannedEntry {
  const { _id: versionUid, type, time_committed: timeCommitted } = version;
  return { version: { versionUid, type, timeCommitted, doc: version }, writes, shapes };
}

function idInUse(type: RootType, versionedObjectUid: string): CdrError {
  return type === 'FOLDER'
    ? new CdrError('conflict', `FOLDER with uid ${versionedObjectUid} already exist.`)
    : new CdrError('precondition-failed', `the uid ${versionedObjectUid} is in use already`);
}

function requireContainer(
  progress: CommitDraft,
  versionedObjectUid: string,
  type: RootType | undefined,
): VersionedObjectDoc {
  const { ehrId } = progress.request;
  const container = progress.container(versionedObjectUid);
  if (container?.ehr_id !== ehrId || (type !== undefined && container.type !== type))
    throw objectNotFound(ehrId, type ?? 'object', versionedObjectUid);
  return container;
}

function requireLatest(
  container: VersionedObjectDoc,
  named: string,
  code: 'precondition-failed' | 'conflict',
): void {
  if (container.latest_version_uid !== named) throw staleVersion(code, container);
}

function latestOf(
  version: VersionDoc,
): Pick<VersionedObjectDoc, 'latest_version' | 'latest_version_uid' | 'latest_time_committed' | 'deleted'> {
  return {
    latest_version: version.version,
    latest_version_uid: version._id,
    latest_time_committed: version.time_committed,
    deleted: version.data === null,
  };
}

function compositionFields(
  composition: TemplateOfEntry | undefined,
): Pick<VersionedObjectDoc, 'template_id' | 'category'> {
  if (composition === undefined) return {};
  return { template_id: composition.templateId, category: composition.category };
}

/** The container goes on to a version, if nobody else moved or first tagged it meanwhile. */
function advanceHead(container: VersionedObjectDoc, version: VersionDoc, fields: object): Write {
  return {
    collection: COLLECTIONS.versionedObjects,
    filter: {
      _id: container._id,
      ehr_id: container.ehr_id,
      latest_version_uid: container.latest_version_uid,
      has_item_tags: container.has_item_tags ?? null,
    },
    update: { $set: { ...latestOf(version), ...fields } },
    matching: 'one',
  };
}

/** The derived document of the version that is no longer the latest. */
function closePrevious({ state }: CommitDraft, container: VersionedObjectDoc, version: VersionDoc): Write[] {
  if (container.deleted) return [];
  return [
    {
      collection: COLLECTIONS.aql,
      filter: { _id: container.latest_version_uid },
      update: { $set: { latest: false, to: version.time_committed } },
      matching: state.mayLackIndex ? 'any' : 'one',
    },
  ];
}

/** The VERSION, its derived document, and what its content makes of the EHR. */
function followContent(
  progress: CommitDraft,
  entry: CreateEntry | UpdateEntry,
  version: VersionDoc,
): { readonly writes: readonly Write[]; readonly shapes: readonly string[] } {
  const { type, versionedObjectUid } = entry;
  if (type === 'EHR_STATUS') applyEhrStatus(progress, flagsOf(versionedObjectUid, entry.object));
  if (type === 'FOLDER') progress.directoryId = versionedObjectUid;
  const { leafIndex } = progress.settings.aql;
  const { document, shapes } = aqlDocument(
    {
      versionUid: version._id,
      ehrId: version.ehr_id,
      versionedObjectUid,
      version: version.version,
      type,
      timeCommitted: version.time_committed,
      contributionUid: version.contribution_uid,
      changeType: entry.audit.changeType,
      lifecycleState: entry.lifecycleState,
      isQueryable: progress.isQueryable,
    },
    derivedContent(entry, version._id, leafIndex),
  );
  const writes = [
    { collection: COLLECTIONS.versions, insert: version },
    { collection: COLLECTIONS.aql, insert: document },
  ];
  return { writes, shapes };
}

/** @throws conflict when another EHR has the subject, or an EHR merged into another one reserves it */
function applyEhrStatus(progress: CommitDraft, flags: EhrFlags): void {
  const { state, request } = progress;
  const { subjectHolder: holder } = state;
  if (flags.subject !== null && holder !== null && holder.finalEhrId !== request.ehrId) {
    const where = holder.finalEhrId === holder.ehrId ? '' : `, merged into ${holder.finalEhrId}`;
    throw new CdrError('conflict', `the subject is used by a different EHR${where}`);
  }
  progress.status = flags;
}

function templateUse(composition: TemplateOfEntry | undefined): Write[] {
  if (composition === undefined || composition.template.used) return [];
  const { revision, createdTimestamp } = composition.template;
  return [
    {
      collection: COLLECTIONS.templates,
      filter: { _id: composition.templateId, revision, created_timestamp: createdTimestamp },
      update: { $set: { used: true } },
      matching: 'one',
    },
  ];
}
