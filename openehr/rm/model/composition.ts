import { abstract, concrete, many, maybe, one, some } from './define.js';

/** RM ehr.composition: COMPOSITION, its content, navigation and entry packages; integration's GENERIC_ENTRY. */
export const COMPOSITION_CLASSES = [
  concrete(
    'COMPOSITION',
    'LOCATABLE',
    one('language', 'CODE_PHRASE'),
    one('territory', 'CODE_PHRASE'),
    one('category', 'DV_CODED_TEXT'),
    one('composer', 'PARTY_PROXY'),
    maybe('context', 'EVENT_CONTEXT'),
    many('content', 'CONTENT_ITEM'),
  ),
  concrete(
    'EVENT_CONTEXT',
    'PATHABLE',
    one('start_time', 'DV_DATE_TIME'),
    maybe('end_time', 'DV_DATE_TIME'),
    maybe('location', 'String'),
    one('setting', 'DV_CODED_TEXT'),
    maybe('other_context', 'ITEM_STRUCTURE'),
    maybe('health_care_facility', 'PARTY_IDENTIFIED'),
    many('participations', 'PARTICIPATION'),
  ),

  abstract('CONTENT_ITEM', 'LOCATABLE'),
  concrete('SECTION', 'CONTENT_ITEM', many('items', 'CONTENT_ITEM')),
  concrete('GENERIC_ENTRY', 'CONTENT_ITEM', one('data', 'ITEM_TREE')),
  abstract(
    'ENTRY',
    'CONTENT_ITEM',
    one('language', 'CODE_PHRASE'),
    one('encoding', 'CODE_PHRASE'),
    one('subject', 'PARTY_PROXY'),
    maybe('provider', 'PARTY_PROXY'),
    many('other_participations', 'PARTICIPATION'),
    maybe('workflow_id', 'OBJECT_REF'),
  ),
  concrete('ADMIN_ENTRY', 'ENTRY', one('data', 'ITEM_STRUCTURE')),
  abstract('CARE_ENTRY', 'ENTRY', maybe('protocol', 'ITEM_STRUCTURE'), maybe('guideline_id', 'OBJECT_REF')),
  concrete('OBSERVATION', 'CARE_ENTRY', one('data', 'HISTORY'), maybe('state', 'HISTORY')),
  // `time_asserted` is no attribute of release 1.1.0: Archie has it, and examples of EHRbase fill it in.
  concrete('EVALUATION', 'CARE_ENTRY', one('data', 'ITEM_STRUCTURE'), maybe('time_asserted', 'DV_DATE_TIME')),
  concrete(
    'INSTRUCTION',
    'CARE_ENTRY',
    one('narrative', 'DV_TEXT'),
    maybe('expiry_time', 'DV_DATE_TIME'),
    maybe('wf_definition', 'DV_PARSABLE'),
    many('activities', 'ACTIVITY'),
  ),
  concrete(
    'ACTIVITY',
    'LOCATABLE',
    one('description', 'ITEM_STRUCTURE'),
    maybe('timing', 'DV_PARSABLE'),
    one('action_archetype_id', 'String'),
  ),
  concrete(
    'ACTION',
    'CARE_ENTRY',
    one('time', 'DV_DATE_TIME'),
    one('description', 'ITEM_STRUCTURE'),
    one('ism_transition', 'ISM_TRANSITION'),
    maybe('instruction_details', 'INSTRUCTION_DETAILS'),
  ),
  concrete(
    'ISM_TRANSITION',
    'PATHABLE',
    one('current_state', 'DV_CODED_TEXT'),
    maybe('transition', 'DV_CODED_TEXT'),
    maybe('careflow_step', 'DV_CODED_TEXT'),
    many('reason', 'DV_TEXT'),
  ),
  concrete(
    'INSTRUCTION_DETAILS',
    'PATHABLE',
    one('instruction_id', 'LOCATABLE_REF'),
    one('activity_id', 'String'),
    maybe('wf_details', 'ITEM_STRUCTURE'),
  ),
] as const;

/** RM data_structures: item_structure, representation and history packages. */
export const DATA_STRUCTURES = [
  abstract('DATA_STRUCTURE', 'LOCATABLE'),
  abstract('ITEM_STRUCTURE', 'DATA_STRUCTURE'),
  concrete('ITEM_SINGLE', 'ITEM_STRUCTURE', one('item', 'ELEMENT')),
  concrete('ITEM_LIST', 'ITEM_STRUCTURE', many('items', 'ELEMENT')),
  concrete('ITEM_TABLE', 'ITEM_STRUCTURE', many('rows', 'CLUSTER')),
  concrete('ITEM_TREE', 'ITEM_STRUCTURE', many('items', 'ITEM')),

  abstract('ITEM', 'LOCATABLE'),
  concrete('CLUSTER', 'ITEM', some('items', 'ITEM')),
  concrete(
    'ELEMENT',
    'ITEM',
    maybe('value', 'DATA_VALUE'),
    maybe('null_flavour', 'DV_CODED_TEXT'),
    maybe('null_reason', 'DV_TEXT'),
  ),

  concrete(
    'HISTORY',
    'DATA_STRUCTURE',
    one('origin', 'DV_DATE_TIME'),
    maybe('period', 'DV_DURATION'),
    maybe('duration', 'DV_DURATION'),
    many('events', 'EVENT'),
    maybe('summary', 'ITEM_STRUCTURE'),
  ),
  abstract(
    'EVENT',
    'LOCATABLE',
    one('time', 'DV_DATE_TIME'),
    one('data', 'ITEM_STRUCTURE'),
    maybe('state', 'ITEM_STRUCTURE'),
  ),
  concrete('POINT_EVENT', 'EVENT'),
  concrete(
    'INTERVAL_EVENT',
    'EVENT',
    one('width', 'DV_DURATION'),
    maybe('sample_count', 'Integer'),
    one('math_function', 'DV_CODED_TEXT'),
  ),
] as const;
