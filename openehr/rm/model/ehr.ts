import { abstract, concrete, many, maybe, one } from './define.js';

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
