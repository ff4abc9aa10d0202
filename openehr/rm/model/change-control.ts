import { abstract, concrete, many, maybe, one, some } from './define.js';

/** RM common: change_control package and the audit classes of the generic package. */
export const CHANGE_CONTROL_CLASSES = [
  concrete(
    'AUDIT_DETAILS',
    null,
    one('system_id', 'String'),
    one('committer', 'PARTY_PROXY'),
    one('time_committed', 'DV_DATE_TIME'),
    one('change_type', 'DV_CODED_TEXT'),
    maybe('description', 'DV_TEXT'),
  ),
  concrete(
    'ATTESTATION',
    'AUDIT_DETAILS',
    maybe('attested_view', 'DV_MULTIMEDIA'),
    maybe('proof', 'String'),
    many('items', 'DV_EHR_URI'),
    one('reason', 'DV_TEXT'),
    one('is_pending', 'Boolean'),
  ),
  concrete(
    'REVISION_HISTORY_ITEM',
    null,
    one('version_id', 'OBJECT_VERSION_ID'),
    some('audits', 'AUDIT_DETAILS'),
  ),
  concrete('REVISION_HISTORY', null, many('items', 'REVISION_HISTORY_ITEM')),

  concrete(
    'CONTRIBUTION',
    null,
    one('uid', 'HIER_OBJECT_ID'),
    some('versions', 'OBJECT_REF'),
    one('audit', 'AUDIT_DETAILS'),
  ),
  abstract(
    'VERSION',
    null,
    one('contribution', 'OBJECT_REF'),
    one('commit_audit', 'AUDIT_DETAILS'),
    maybe('signature', 'String'),
  ),
  concrete(
    'ORIGINAL_VERSION',
    'VERSION',
    one('uid', 'OBJECT_VERSION_ID'),
    maybe('data', 'LOCATABLE'),
    maybe('preceding_version_uid', 'OBJECT_VERSION_ID'),
    many('other_input_version_uids', 'OBJECT_VERSION_ID'),
    many('attestations', 'ATTESTATION'),
    one('lifecycle_state', 'DV_CODED_TEXT'),
  ),
  concrete('IMPORTED_VERSION', 'VERSION', one('item', 'ORIGINAL_VERSION')),
  concrete(
    'VERSIONED_OBJECT',
    null,
    one('uid', 'HIER_OBJECT_ID'),
    one('owner_id', 'OBJECT_REF'),
    one('time_created', 'DV_DATE_TIME'),
    many('versions', 'VERSION'),
  ),
  concrete('VERSIONED_COMPOSITION', 'VERSIONED_OBJECT'),
  concrete('VERSIONED_EHR_STATUS', 'VERSIONED_OBJECT'),
  concrete('VERSIONED_EHR_ACCESS', 'VERSIONED_OBJECT'),
  concrete('VERSIONED_FOLDER', 'VERSIONED_OBJECT'),
] as const;
