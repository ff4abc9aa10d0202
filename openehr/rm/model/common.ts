import { abstract, concrete, many, maybe, one, some } from './define.js';

const ARCHETYPE_NODE_ID = { ...one('archetype_node_id', 'String'), xmlAttribute: true };

/** RM common: archetyped, generic and directory packages. */
export const COMMON_CLASSES = [
  abstract('PATHABLE', null),
  abstract(
    'LOCATABLE',
    'PATHABLE',
    ARCHETYPE_NODE_ID,
    one('name', 'DV_TEXT'),
    maybe('uid', 'UID_BASED_ID'),
    many('links', 'LINK'),
    maybe('archetype_details', 'ARCHETYPED'),
    maybe('feeder_audit', 'FEEDER_AUDIT'),
  ),
  concrete(
    'ARCHETYPED',
    null,
    one('archetype_id', 'ARCHETYPE_ID'),
    maybe('template_id', 'TEMPLATE_ID'),
    one('rm_version', 'String'),
  ),
  concrete('LINK', null, one('meaning', 'DV_TEXT'), one('type', 'DV_TEXT'), one('target', 'DV_EHR_URI')),
  concrete(
    'FEEDER_AUDIT',
    null,
    many('originating_system_item_ids', 'DV_IDENTIFIER'),
    many('feeder_system_item_ids', 'DV_IDENTIFIER'),
    maybe('original_content', 'DV_ENCAPSULATED'),
    one('originating_system_audit', 'FEEDER_AUDIT_DETAILS'),
    maybe('feeder_system_audit', 'FEEDER_AUDIT_DETAILS'),
  ),
  concrete(
    'FEEDER_AUDIT_DETAILS',
    null,
    one('system_id', 'String'),
    maybe('location', 'PARTY_IDENTIFIED'),
    maybe('provider', 'PARTY_IDENTIFIED'),
    maybe('subject', 'PARTY_PROXY'),
    maybe('time', 'DV_DATE_TIME'),
    maybe('version_id', 'String'),
    maybe('other_details', 'ITEM_STRUCTURE'),
  ),

  abstract('PARTY_PROXY', null, maybe('external_ref', 'PARTY_REF')),
  concrete('PARTY_SELF', 'PARTY_PROXY'),
  concrete('PARTY_IDENTIFIED', 'PARTY_PROXY', maybe('name', 'String'), many('identifiers', 'DV_IDENTIFIER')),
  concrete('PARTY_RELATED', 'PARTY_IDENTIFIED', one('relationship', 'DV_CODED_TEXT')),
  concrete(
    'PARTICIPATION',
    null,
    one('function', 'DV_TEXT'),
    one('performer', 'PARTY_PROXY'),
    maybe('time', 'DV_INTERVAL'),
    maybe('mode', 'DV_CODED_TEXT'),
  ),

  concrete(
    'FOLDER',
    'LOCATABLE',
    many('folders', 'FOLDER'),
    many('items', 'OBJECT_REF'),
    maybe('details', 'ITEM_STRUCTURE'),
  ),
] as const;

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

/** RM ehr: the EHR and its two objects beside COMPOSITION. This service keeps no EHR_ACCESS, so it is optional. */
export const EHR_CLASSES = [
  concrete(
    'EHR',
    null,
    one('system_id', 'HIER_OBJECT_ID'),
    one('ehr_id', 'HIER_OBJECT_ID'),
    one('time_created', 'DV_DATE_TIME'),
    many('contributions', 'OBJECT_REF'),
    maybe('ehr_access', 'OBJECT_REF'),
    one('ehr_status', 'OBJECT_REF'),
    maybe('directory', 'OBJECT_REF'),
    many('folders', 'OBJECT_REF'),
    many('compositions', 'OBJECT_REF'),
  ),
  concrete(
    'EHR_STATUS',
    'LOCATABLE',
    one('subject', 'PARTY_SELF'),
    one('is_queryable', 'Boolean'),
    one('is_modifiable', 'Boolean'),
    maybe('other_details', 'ITEM_STRUCTURE'),
  ),
  concrete('EHR_ACCESS', 'LOCATABLE', maybe('settings', 'ACCESS_CONTROL_SETTINGS')),
  abstract('ACCESS_CONTROL_SETTINGS', null),
] as const;
