import { abstract, concrete, maybe, one } from './define.js';

/** BASE base_types: identification package. */
export const IDENTIFIERS = [
  abstract('UID', null, one('value', 'String')),
  concrete('UUID', 'UID'),
  concrete('ISO_OID', 'UID'),
  concrete('INTERNET_ID', 'UID'),
  concrete('VERSION_TREE_ID', null, one('value', 'String')),

  abstract('OBJECT_ID', null, one('value', 'String')),
  abstract('UID_BASED_ID', 'OBJECT_ID'),
  concrete('HIER_OBJECT_ID', 'UID_BASED_ID'),
  concrete('OBJECT_VERSION_ID', 'UID_BASED_ID'),
  concrete('ARCHETYPE_ID', 'OBJECT_ID'),
  concrete('TEMPLATE_ID', 'OBJECT_ID'),
  concrete('TERMINOLOGY_ID', 'OBJECT_ID'),
  concrete('GENERIC_ID', 'OBJECT_ID', one('scheme', 'String')),

  concrete('OBJECT_REF', null, one('id', 'OBJECT_ID'), one('namespace', 'String'), one('type', 'String')),
  concrete('PARTY_REF', 'OBJECT_REF'),
  concrete('ACCESS_GROUP_REF', 'OBJECT_REF'),
  concrete('LOCATABLE_REF', 'OBJECT_REF', maybe('path', 'String')),
] as const;
