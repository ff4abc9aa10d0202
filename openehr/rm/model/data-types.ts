import { abstract, concrete, many, maybe, one, some } from './define.js';

/** RM data_types: basic, text, uri, encapsulated and time specification packages. */
export const DATA_TYPES = [
  abstract('DATA_VALUE', null),
  concrete('DV_BOOLEAN', 'DATA_VALUE', one('value', 'Boolean')),
  concrete('DV_STATE', 'DATA_VALUE', one('value', 'DV_CODED_TEXT'), one('is_terminal', 'Boolean')),
  concrete(
    'DV_IDENTIFIER',
    'DATA_VALUE',
    maybe('issuer', 'String'),
    maybe('assigner', 'String'),
    one('id', 'String'),
    maybe('type', 'String'),
  ),

  concrete(
    'DV_TEXT',
    'DATA_VALUE',
    one('value', 'String'),
    maybe('hyperlink', 'DV_URI'),
    maybe('formatting', 'String'),
    many('mappings', 'TERM_MAPPING'),
    maybe('language', 'CODE_PHRASE'),
    maybe('encoding', 'CODE_PHRASE'),
  ),
  concrete('DV_CODED_TEXT', 'DV_TEXT', one('defining_code', 'CODE_PHRASE')),
  concrete('DV_PARAGRAPH', 'DATA_VALUE', some('items', 'DV_TEXT')),
  concrete(
    'CODE_PHRASE',
    null,
    one('terminology_id', 'TERMINOLOGY_ID'),
    one('code_string', 'String'),
    maybe('preferred_term', 'String'),
  ),
  concrete(
    'TERM_MAPPING',
    null,
    one('match', 'Character'),
    maybe('purpose', 'DV_CODED_TEXT'),
    one('target', 'CODE_PHRASE'),
  ),

  concrete('DV_URI', 'DATA_VALUE', one('value', 'Uri')),
  concrete('DV_EHR_URI', 'DV_URI'),

  abstract(
    'DV_ENCAPSULATED',
    'DATA_VALUE',
    maybe('charset', 'CODE_PHRASE'),
    maybe('language', 'CODE_PHRASE'),
  ),
  concrete(
    'DV_MULTIMEDIA',
    'DV_ENCAPSULATED',
    maybe('alternate_text', 'String'),
    maybe('uri', 'DV_URI'),
    maybe('data', 'Base64'),
    one('media_type', 'CODE_PHRASE'),
    maybe('compression_algorithm', 'CODE_PHRASE'),
    maybe('integrity_check', 'Base64'),
    maybe('integrity_check_algorithm', 'CODE_PHRASE'),
    one('size', 'Integer'),
    maybe('thumbnail', 'DV_MULTIMEDIA'),
  ),
  concrete(
    'DV_PARSABLE',
    'DV_ENCAPSULATED',
    one('value', 'String'),
    one('formalism', 'String'),
    maybe('size', 'Integer'),
  ),

  abstract('DV_TIME_SPECIFICATION', 'DATA_VALUE', one('value', 'DV_PARSABLE')),
  concrete('DV_GENERAL_TIME_SPECIFICATION', 'DV_TIME_SPECIFICATION'),
  concrete('DV_PERIODIC_TIME_SPECIFICATION', 'DV_TIME_SPECIFICATION'),
] as const;

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
