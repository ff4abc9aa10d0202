import { abstract, concrete, many, maybe, one } from './define.js';

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
