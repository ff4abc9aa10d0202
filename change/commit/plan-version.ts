import { CdrError } from '../../openehr/base/errors.js';
import { formatObjectVersionId } from '../../openehr/base/object-version-id.js';
import { deriveContent, type DerivedContent } from '../../aql/index/derive.js';
import type { LeafIndex } from '../../aql/index/document.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { auditDetails } from './audit.js';
import { lifecycleTerm } from './codes.js';
import type { CommitDraft } from './draft.js';
import type { CreateEntry, DeleteEntry, ImportedItem, UpdateEntry, VersionMetadata } from './request.js';
import { signedVersion } from './signature.js';
import { objectVersionId } from './resource.js';

/** Where a new version goes. */
export interface VersionTarget {
  readonly versionedObjectUid: string;
  /** That makes it, or made it. */
  readonly systemId: string;
  readonly type: RootType;
  readonly version: number;
  readonly time: Date;
  readonly preceding?: VersionedObjectDoc;
}

/** The version after the latest of a container, 1 ms or more later. @throws precondition-failed, too-large */
export function followingVersion(
  draft: CommitDraft,
  entry: UpdateEntry | DeleteEntry,
  container: VersionedObjectDoc,
): VersionDoc {
  const version = container.latest_version + 1;
  const { imported } = entry;
  return newVersion(draft, entry, {
    versionedObjectUid: container._id,
    systemId: imported === undefined ? draft.settings.systemId : creatingSystem(imported, version),
    type: container.type,
    version,
    time: draft.timeAfter(container),
    preceding: container,
  });
}

/** The document of a new version. @throws precondition-failed for another expected uid, too-large */
export function newVersion(
  draft: CommitDraft,
  entry: CreateEntry | UpdateEntry | DeleteEntry,
  target: VersionTarget,
): VersionDoc {
  const { settings, request } = draft;
  const { versionedObjectUid, systemId, version, preceding, time } = target;
  const versionUid = formatObjectVersionId({ versionedObjectUid, systemId, version });
  if (entry.expectedUid !== undefined && entry.expectedUid !== versionUid)
    throw new CdrError('precondition-failed', `the version uid will be ${versionUid}, another one was given`);
  const templateId = entry.kind === 'delete' ? undefined : entry.composition?.templateId;
  const keptTemplateId = templateId ?? preceding?.template_id;
  const made: VersionDoc = {
    _id: versionUid,
    ehr_id: request.ehrId,
    object_id: versionedObjectUid,
    type: target.type,
    version,
    time_committed: time,
    contribution_uid: request.contributionUid,
    ...(preceding !== undefined && inheritedFields(preceding)),
    commit_audit: auditDetails(entry.audit, settings.systemId, time),
    lifecycle_state: lifecycleTerm(entry.lifecycleState),
    ...optionalFields(draft, entry, time, versionUid),
    ...(keptTemplateId !== undefined && { template_id: keptTemplateId }),
    data: entry.kind === 'delete' ? null : dataText(draft, entry, versionUid),
  };
  return settings.signing === 'digest' || made.signature !== undefined ? signedVersion(made) : made;
}

/** The system that made what is imported. @throws precondition-failed when its number is not the next one */
export function creatingSystem({ id }: ImportedItem, version: number): string {
  if (id.version === version) return id.systemId;
  throw new CdrError(
    'precondition-failed',
    `the next version of ${id.versionedObjectUid} has the number ${version}, ${formatObjectVersionId(id)} was given`,
  );
}

function importedFields({
  lifecycleState,
  otherInputVersionUids: inputs,
  attestations,
  act,
}: ImportedItem): Partial<VersionDoc> {
  return {
    lifecycle_state: lifecycleState,
    ...(inputs.length > 0 && { other_input_version_uids: inputs }),
    ...(attestations.length > 0 && { attestations }),
    item: act,
  };
}

/** What a version takes over from the one before. */
function inheritedFields(
  container: VersionedObjectDoc,
): Pick<VersionDoc, 'preceding_version_uid' | 'has_item_tags'> {
  return {
    preceding_version_uid: container.latest_version_uid,
    ...(container.has_item_tags === true && { has_item_tags: true }),
  };
}

function optionalFields(
  draft: CommitDraft,
  entry: VersionMetadata,
  time: Date,
  versionUid: string,
): Partial<VersionDoc> {
  const signature = entry.signature ?? draft.request.signatures?.get(versionUid);
  const inputs = entry.otherInputVersionUids ?? [];
  const attestations = serverAttestations(draft, entry, time);
  const findings = entry.findings ?? [];
  const { templateDigest: digest, imported } = entry;
  return {
    ...(signature !== undefined && { signature }),
    ...(inputs.length > 0 && { other_input_version_uids: inputs }),
    ...(attestations.length > 0 && { attestations }),
    ...(findings.length > 0 && { validation_findings: findings }),
    ...(digest !== undefined && { template_digest: digest }),
    ...(imported !== undefined && importedFields(imported)),
  };
}

/** ATTESTATIONs carry the server's time and system id, whatever the client wrote. */
export function serverAttestations(
  { settings }: CommitDraft,
  entry: VersionMetadata,
  time: Date,
): VersionDoc['attestations'] & {} {
  const { time_committed } = auditDetails(entry.audit, settings.systemId, time);
  return (entry.attestations ?? []).map((attestation) => ({
    ...attestation,
    _type: 'ATTESTATION',
    system_id: settings.systemId,
    time_committed: time_committed ?? null,
  }));
}

/** Canonical JSON text with the version uid as `uid`. @throws too-large over `MAX_COMPOSITION_BYTES` */
function dataText(draft: CommitDraft, entry: CreateEntry | UpdateEntry, versionUid: string): string {
  const text = canonicalText(entry, versionUid);
  const limit = draft.settings.maxCompositionBytes;
  if (text.length * 3 > limit && Buffer.byteLength(text) > limit)
    throw new CdrError(
      'too-large',
      `the canonical JSON of the ${entry.type} is larger than ${limit} bytes (MAX_COMPOSITION_BYTES): split it`,
      { budget: { name: 'objectBytes', setting: 'MAX_COMPOSITION_BYTES', limit, used: null } },
    );
  return text;
}

function canonicalText(entry: CreateEntry | UpdateEntry, versionUid: string): string {
  if (entry.prepared === undefined) return JSON.stringify(withVersionUid(entry, versionUid));
  const head = JSON.stringify({ _type: entry.type, uid: objectVersionId(versionUid) });
  return `${head.slice(0, -1)},${entry.prepared.tail}`;
}

/** Canonical JSON of an entry with the version uid as `uid`. */
function withVersionUid(entry: CreateEntry | UpdateEntry, versionUid: string): CreateEntry['object'] {
  const identity = { uid: objectVersionId(versionUid) };
  return { _type: entry.type, ...identity, ...entry.object, ...identity };
}

/** What goes from the content of an entry into its derived document, with the version uid as `uid`. */
export function derivedContent(
  entry: CreateEntry | UpdateEntry,
  versionUid: string,
  leafIndex: LeafIndex,
): DerivedContent {
  const { prepared } = entry;
  if (prepared === undefined) return deriveContent(withVersionUid(entry, versionUid), leafIndex);
  const [root, ...others] = prepared.derived.segs;
  if (root === undefined) throw new TypeError('derived content has a root segment');
  const rootWithUid = { ...root, o: { ...root.o, uid: objectVersionId(versionUid) } };
  return { ...prepared.derived, segs: [rootWithUid, ...others] };
}
