import mongoose from 'mongoose';
import type { ReferenceData, ReferenceVersion } from '../../../aql/evaluate/data.js';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { isJsonObject } from '../../../openehr/base/json.js';
import { parseObjectVersionId } from '../../../openehr/base/object-version-id.js';
import { deriveAqlDocument } from '../../../aql/index/derive.js';
import { COLLECTIONS } from '../../../models/access/layout.js';
import type { AqlDocument, LeafIndex } from '../../../aql/index/document.js';

type Document = Record<string, unknown>;

/** Documents of every collection that AQL reads, as commits in the order of the data would leave them. */
export function documentsOf(
  data: ReferenceData,
  leafIndex: LeafIndex = 'all',
): ReadonlyMap<string, Document[]> {
  const versions = [...data.versions].sort((a, b) => a.timeCommitted.getTime() - b.timeCommitted.getTime());
  const shapes = new Set<string>();
  const aql = new Map<string, Document>();
  const latest = new Map<string, string>();
  const containers = new Map<string, Document>();
  const ehrs = new Map(data.ehrs.map((ehr) => [ehr.ehrId, ehr]));
  for (const version of versions) {
    const { versionedObjectUid, number } = idsOf(version);
    const previous = aql.get(latest.get(versionedObjectUid) ?? '');
    if (previous !== undefined) Object.assign(previous, { latest: false, to: version.timeCommitted });
    latest.set(versionedObjectUid, version.uid);
    const created = containers.get(versionedObjectUid)?.['time_created'] ?? version.timeCommitted;
    containers.set(versionedObjectUid, containerOf(version, created));
    if (version.data === null) continue;
    const ehr = ehrs.get(version.ehrId);
    const derived = deriveAqlDocument(
      {
        versionUid: version.uid,
        ehrId: version.ehrId,
        versionedObjectUid,
        version: number,
        type: version.type,
        timeCommitted: version.timeCommitted,
        contributionUid: version.contributionUid,
        changeType: codeOf(version.commitAudit['change_type']),
        lifecycleState: codeOf(version.lifecycleState),
        committer: version.commitAudit['committer'],
        isQueryable: ehr?.isQueryable ?? true,
        leafIndex,
      },
      version.data,
    );
    for (const shape of derived.shapes) shapes.add(shape);
    aql.set(version.uid, { ...(derived.document satisfies AqlDocument) });
  }
  return new Map([
    [COLLECTIONS.aql, [...aql.values()]],
    [COLLECTIONS.aqlShapes, [...shapes].map((_id) => ({ _id }))],
    [COLLECTIONS.versions, versions.map(versionDocument)],
    [COLLECTIONS.versionedObjects, [...containers.values()]],
    [COLLECTIONS.contributions, contributionsOf(versions)],
    [COLLECTIONS.ehrs, ehrDocuments(data, versions)],
  ]);
}

const BATCH = 1000;

/** Fills the connected database. */
export async function loadReferenceData(data: ReferenceData, leafIndex: LeafIndex = 'all'): Promise<void> {
  for (const [name, documents] of documentsOf(data, leafIndex)) {
    const collection = mongoose.connection.collection(name);
    await collection.deleteMany({});
    for (let at = 0; at < documents.length; at += BATCH)
      await collection.insertMany(documents.slice(at, at + BATCH));
  }
}

function idsOf({ uid }: ReferenceVersion): { versionedObjectUid: string; number: number } {
  const id = parseObjectVersionId(uid);
  if (id === null) throw new Error(`${uid} is no version uid`);
  return { versionedObjectUid: id.versionedObjectUid, number: id.version };
}

function containerOf(version: ReferenceVersion, created: unknown): Document {
  const { versionedObjectUid, number } = idsOf(version);
  return {
    _id: versionedObjectUid,
    ehr_id: version.ehrId,
    type: version.type,
    time_created: created,
    latest_version: number,
    latest_version_uid: version.uid,
    latest_time_committed: version.timeCommitted,
    deleted: version.data === null,
  };
}

function versionDocument(version: ReferenceVersion): Document {
  const { versionedObjectUid, number } = idsOf(version);
  const { precedingVersionUid, signature } = version;
  return {
    _id: version.uid,
    ehr_id: version.ehrId,
    object_id: versionedObjectUid,
    type: version.type,
    version: number,
    time_committed: version.timeCommitted,
    contribution_uid: version.contributionUid,
    ...(precedingVersionUid === null ? {} : { preceding_version_uid: precedingVersionUid }),
    ...(signature === undefined ? {} : { signature }),
    commit_audit: version.commitAudit,
    lifecycle_state: version.lifecycleState,
    data: version.data === null ? null : JSON.stringify(version.data),
  };
}

function contributionsOf(versions: readonly ReferenceVersion[]): Document[] {
  const found = new Map<string, Document & { versions: JsonObject[] }>();
  for (const { contributionUid, ehrId, timeCommitted, commitAudit, uid, type } of versions) {
    const entry = found.get(contributionUid) ?? {
      _id: contributionUid,
      ehr_id: ehrId,
      time_committed: timeCommitted,
      audit: commitAudit,
      versions: [],
    };
    entry.versions.push({ uid, type });
    found.set(contributionUid, entry);
  }
  return [...found.values()];
}

function ehrDocuments(data: ReferenceData, versions: readonly ReferenceVersion[]): Document[] {
  const owned = new Map<string, ReferenceVersion[]>();
  for (const version of versions) owned.set(version.ehrId, [...(owned.get(version.ehrId) ?? []), version]);
  return data.ehrs.map((ehr) => ehrDocument(ehr, owned.get(ehr.ehrId) ?? []));
}

function ehrDocument(ehr: ReferenceData['ehrs'][number], own: readonly ReferenceVersion[]): Document {
  const status = own.find(({ type }) => type === 'EHR_STATUS');
  const folder = own.findLast(({ type }) => type === 'FOLDER');
  return {
    _id: ehr.ehrId,
    system_id: ehr.systemId,
    time_created: ehr.timeCreated,
    state: ehr.isMerged === true ? 'merged' : 'active',
    write_seq: own.length,
    is_queryable: ehr.isQueryable,
    is_modifiable: true,
    ...(ehr.namespace === undefined ? {} : { subject: { namespace: ehr.namespace, id: ehr.ehrId } }),
    ...(status === undefined ? {} : { ehr_status_id: idsOf(status).versionedObjectUid }),
    ...(folder === undefined || folder.data === null
      ? {}
      : { directory_id: idsOf(folder).versionedObjectUid }),
  };
}

function codeOf(value: JsonValue | undefined): string {
  const code =
    isJsonObject(value) && isJsonObject(value.defining_code) ? value.defining_code.code_string : '';
  return typeof code === 'string' ? code : '';
}
