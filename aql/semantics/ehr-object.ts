import type { JsonObject } from '../../openehr/base/json.js';
import { counted } from '../../openehr/base/work.js';

/** The parts of a whole EHR (`SELECT e`). Uids of versioned objects and contributions oldest first. */
export interface EhrSummary {
  readonly ehrId: string;
  readonly systemId: string;
  /** ISO 8601. */
  readonly timeCreated: string;
  /** OBJECT_VERSION_ID of the latest EHR_STATUS. */
  readonly ehrStatusUid: string | null;
  /** HIER_OBJECT_ID of the directory. */
  readonly directoryId: string | null;
  readonly compositionIds: readonly string[];
  readonly contributionUids: readonly string[];
}

/** An OBJECT_REF into this system. BASE base_types: OBJECT_REF. */
export function objectRef(
  idType: 'HIER_OBJECT_ID' | 'OBJECT_VERSION_ID',
  id: string,
  type: string,
): JsonObject {
  return { _type: 'OBJECT_REF', id: { _type: idType, value: id }, namespace: 'local', type };
}

/** Reference to a COMPOSITION as `e/compositions` gives it. */
export function compositionRef(versionedObjectUid: string): JsonObject {
  return objectRef('HIER_OBJECT_ID', versionedObjectUid, 'VERSIONED_COMPOSITION');
}

/** Reference to a CONTRIBUTION as `e/contributions` gives it. */
export function contributionRef(uid: string): JsonObject {
  return objectRef('HIER_OBJECT_ID', uid, 'CONTRIBUTION');
}

/** Reference to a directory as `e/folders` gives it. */
export function folderRef(versionedObjectUid: string): JsonObject {
  return objectRef('HIER_OBJECT_ID', versionedObjectUid, 'VERSIONED_FOLDER');
}

/** The cell of a whole EHR. RM: EHR. docs/spec/aql.md#cells */
export function ehrObject(summary: EhrSummary): JsonObject {
  const { ehrStatusUid, directoryId, compositionIds, contributionUids } = summary;
  return {
    _type: 'EHR',
    system_id: { _type: 'HIER_OBJECT_ID', value: summary.systemId },
    ehr_id: { _type: 'HIER_OBJECT_ID', value: summary.ehrId },
    time_created: { _type: 'DV_DATE_TIME', value: summary.timeCreated },
    ...(ehrStatusUid === null
      ? {}
      : { ehr_status: objectRef('OBJECT_VERSION_ID', ehrStatusUid, 'EHR_STATUS') }),
    ...(directoryId === null ? {} : { directory: folderRef(directoryId) }),
    ...(compositionIds.length === 0 ? {} : { compositions: counted(compositionIds).map(compositionRef) }),
    ...(contributionUids.length === 0
      ? {}
      : { contributions: counted(contributionUids).map(contributionRef) }),
  };
}
