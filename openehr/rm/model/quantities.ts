import { abstract, concrete, many, maybe, one } from './define.js';

/** RM data_types: quantity package with its date_time package. */
export const QUANTITIES = [
  abstract(
    'DV_ORDERED',
    'DATA_VALUE',
    maybe('normal_range', 'DV_INTERVAL'),
    many('other_reference_ranges', 'REFERENCE_RANGE'),
    maybe('normal_status', 'CODE_PHRASE'),
  ),
  concrete(
    'DV_INTERVAL',
    'DATA_VALUE',
    maybe('lower', 'DV_ORDERED'),
    maybe('upper', 'DV_ORDERED'),
    maybe('lower_included', 'Boolean'),
    maybe('upper_included', 'Boolean'),
    one('lower_unbounded', 'Boolean'),
    one('upper_unbounded', 'Boolean'),
  ),
  concrete('REFERENCE_RANGE', null, one('meaning', 'DV_TEXT'), one('range', 'DV_INTERVAL')),
  concrete('DV_ORDINAL', 'DV_ORDERED', one('value', 'Integer'), one('symbol', 'DV_CODED_TEXT')),
  concrete('DV_SCALE', 'DV_ORDERED', one('value', 'Real'), one('symbol', 'DV_CODED_TEXT')),
  abstract('DV_QUANTIFIED', 'DV_ORDERED', maybe('magnitude_status', 'String')),

  abstract('DV_AMOUNT', 'DV_QUANTIFIED', maybe('accuracy', 'Real'), maybe('accuracy_is_percent', 'Boolean')),
  concrete(
    'DV_QUANTITY',
    'DV_AMOUNT',
    one('magnitude', 'Real'),
    one('units', 'String'),
    maybe('precision', 'Integer'),
    maybe('units_system', 'Uri'),
    maybe('units_display_name', 'String'),
  ),
  concrete('DV_COUNT', 'DV_AMOUNT', one('magnitude', 'Integer64')),
  concrete(
    'DV_PROPORTION',
    'DV_AMOUNT',
    one('numerator', 'Real'),
    one('denominator', 'Real'),
    one('type', 'Integer'),
    maybe('precision', 'Integer'),
  ),
  concrete('DV_DURATION', 'DV_AMOUNT', one('value', 'Iso8601_duration')),

  abstract('DV_ABSOLUTE_QUANTITY', 'DV_QUANTIFIED'),
  abstract('DV_TEMPORAL', 'DV_ABSOLUTE_QUANTITY', maybe('accuracy', 'DV_DURATION')),
  concrete('DV_DATE', 'DV_TEMPORAL', one('value', 'Iso8601_date')),
  concrete('DV_TIME', 'DV_TEMPORAL', one('value', 'Iso8601_time')),
  concrete('DV_DATE_TIME', 'DV_TEMPORAL', one('value', 'Iso8601_date_time')),
] as const;
