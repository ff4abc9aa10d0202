import { violationText } from '../../../../openehr/base/violation.js';
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { COMMON_INVARIANTS, STRUCTURE_INVARIANTS } from '../../../../openehr/rm/invariants/structures.js';
import { DATA_TYPE_INVARIANTS } from '../../../../openehr/rm/invariants/data-types.js';
import { QUANTITY_INVARIANTS } from '../../../../openehr/rm/invariants/quantities.js';
import { validateRm } from '../../../../openehr/rm/invariants/validate.js';

const phrase = (terminology: string, code: string): JsonObject => ({
  _type: 'CODE_PHRASE',
  terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
  code_string: code,
});
const coded = (code: string, value = 'x', terminology = 'openehr'): JsonObject => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: phrase(terminology, code),
});
const quantity = (magnitude: number, more: JsonObject = {}): JsonObject => ({
  _type: 'DV_QUANTITY',
  magnitude,
  units: 'mm[Hg]',
  ...more,
});
const interval = (lower: JsonObject | null, upper: JsonObject | null, more: JsonObject = {}): JsonObject => ({
  _type: 'DV_INTERVAL',
  ...(lower === null ? {} : { lower }),
  ...(upper === null ? {} : { upper }),
  lower_unbounded: lower === null,
  upper_unbounded: upper === null,
  ...more,
});
const dateTime = (value: string): JsonObject => ({ _type: 'DV_DATE_TIME', value });
const date = (value: string): JsonObject => ({ _type: 'DV_DATE', value });
const duration = (value: string): JsonObject => ({ _type: 'DV_DURATION', value });
const text = (value: string): JsonObject => ({ _type: 'DV_TEXT', value });
const row = (...types: string[]): JsonObject => ({
  _type: 'CLUSTER',
  items: types.map((_type) => ({ _type, value: text('x') })),
});

const archetyped = (archetypeId: string): JsonObject => ({
  _type: 'ARCHETYPED',
  archetype_id: { _type: 'ARCHETYPE_ID', value: archetypeId },
});

/** Every invariant: type, name, objects that break it, objects that keep it. */
const CASES: readonly (readonly [string, string, readonly JsonObject[], readonly JsonObject[]])[] = [
  [
    'COMPOSITION',
    'Category_validity',
    [{ category: coded('999') }, { category: coded('433', 'event', 'SNOMED-CT') }],
    [{ category: coded('433') }, { category: coded('431', 'x', 'OPENEHR') }],
  ],
  ...['COMPOSITION', 'EHR_STATUS', 'FOLDER', 'OBSERVATION', 'CLUSTER'].map(
    (type) =>
      [
        type,
        'Archetyped_valid',
        [
          {
            archetype_node_id: `openEHR-EHR-${type}.a.v1`,
            archetype_details: archetyped(`openEHR-EHR-${type}.b.v1`),
          },
        ],
        [
          {
            archetype_node_id: `openEHR-EHR-${type}.a.v1`,
            archetype_details: archetyped(`openEHR-EHR-${type}.a.v1`),
          },
          { archetype_node_id: `openEHR-EHR-${type}.a.v1` },
        ],
      ] as const,
  ),
  [
    'COMPOSITION',
    'Territory_valid',
    [{ territory: phrase('ISO_3166-1', 'XX') }, { territory: phrase('ISO_639-1', 'DE') }],
    [{ territory: phrase('iso_3166-1', 'DE') }, {}],
  ],
  [
    'COMPOSITION',
    'Language_valid',
    [{ language: phrase('ISO_639-1', 'xx') }],
    [{ language: phrase('ISO_639-1', 'de') }],
  ],
  ['COMPOSITION', 'Is_archetype_root', [{}], [{ archetype_details: { _type: 'ARCHETYPED' } }]],
  ['EVENT_CONTEXT', 'Setting_valid', [{ setting: coded('433') }], [{ setting: coded('238') }]],
  ['EVENT_CONTEXT', 'Location_validity', [{ location: '' }], [{ location: 'ward' }, {}]],
  [
    'OBSERVATION',
    'Language_valid',
    [{ language: phrase('ISO_639-1', 'xx') }],
    [{ language: phrase('ISO_639-1', 'en') }],
  ],
  [
    'OBSERVATION',
    'Encoding_valid',
    [{ encoding: phrase('IANA_character-sets', 'UTF-9') }, { encoding: phrase('other', 'UTF-8') }],
    [{ encoding: phrase('IANA_character-sets', 'UTF-8') }, { encoding: phrase('Unicode', 'UTF-8') }],
  ],
  [
    'EVALUATION',
    'Is_archetypeRoot',
    [{}, { archetype_node_id: 'at0001' }],
    [
      { archetype_details: { _type: 'ARCHETYPED' } },
      { archetype_node_id: 'openEHR-EHR-EVALUATION.problem-diagnosis.v1' },
    ],
  ],
  ['ACTIVITY', 'Action_archetype_id_valid', [{ action_archetype_id: '' }], [{ action_archetype_id: '/.*/' }]],
  [
    'INSTRUCTION_DETAILS',
    'Activity_path_valid',
    [{ activity_id: '' }],
    [{ activity_id: 'activities[at0001]' }],
  ],
  [
    'ISM_TRANSITION',
    'Current_state_valid',
    [{ current_state: coded('433') }],
    [{ current_state: coded('532') }],
  ],
  ['ISM_TRANSITION', 'Transition_valid', [{ transition: coded('532') }], [{ transition: coded('548') }, {}]],
  [
    'HISTORY',
    'Events_valid',
    [{}],
    [{ events: [{ _type: 'POINT_EVENT' }] }, { summary: { _type: 'ITEM_TREE' } }],
  ],
  [
    'INTERVAL_EVENT',
    'Math_function_validity',
    [{ math_function: coded('433') }],
    [{ math_function: coded('146') }],
  ],
  [
    'ELEMENT',
    'Inv_null_flavour_indicated',
    [{}, { value: text('x'), null_flavour: coded('253') }],
    [{ value: text('x') }, { null_flavour: coded('253') }],
  ],
  ['ELEMENT', 'Inv_null_flavour_valid', [{ null_flavour: coded('433') }], [{ null_flavour: coded('271') }]],
  [
    'ELEMENT',
    'Inv_null_reason_valid',
    [{ value: text('x'), null_reason: text('y') }],
    [{ null_flavour: coded('253'), null_reason: text('y') }],
  ],
  [
    'ITEM_TABLE',
    'Valid_structure',
    [{ rows: [row('ELEMENT'), row('CLUSTER')] }],
    [{ rows: [row('ELEMENT'), row('ELEMENT')] }, {}],
  ],
  [
    'ITEM_TABLE',
    'Valid_number_of_rows',
    [{ rows: [row('ELEMENT'), row('ELEMENT', 'ELEMENT')] }],
    [{ rows: [row('ELEMENT'), row('ELEMENT')] }],
  ],
  ['CLUSTER', 'Archetype_node_id_valid', [{ archetype_node_id: '' }], [{ archetype_node_id: 'at0001' }]],
  ['ARCHETYPED', 'Rm_version_valid', [{ rm_version: '' }], [{ rm_version: '1.0.4' }]],
  ['FEEDER_AUDIT_DETAILS', 'System_id_valid', [{ system_id: '' }], [{ system_id: 'x' }]],
  ['AUDIT_DETAILS', 'System_id_valid', [{ system_id: '' }], [{ system_id: 'x' }]],
  ['AUDIT_DETAILS', 'Change_type_valid', [{ change_type: coded('433') }], [{ change_type: coded('249') }]],
  [
    'ATTESTATION',
    'Reason_valid',
    [{ reason: coded('433') }],
    [{ reason: coded('240') }, { reason: text('signed') }],
  ],
  [
    'ORIGINAL_VERSION',
    'Lifecycle_state_valid',
    [{ lifecycle_state: coded('433') }],
    [{ lifecycle_state: coded('532') }],
  ],
  [
    'PARTICIPATION',
    'Function_valid',
    [{ function: coded('433') }],
    [{ function: coded('253') }, { function: text('requester') }],
  ],
  ['PARTICIPATION', 'Mode_valid', [{ mode: coded('433') }], [{ mode: coded('216') }, {}]],
  [
    'PARTY_IDENTIFIED',
    'Basic_validity',
    [{}],
    [{ name: 'x' }, { identifiers: [{ _type: 'DV_IDENTIFIER' }] }, { external_ref: { _type: 'PARTY_REF' } }],
  ],
  ['PARTY_IDENTIFIED', 'Name_valid', [{ name: '' }], [{ name: 'x' }]],
  ['PARTY_RELATED', 'Relationship_valid', [{ relationship: coded('433') }], [{ relationship: coded('10') }]],
  ['PARTY_REF', 'Type_validity', [{ type: 'person' }, { type: '' }], [{ type: 'PERSON' }, { type: 'ACTOR' }]],
  [
    'OBJECT_REF',
    'Namespace_valid',
    [{ namespace: '1a' }, { namespace: 'a b' }, { namespace: '' }],
    [{ namespace: 'local' }, { namespace: 'a:/b?c=d&e+f-g._1' }],
  ],
  ['PARTY_REF', 'Namespace_valid', [{ namespace: 'ä' }], [{ namespace: 'DEMOGRAPHIC' }]],
  ['CODE_PHRASE', 'Code_string_valid', [{ code_string: '' }], [{ code_string: 'at0001' }]],
  ['DV_IDENTIFIER', 'Id_valid', [{ id: '' }], [{ id: '1' }]],
  ['DV_PARSABLE', 'Formalism_valid', [{ formalism: '' }], [{ formalism: 'text/plain' }]],
  [
    'DV_TEXT',
    'Language_valid',
    [{ language: phrase('ISO_639-1', 'xx') }],
    [{ language: phrase('ISO_639-1', 'de') }],
  ],
  [
    'DV_CODED_TEXT',
    'Encoding_valid',
    [{ encoding: phrase('IANA_character-sets', 'x') }],
    [{ encoding: phrase('IANA_character-sets', 'utf-8') }],
  ],
  ['DV_TEXT', 'Formatting_valid', [{ formatting: '' }], [{ formatting: 'plain' }]],
  ['TERM_MAPPING', 'Purpose_valid', [{ purpose: coded('433') }], [{ purpose: coded('669') }, {}]],
  ['TERM_MAPPING', 'Match_valid', [{ match: '!' }], [{ match: '=' }, { match: '?' }]],
  ['DV_URI', 'Value_valid', [{ value: '' }], [{ value: 'https://example.org' }]],
  ['DV_EHR_URI', 'Value_valid', [{ value: '' }], [{ value: 'ehr:x' }]],
  [
    'DV_EHR_URI',
    'Scheme_valid',
    [{ value: 'https://x' }, { value: 'ehrx:y' }],
    [{ value: 'ehr://x' }, { value: 'EHR:x' }],
  ],
  [
    'DV_PARSABLE',
    'Language_valid',
    [{ language: phrase('ISO_639-1', 'xx') }],
    [{ language: phrase('ISO_639-1', 'de') }],
  ],
  [
    'DV_MULTIMEDIA',
    'Charset_valid',
    [{ charset: phrase('IANA_character-sets', 'x') }],
    [{ charset: phrase('IANA_character-sets', 'UTF-8') }],
  ],
  ['DV_MULTIMEDIA', 'Not_empty', [{}], [{ data: 'AA==' }, { uri: { _type: 'DV_URI', value: 'x' } }]],
  [
    'DV_MULTIMEDIA',
    'Media_type_valid',
    [{ media_type: phrase('IANA_media-types', 'x/y') }, { media_type: phrase('openehr', '1') }],
    [{ media_type: phrase('IANA_media-types', 'image/png') }, { media_type: phrase('openehr', '427') }],
  ],
  [
    'DV_MULTIMEDIA',
    'Compression_algorithm_valid',
    [{ compression_algorithm: phrase('openehr_compression_algorithms', 'rar') }],
    [{ compression_algorithm: phrase('openehr_compression_algorithms', 'gzip') }],
  ],
  [
    'DV_MULTIMEDIA',
    'Integrity_check_validity',
    [{ integrity_check: 'AA==' }],
    [
      {
        integrity_check: 'AA==',
        integrity_check_algorithm: phrase('openehr_integrity_check_algorithms', 'SHA-1'),
      },
    ],
  ],
  [
    'DV_MULTIMEDIA',
    'Integrity_check_algorithm_validity',
    [{ integrity_check_algorithm: phrase('openehr_integrity_check_algorithms', 'MD5') }],
    [{ integrity_check_algorithm: phrase('openehr_integrity_check_algorithms', 'SHA-256') }],
  ],
  ['DV_MULTIMEDIA', 'Size_valid', [{ size: 0 }, { size: -1 }], [{ size: 1 }]],
  [
    'DV_COUNT',
    'Accuracy_valid',
    [
      { accuracy: 101, accuracy_is_percent: true },
      { accuracy: -1, accuracy_is_percent: true },
    ],
    [{ accuracy: 100, accuracy_is_percent: true }, { accuracy: 500 }],
  ],
  [
    'DV_QUANTITY',
    'Accuracy_is_percent_validity',
    [{ accuracy: 0, accuracy_is_percent: true }],
    [
      { accuracy: 0, accuracy_is_percent: false },
      { accuracy: 5, accuracy_is_percent: true },
    ],
  ],
  [
    'DV_DATE',
    'Magnitude_status_valid',
    [{ magnitude_status: '==' }, { magnitude_status: '' }],
    [{ magnitude_status: '>=' }, { magnitude_status: '~' }],
  ],
  [
    'DV_QUANTITY',
    'Normal_status_validity',
    [{ normal_status: phrase('openehr_normal_statuses', 'X') }],
    [{ normal_status: phrase('openehr_normal_statuses', 'HH') }],
  ],
  [
    'DV_QUANTITY',
    'Normal_range_and_status_consistency',
    [
      quantity(200, {
        normal_range: interval(quantity(60), quantity(100)),
        normal_status: phrase('openehr_normal_statuses', 'N'),
      }),
      quantity(80, {
        normal_range: interval(quantity(60), quantity(100)),
        normal_status: phrase('openehr_normal_statuses', 'H'),
      }),
      quantity(100, {
        normal_range: interval(quantity(60), quantity(100), { upper_included: false }),
        normal_status: phrase('openehr_normal_statuses', 'N'),
      }),
    ],
    [
      quantity(80, {
        normal_range: interval(quantity(60), null),
        normal_status: phrase('openehr_normal_statuses', 'N'),
      }),
      quantity(100, {
        normal_range: interval(null, quantity(100)),
        normal_status: phrase('openehr_normal_statuses', 'N'),
      }),
      quantity(101, {
        normal_range: interval(null, quantity(100)),
        normal_status: phrase('openehr_normal_statuses', 'H'),
      }),
      quantity(80, {
        normal_range: interval(null, quantity(10, { units: 'kPa' })),
        normal_status: phrase('openehr_normal_statuses', 'N'),
      }),
      quantity(80, { normal_range: interval(null, quantity(10)) }),
    ],
  ],
  [
    'REFERENCE_RANGE',
    'Range_is_simple',
    [{ range: interval(quantity(1, { normal_range: interval(null, null) }), null) }],
    [{ range: interval(quantity(1), quantity(2)) }],
  ],
  ['DV_PROPORTION', 'Type_validity', [{ type: 5 }, { type: -1 }], [{ type: 0 }, { type: 4 }]],
  [
    'DV_PROPORTION',
    'Precision_validity',
    [{ precision: 0, numerator: 1.5, denominator: 2 }],
    [
      { precision: 0, numerator: 1, denominator: 2 },
      { precision: 1, numerator: 1.5 },
    ],
  ],
  [
    'DV_PROPORTION',
    'Fraction_validity',
    [
      { type: 3, numerator: 1.5, denominator: 2 },
      { type: 4, numerator: 1, denominator: 2.5 },
      { type: 3, numerator: 1, denominator: 2, precision: 1 },
      { type: 4, numerator: 1, denominator: 2, precision: 1 },
    ],
    [
      { type: 3, numerator: 1, denominator: 2, precision: 0 },
      { type: 4, numerator: 1, denominator: 2, precision: -1 },
      { type: 0, numerator: 1, denominator: 2, precision: 1 },
      { type: 3, numerator: 1, denominator: 2 },
      { type: 0, numerator: 1.5 },
    ],
  ],
  [
    'DV_PROPORTION',
    'Unitary_validity',
    [{ type: 1, denominator: 2 }],
    [
      { type: 1, denominator: 1 },
      { type: 0, denominator: 2 },
    ],
  ],
  ['DV_PROPORTION', 'Percent_validity', [{ type: 2, denominator: 1 }], [{ type: 2, denominator: 100 }]],
  ['DV_PROPORTION', 'Valid_denominator', [{ denominator: 0 }], [{ denominator: 1 }]],
  [
    'DV_INTERVAL',
    'Limits_consistent',
    [
      interval(quantity(2), quantity(1)),
      interval(quantity(1), date('2020')),
      interval(date('2021-01'), date('2020')),
      interval(dateTime('2020-01-01T10:00+01:00'), dateTime('2020-01-01T10:00+02:00')),
      interval(duration('P2M'), duration('P40D')),
    ],
    [
      interval(quantity(1), quantity(1)),
      interval(quantity(2), quantity(1, { units: 'kPa' })),
      interval(date('2020-05'), date('2020')),
      interval(duration('P1M'), duration('P30D')),
      interval(null, quantity(1)),
    ],
  ],
  [
    'DV_INTERVAL',
    'Lower_included_valid',
    [{ lower_unbounded: true, lower_included: true }],
    [
      { lower_unbounded: true, lower_included: false },
      { lower_unbounded: false, lower_included: true },
    ],
  ],
  [
    'DV_INTERVAL',
    'Upper_included_valid',
    [{ upper_unbounded: true, upper_included: true }],
    [{ upper_unbounded: true }],
  ],
  [
    'DV_PERIODIC_TIME_SPECIFICATION',
    'Value_valid',
    [{ value: { _type: 'DV_PARSABLE', formalism: 'timing' } }],
    [{ value: { _type: 'DV_PARSABLE', formalism: 'HL7:PIVL' } }],
  ],
  [
    'VERSION_TREE_ID',
    'Value_valid',
    [{ value: '0' }, { value: '1.2' }],
    [{ value: '1' }, { value: '1.2.3' }],
  ],
  ['UUID', 'Value_valid', [{ value: 'x' }], [{ value: '5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0003' }]],
  ['ISO_OID', 'Value_valid', [{ value: '1.a' }], [{ value: '1.2.3' }]],
  ['INTERNET_ID', 'Value_valid', [{ value: '1a' }, { value: 'a b' }], [{ value: 'org.example' }]],
];

const broken = (object: JsonObject, lenient = false): string[] =>
  validateRm(object, { lenient })
    .map(violationText)
    .filter((violation) => violation.startsWith('/: Invariant '));

describe.each(CASES)('%s %s', (type, name, failing, passing) => {
  const label = type === 'DV_INTERVAL' ? 'INTERVAL' : type;

  it.each(failing)('fails on %j', (object) => {
    const found = broken({ ...object, _type: type });
    expect(
      found.filter((violation) =>
        violation.startsWith(`/: Invariant ${name} failed on type ${label} (expected `),
      ),
    ).toHaveLength(1);
  });

  it.each(passing)('holds for %j', (object) => {
    expect(broken({ ...object, _type: type }).join()).not.toContain(`Invariant ${name} `);
  });
});

describe('the invariants', () => {
  const ALL = [
    ...STRUCTURE_INVARIANTS,
    ...COMMON_INVARIANTS,
    ...DATA_TYPE_INVARIANTS,
    ...QUANTITY_INVARIANTS,
  ];

  it('are all tested', () => {
    const tested = new Set(CASES.map(([, name]) => name));
    expect(ALL.filter(({ name }) => !tested.has(name))).toEqual([]);
  });

  it('that only ask for something to be there do not bind incomplete versions', () => {
    for (const _type of [
      'HISTORY',
      'ELEMENT',
      'PARTY_IDENTIFIED',
      'DV_MULTIMEDIA',
      'OBSERVATION',
      'COMPOSITION',
    ]) {
      expect(broken({ _type })).not.toEqual([]);
      expect(broken({ _type }, true)).toEqual([]);
    }
    expect(broken({ _type: 'ELEMENT', value: text('x'), null_flavour: coded('253') }, true)).toHaveLength(1);
  });

  it('say what was expected and found', () => {
    expect(broken({ _type: 'DV_PROPORTION', type: 1, denominator: 500 })).toEqual([
      '/: Invariant Unitary_validity failed on type DV_PROPORTION (expected denominator 1, found 500)',
    ]);
    expect(broken({ _type: 'EVENT_CONTEXT', setting: coded('433') })).toEqual([
      '/: Invariant Setting_valid failed on type EVENT_CONTEXT (expected a code of setting, found "openehr::433")',
    ]);
  });
});
