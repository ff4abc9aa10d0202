import type { JsonObject } from '../../openehr/base/json.js';
import type { ContributionDoc } from '../../models/contribution.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { OriginalItem, VersionDoc, VersionHead } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { serverTime } from './audit.js';

/** An RM object and, apart from it, the stored JSON text of one of its attributes. */
export interface Resource {
  readonly object: JsonObject;
  /** Attribute whose value is `text`; spliced in behind them, so that stored content is never parsed to be written. */
  readonly spliced?: { readonly name: string; readonly text: string };
  /** Attributes that stand behind that one. */
  readonly behind?: JsonObject;
}

/** Canonical JSON text of a resource. */
export function resourceText({ object, spliced, behind }: Resource): string {
  const text = JSON.stringify(object);
  if (spliced === undefined) return text;
  const end = behind === undefined ? '}' : `,${JSON.stringify(behind).slice(1)}`;
  return `${text.slice(0, -1)},"${spliced.name}":${spliced.text}${end}`;
}

/** HIER_OBJECT_ID. */
export function hierObjectId(value: string): JsonObject {
  return { _type: 'HIER_OBJECT_ID', value };
}

/** OBJECT_VERSION_ID. */
export function objectVersionId(value: string): JsonObject {
  return { _type: 'OBJECT_VERSION_ID', value };
}

/** OBJECT_REF within this server. */
export function localRef(id: JsonObject, type: string): JsonObject {
  return { _type: 'OBJECT_REF', id, namespace: 'local', type };
}

/** EHR with its whole EHR_STATUS, or with a reference to it (`EHR_STATUS_AS_REF`). RM: EHR. */
export function ehrResource(
  ehr: Pick<EhrDoc, '_id' | 'system_id' | 'time_created'>,
  status: Pick<VersionDoc, '_id' | 'data'>,
  options: { readonly statusAsRef: boolean; readonly lists?: JsonObject | undefined },
): Resource {
  const object: JsonObject = {
    _type: 'EHR',
    system_id: hierObjectId(ehr.system_id),
    ehr_id: hierObjectId(ehr._id),
    time_created: serverTime(ehr.time_created),
    ...options.lists,
  };
  if (options.statusAsRef)
    return { object: { ...object, ehr_status: localRef(objectVersionId(status._id), 'EHR_STATUS') } };
  return { object, spliced: { name: 'ehr_status', text: status.data ?? 'null' } };
}

/** VERSIONED_COMPOSITION, VERSIONED_EHR_STATUS or VERSIONED_FOLDER. RM: VERSIONED_OBJECT. */
export function versionedObjectResource(container: VersionedObjectDoc): Resource {
  return {
    object: {
      _type: `VERSIONED_${container.type}`,
      uid: hierObjectId(container._id),
      owner_id: localRef(hierObjectId(container.ehr_id), 'EHR'),
      time_created: serverTime(container.time_created),
    },
  };
}

/** ORIGINAL_VERSION, or IMPORTED_VERSION of what another system made. RM common: VERSION. */
export function versionResource(version: VersionDoc): Resource {
  const act = actResource(ownAct(version));
  if (version.item === undefined) return originalVersionResource(version, act);
  return {
    object: { _type: 'IMPORTED_VERSION', ...act },
    spliced: { name: 'item', text: resourceText(itemResource(version, version.item)) },
  };
}

/** The ORIGINAL_VERSION that an IMPORTED_VERSION holds, as the system that made it has it. */
export function itemResource(version: VersionDoc, item: OriginalItem): Resource {
  return originalVersionResource(version, actResource(item));
}

function ownAct({ contribution_uid: uid, commit_audit, signature }: VersionDoc): OriginalItem {
  const contribution = localRef(hierObjectId(uid), 'CONTRIBUTION');
  return { contribution, commit_audit, ...(signature !== undefined && { signature }) };
}

function actResource({ contribution, signature, commit_audit }: OriginalItem): JsonObject {
  return { contribution, ...(signature !== undefined && { signature }), commit_audit };
}

/** ORIGINAL_VERSION; without `data` for a deletion. `act`: how it was made. */
function originalVersionResource(version: VersionDoc, act: JsonObject): Resource {
  const object: JsonObject = {
    _type: 'ORIGINAL_VERSION',
    ...act,
    uid: objectVersionId(version._id),
    ...(version.preceding_version_uid !== undefined && {
      preceding_version_uid: objectVersionId(version.preceding_version_uid),
    }),
    ...(version.other_input_version_uids !== undefined && {
      other_input_version_uids: version.other_input_version_uids.map(objectVersionId),
    }),
    ...(version.attestations !== undefined && { attestations: [...version.attestations] }),
    lifecycle_state: version.lifecycle_state,
  };
  return version.data === null ? { object } : { object, spliced: { name: 'data', text: version.data } };
}

/** REVISION_HISTORY of all versions, oldest first: each with its commit audit, that of its `item`, then its ATTESTATIONs. */
export function revisionHistoryResource(versions: readonly VersionHead[]): Resource {
  const items = versions.map((version) => ({
    _type: 'REVISION_HISTORY_ITEM',
    version_id: objectVersionId(version._id),
    audits: [
      version.commit_audit,
      ...(version.item === undefined ? [] : [version.item.commit_audit]),
      ...(version.attestations ?? []),
    ],
  }));
  return { object: { _type: 'REVISION_HISTORY', items } };
}

/** CONTRIBUTION with references to its versions, or with the versions themselves (`resolve_refs`). */
export function contributionResource(
  contribution: ContributionDoc,
  resolved: ReadonlyMap<string, VersionDoc> | null,
): Resource {
  const { _id, versions, audit } = contribution;
  const uid = hierObjectId(_id);
  const reference = (version: ContributionDoc['versions'][number]): JsonObject =>
    localRef(objectVersionId(version.uid), version.type);
  if (resolved === null)
    return { object: { _type: 'CONTRIBUTION', uid, versions: versions.map(reference), audit } };
  const texts = versions.map((each) => {
    const version = resolved.get(each.uid);
    return version === undefined ? JSON.stringify(reference(each)) : resourceText(versionResource(version));
  });
  return {
    object: { _type: 'CONTRIBUTION', uid },
    spliced: { name: 'versions', text: `[${texts.join(',')}]` },
    behind: { audit },
  };
}

const ROOT_NAMES: Readonly<Record<RootType, string>> = {
  COMPOSITION: 'composition',
  EHR_STATUS: 'ehr_status',
  FOLDER: 'folder',
};

/** Name of the XML root element of a versioned root. */
export function rootName(type: RootType): string {
  return ROOT_NAMES[type];
}
