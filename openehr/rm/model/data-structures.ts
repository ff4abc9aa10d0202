import { abstract, concrete, many, maybe, one, some } from './define.js';

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
