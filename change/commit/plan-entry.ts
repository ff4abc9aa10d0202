import { CdrError } from '../../openehr/base/errors.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { aqlDocument } from '../../aql/index/derive.js';
import { aqlInsert, supersede } from '../../models/aql-document.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { markTemplateUsed } from '../../models/definition/template.js';
import { markEarlierUsed } from '../../models/definition/template-revision.js';
import { attestVersion, versionInsert, type VersionDoc } from '../../models/version.js';
import {
  advanceHead,
  containerInsert,
  headOf,
  type VersionedObjectDoc,
} from '../../models/versioned-object.js';
import type { Write } from '../../models/access/write.js';
import { LIFECYCLE } from './codes.js';
import { flagsOf } from './ehr-flags.js';
import {
  creatingSystem,
  derivedContent,
  followingVersion,
  newVersion,
  serverAttestations,
} from './plan-version.js';
import type { EhrFlags, CommitDraft } from './draft.js';
import { objectNotFound, staleVersion } from './refusal.js';
import { requireItemDigest } from './signature.js';
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

/** The writes of one entry; moves the draft on. @throws CdrError when the entry cannot be committed */
export function planEntry(draft: CommitDraft, entry: VersionEntry): PlannedEntry {
  switch (entry.kind) {
    case 'create':
      return planCreate(draft, entry);
    case 'update':
      return planUpdate(draft, entry);
    case 'delete':
      return planDelete(draft, entry);
    case 'attest':
      return planAttest(draft, entry);
  }
}

function planCreate(draft: CommitDraft, entry: CreateEntry): PlannedEntry {
  const { type, versionedObjectUid } = entry;
  if (type !== 'EHR_STATUS') draft.requireModifiable();
  if (type === 'FOLDER' && draft.directoryId !== null)
    throw new CdrError('conflict', `EHR with id ${draft.request.ehrId} already contains a directory`);
  if (draft.container(versionedObjectUid) !== null) throw idInUse(type, versionedObjectUid);
  const { imported } = entry;
  const systemId = imported === undefined ? draft.settings.systemId : creatingSystem(imported, 1);
  const target = { versionedObjectUid, systemId, type, version: 1, time: draft.time };
  const version = newVersion(draft, entry, target);
  const container: VersionedObjectDoc = {
    _id: versionedObjectUid,
    ehr_id: draft.request.ehrId,
    type,
    time_created: version.time_committed,
    ...headOf(version),
    ...compositionFields(entry.composition),
  };
  draft.keep(container);
  const derived = contentWrites(draft, entry, version);
  const writes = [containerInsert(container), ...derived.writes, ...templateUse(entry.composition)];
  return planned(version, writes, derived.shapes);
}

function planUpdate(draft: CommitDraft, entry: UpdateEntry): PlannedEntry {
  const container = requireContainer(draft, entry.versionedObjectUid, entry.type);
  if (entry.type !== 'EHR_STATUS') draft.requireModifiable();
  requireLatest(container, entry.precedingVersionUid, 'precondition-failed');
  if (container.type === 'FOLDER' && container.deleted) throw staleVersion('precondition-failed', container);
  const version = followingVersion(draft, entry, container);
  draft.keep({ ...container, ...headOf(version), ...compositionFields(entry.composition) });
  const derived = contentWrites(draft, entry, version);
  const writes = [
    advanceHead(container, version, compositionFields(entry.composition)),
    ...closePrevious(draft, container, version),
    ...derived.writes,
    ...templateUse(entry.composition),
  ];
  return planned(version, writes, derived.shapes);
}

function planDelete(draft: CommitDraft, entry: DeleteEntry): PlannedEntry {
  const container = requireContainer(draft, entry.versionedObjectUid, entry.type);
  if (container.type === 'EHR_STATUS') throw new CdrError('conflict', 'EHR_STATUS cannot be deleted');
  draft.requireModifiable();
  // A directory is named by `If-Match`: whoever lost the race for it named a version that is no longer the latest.
  if (container.deleted && entry.staleCode === 'precondition-failed')
    throw staleVersion('precondition-failed', container);
  if (container.deleted)
    throw new CdrError('invalid', `${container.type} with id ${container._id} is deleted already`);
  requireLatest(container, entry.precedingVersionUid, entry.staleCode);
  const version = followingVersion(draft, { ...entry, lifecycleState: LIFECYCLE.deleted }, container);
  draft.keep({ ...container, ...headOf(version) });
  if (container.type === 'FOLDER') draft.directoryId = null;
  const writes = [
    advanceHead(container, version, {}),
    ...closePrevious(draft, container, version),
    versionInsert(version),
  ];
  return planned(version, writes, []);
}

function planAttest(draft: CommitDraft, entry: AttestEntry): PlannedEntry {
  const { request, time } = draft;
  const container = requireContainer(draft, entry.versionedObjectUid, undefined);
  if (!isKnown(draft, container, entry.versionUid))
    throw objectNotFound(request.ehrId, 'object', entry.versionUid);
  if (container.type !== 'EHR_STATUS') draft.requireModifiable();
  const attestations = serverAttestations(draft, entry, time);
  return {
    version: { versionUid: entry.versionUid, type: container.type, timeCommitted: time, doc: null },
    writes: [attestVersion(request.ehrId, entry.versionUid, attestations)],
    shapes: [],
  };
}

/** Optimistic: a number that the container has reached; when the write has found none, what was read says. */
function isKnown({ state }: CommitDraft, container: VersionedObjectDoc, versionUid: string): boolean {
  const number = parseObjectVersionId(versionUid)?.version ?? Infinity;
  if (number > container.latest_version) return false;
  const before = state.containers.get(container._id)?.latest_version ?? 0;
  return number > before || state.attested?.has(versionUid) !== false;
}

function planned(version: VersionDoc, writes: readonly Write[], shapes: readonly string[]): PlannedEntry {
  const { _id: versionUid, type, time_committed: timeCommitted, item } = version;
  if (item !== undefined) requireItemDigest(version, item);
  return { version: { versionUid, type, timeCommitted, doc: version }, writes, shapes };
}

function idInUse(type: RootType, versionedObjectUid: string): CdrError {
  return type === 'FOLDER'
    ? new CdrError('conflict', `FOLDER with uid ${versionedObjectUid} already exist.`)
    : new CdrError('precondition-failed', `the uid ${versionedObjectUid} is in use already`);
}

function requireContainer(
  draft: CommitDraft,
  versionedObjectUid: string,
  type: RootType | undefined,
): VersionedObjectDoc {
  const { ehrId } = draft.request;
  const container = draft.container(versionedObjectUid);
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

function compositionFields(
  composition: TemplateOfEntry | undefined,
): Pick<VersionedObjectDoc, 'template_id' | 'category'> {
  if (composition === undefined) return {};
  return { template_id: composition.templateId, category: composition.category };
}

/** The latest version so far has a successor; a deletion has no derived document. */
function closePrevious({ state }: CommitDraft, container: VersionedObjectDoc, version: VersionDoc): Write[] {
  if (container.deleted) return [];
  const mayBeMissing = state.mayLackIndex;
  return [supersede(container.latest_version_uid, version.time_committed, { mayBeMissing })];
}

/** The VERSION, its derived document, and what its content makes of the EHR. */
function contentWrites(
  draft: CommitDraft,
  entry: CreateEntry | UpdateEntry,
  version: VersionDoc,
): { readonly writes: readonly Write[]; readonly shapes: readonly string[] } {
  const { type, versionedObjectUid } = entry;
  if (type === 'EHR_STATUS') applyEhrStatus(draft, flagsOf(versionedObjectUid, entry.object));
  if (type === 'FOLDER') draft.directoryId = versionedObjectUid;
  const { leafIndex } = draft.settings.aql;
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
      committer: version.commit_audit.committer,
      isQueryable: draft.isQueryable,
      isImported: version.item !== undefined,
    },
    derivedContent(entry, version._id, leafIndex),
  );
  return { writes: [versionInsert(version), aqlInsert(document)], shapes };
}

/** @throws conflict when another EHR has the subject, or an EHR merged into another one reserves it */
function applyEhrStatus(draft: CommitDraft, flags: EhrFlags): void {
  const { state, request } = draft;
  const { subjectHolder: holder } = state;
  if (flags.subject !== null && holder !== null && holder.finalEhrId !== request.ehrId) {
    const where = holder.finalEhrId === holder.ehrId ? '' : `, merged into ${holder.finalEhrId}`;
    throw new CdrError('conflict', `the subject is used by a different EHR${where}`);
  }
  draft.status = flags;
}

function templateUse(composition: TemplateOfEntry | undefined): Write[] {
  if (composition === undefined || composition.template.used) return [];
  const { earlierId } = composition.template;
  return [earlierId === undefined ? markTemplateUsed(composition.template) : markEarlierUsed(earlierId)];
}
