import type { JsonObject } from '../../../openehr/base/json.js';
import type { EhrDoc } from '../../../models/ehr.js';
import type { ItemTagDoc } from '../../../models/item-tag.js';
import type { RootType } from '../../../openehr/rm/root-type.js';
import type { VersionDoc } from '../../../models/version.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import type { MergeRequest } from '../../../merge/request.js';

/** EHR ids of all tests. */
export const SOURCE = 'aaaaaaaa-0000-4000-8000-000000000001';
export const TARGET = 'bbbbbbbb-0000-4000-8000-000000000002';

export const FRESH = { mergeId: 'merge', contributionUid: 'contribution', folderUid: 'folder-uid' };

export function request(further: Partial<MergeRequest> = {}): MergeRequest {
  return {
    sourceEhr: SOURCE,
    targetEhr: TARGET,
    reversible: true,
    folderMerge: 'BASIC',
    compositionMerge: 'BASIC',
    resolutions: { compositions: new Map(), ehrStatus: new Map() },
    dryRun: false,
    committer: 'root-admin',
    motive: {},
    ...further,
  };
}

export function ehr(ehrId: string, further: Partial<EhrDoc> = {}): EhrDoc {
  return {
    _id: ehrId,
    system_id: 'local.cdr',
    time_created: new Date(0),
    state: 'active',
    write_seq: 1,
    is_queryable: true,
    is_modifiable: true,
    ehr_status_id: `${ehrId}-status`,
    ...further,
  };
}

export function uidOf(versionedObjectUid: string, version: number): string {
  return `${versionedObjectUid}::local.cdr::${version}`;
}

export function container(
  versionedObjectUid: string,
  type: RootType,
  further: Partial<VersionedObjectDoc> = {},
): VersionedObjectDoc {
  const version = further.latest_version ?? 1;
  return {
    _id: versionedObjectUid,
    ehr_id: SOURCE,
    type,
    time_created: new Date(0),
    latest_version: version,
    latest_version_uid: uidOf(versionedObjectUid, version),
    latest_time_committed: new Date(1_000),
    deleted: false,
    ...further,
  };
}

export function persistent(
  versionedObjectUid: string,
  further: Partial<VersionedObjectDoc> = {},
): VersionedObjectDoc {
  return container(versionedObjectUid, 'COMPOSITION', {
    category: '431',
    template_id: 'problems',
    ...further,
  });
}

export function latest(of: VersionedObjectDoc, content: JsonObject, state = '532'): VersionDoc {
  return {
    _id: of.latest_version_uid,
    ehr_id: of.ehr_id,
    object_id: of._id,
    type: of.type,
    version: of.latest_version,
    time_committed: of.latest_time_committed,
    contribution_uid: 'c',
    commit_audit: {},
    lifecycle_state: { defining_code: { code_string: state } },
    data: JSON.stringify({ _type: of.type, ...content }),
  };
}

export function tag(id: string, target: string, further: Partial<ItemTagDoc> = {}): ItemTagDoc {
  return {
    _id: id,
    owner_id: SOURCE,
    target,
    target_type: 'COMPOSITION',
    target_version: null,
    key: 'k',
    value: null,
    target_path: null,
    ...further,
  };
}
