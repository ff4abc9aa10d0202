import { describe, expect, it } from '@jest/globals';
import type { Json } from '../../../console/src/api/types.js';
import { de } from '../../../console/src/messages/de.js';
import { english as en } from '../../../console/src/messages/english.js';
import { translator } from '../../../console/src/messages/translate.js';
import { factLines } from '../../../console/src/record/values/facts.js';
import { byEpoch, epochOf, instantOf } from '../../../console/src/record/values/instant.js';
import { nullText } from '../../../console/src/record/values/null-flavour.js';
import { unitText } from '../../../console/src/record/values/units.js';
import { wholeText, type ValueReader } from '../../../console/src/record/values/value-reader.js';
import { valueText } from '../../../console/src/record/values/value-text.js';

const BERLIN: ValueReader = { language: 'en', zone: 'Europe/Berlin', t: translator(en, 'en') };
const said = (value: Json, reader = BERLIN): string => wholeText(valueText(value, reader));
const detail = (value: Json): string | undefined => valueText(value, BERLIN).detail;
const coded = (value: string, terminology: string, code: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
    code_string: code,
  },
});
const mg = (magnitude: number): Json => ({ _type: 'DV_QUANTITY', magnitude, units: 'mg' });
const status = (code: string): Json => ({ _type: 'CODE_PHRASE', code_string: code });

describe('a date or time, in every form that its syntax allows', () => {
  it.each([
    ['DV_DATE', '2019-01-14', '14 Jan 2019'],
    ['DV_DATE', '20190114', '14 Jan 2019'],
    ['DV_DATE', '2019-01', 'Jan 2019'],
    ['DV_DATE', '201901', 'Jan 2019'],
    ['DV_DATE', '2019', '2019'],
    ['DV_DATE', '0850-02-28', '28 Feb 850'],
    ['DV_TIME', '18:36:49', '18:36:49'],
    ['DV_TIME', '183649', '18:36:49'],
    ['DV_TIME', '1836', '18:36'],
    ['DV_TIME', '18', '18 h'],
    ['DV_TIME', 'T18:36:49,294', '18:36:49.294'],
    ['DV_TIME', '18:36:49.5+02:00', '18:36:49.5 UTC+02:00'],
    ['DV_TIME', '183649-0530', '18:36:49 UTC−05:30'],
    ['DV_TIME', '18:36Z', '18:36 UTC'],
    ['DV_DATE_TIME', '2019', '2019'],
    ['DV_DATE_TIME', '20190114', '14 Jan 2019'],
    ['DV_DATE_TIME', '2019-01-14T18', '14 Jan 2019, 18 h (zone not recorded)'],
    ['DV_DATE_TIME', '2019-01-14T18Z', '14 Jan 2019, 18 h UTC'],
    ['DV_DATE_TIME', '2019-01-14T18:36', '14 Jan 2019, 18:36 (zone not recorded)'],
    ['DV_DATE_TIME', '20190114T183649', '14 Jan 2019, 18:36:49 (zone not recorded)'],
    ['DV_DATE_TIME', '2019-01-14T18:36:00+01:00', '14 Jan 2019, 18:36 CET'],
    ['DV_DATE_TIME', '2019-07-14T18:36:49+02:00', '14 Jul 2019, 18:36:49 CEST'],
    ['DV_DATE_TIME', '20190114T183649Z', '14 Jan 2019, 19:36:49 CET (stored 18:36:49 UTC)'],
    [
      'DV_DATE_TIME',
      '2019-01-14T18:36:49,294-0500',
      '15 Jan 2019, 00:36:49.294 CET (stored 14 Jan 2019, 18:36:49.294 UTC−05:00)',
    ],
    [
      'DV_DATE_TIME',
      '2019-01-14T18:36:49.294+05',
      '14 Jan 2019, 14:36:49.294 CET (stored 18:36:49.294 UTC+05:00)',
    ],
    // Not of the calendar, or no time at all: as it stands there.
    ['DV_DATE', '2019-02-30', '2019-02-30'],
    ['DV_DATE_TIME', 'yesterday', 'yesterday'],
  ])('%s %s is %s', (type, value, text) => {
    expect(said({ _type: type, value })).toBe(text);
    expect(detail({ _type: type, value })).toBe(value);
  });

  it('is said in German, in the zone of the reader', () => {
    const reader = { language: 'de', zone: 'America/New_York', t: translator(de, 'de') };
    expect(said({ _type: 'DV_DATE_TIME', value: '20190114T183649Z' }, reader)).toBe(
      '14. Jan. 2019, 13:36:49 GMT-5 (gespeichert 18:36:49 UTC)',
    );
  });

  it('has one place in time, however it is written', () => {
    const same = [
      '2019-01-14T18:36:49.294Z',
      '20190114T183649,294Z',
      '2019-01-14T19:36:49,294+01:00',
      '20190114T133649.294-05',
    ];
    expect(new Set(same.map(epochOf))).toEqual(new Set([Date.parse(same[0]!)]));
    expect(epochOf('2019-01-14T18:36:49')).toBe(new Date(2019, 0, 14, 18, 36, 49).getTime());
    const order = [
      '',
      '2018',
      '2019-01-14T18:36:49,294+02:00',
      '20190114T183649Z',
      '2019-01-14T14:00:00-05:00',
    ];
    expect([...order].reverse().sort(byEpoch)).toEqual(order);
  });

  it.each(['2019-13', '2019-01-32', '2019-01-14T24:00', '2019T10:00', '2019-0114', '18:36', ''])(
    'is not %j',
    (text) => expect(instantOf(text)).toBeNull(),
  );
});

describe('a number', () => {
  it('says what is abnormal, what would be normal, how exact it is, and from when it is critical', () => {
    const value = {
      _type: 'DV_QUANTITY',
      magnitude: 178.1,
      magnitude_status: '>=',
      precision: 2,
      units: 'mg',
      accuracy: 5,
      accuracy_is_percent: true,
      normal_status: status('HH'),
      normal_range: { lower: mg(70), upper: mg(99), lower_unbounded: false, upper_unbounded: false },
      other_reference_ranges: [
        {
          meaning: { _type: 'DV_TEXT', value: 'critical' },
          range: { lower: mg(150), lower_included: false, upper_unbounded: true },
        },
      ],
    };
    expect(said(value)).toBe('≥178.10 mg HH (± 5 %; normal 70 – 99; critical > 150)');
    expect(valueText(value, BERLIN).flag).toEqual({ code: 'HH', words: 'abnormally high', isNormal: false });
    expect(said({ ...value, accuracy: -1, other_reference_ranges: undefined })).toBe(
      '≥178.10 mg HH (normal 70 – 99)',
    );
  });

  it.each([
    [98, undefined],
    [99, undefined],
    [99.5, '↑'],
    [69, '↓'],
  ])('that says only its normal range is seen to be outside of it: %d', (magnitude, code) => {
    const range = { lower: mg(70), upper: mg(99) };
    expect(valueText({ ...(mg(magnitude) as object), normal_range: range }, BERLIN).flag?.code).toBe(code);
    const other = { lower: { _type: 'DV_QUANTITY', magnitude: 700, units: 'g' } };
    expect(valueText({ ...(mg(magnitude) as object), normal_range: other }, BERLIN).flag).toBeUndefined();
  });

  it('keeps every digit, or as many as its precision says with the rest on hover', () => {
    expect(said(mg(636.3397240638733))).toBe('636.3397240638733 mg');
    expect(said(mg(1e-7))).toBe('0.0000001 mg');
    expect(said({ _type: 'DV_COUNT', magnitude: 12345 })).toBe('12,345');
    const rounded = { ...(mg(37.256) as object), precision: 1 };
    expect([said(rounded), detail(rounded)]).toEqual(['37.3 mg', '37.256']);
    expect(detail({ ...(mg(37.5) as object), precision: 2 })).toBeUndefined();
    expect(said({ ...(mg(1234.5) as object), precision: 0 }, { ...BERLIN, language: 'de' })).toMatch(
      /^1\.23[45] mg$/,
    );
  });

  it.each([
    ['mm[Hg]', 'mmHg'],
    ['Cel', '°C'],
    ['ug/L', 'µg/l'],
    ['umol/L', 'µmol/l'],
    ['mL', 'ml'],
    ['/min', '/min'],
    ['kg/m2', 'kg/m2'],
    ['mm[H20]', 'mmH20'],
    ['U/L', 'U/l'],
    ['unit', 'unit'],
    ['Lux', 'Lux'],
  ])('has its unit %s written %s, and on hover as it is stored', (units, shown) => {
    expect(unitText(units)).toBe(shown);
    const value = { _type: 'DV_QUANTITY', magnitude: 1, units };
    expect(said(value)).toBe(`1 ${shown}`);
    expect(detail(value)).toBe(shown === units ? undefined : units);
  });

  it.each([
    [{ numerator: 97.456, denominator: 100, type: 2, precision: 1 }, '97.5 %', '97.456'],
    [{ numerator: 97.456, denominator: 100, type: 2 }, '97.456 %', undefined],
    [{ numerator: 1.5, denominator: 1, type: 1, precision: 1 }, '1.5', undefined],
    [{ numerator: 42, denominator: 3, type: 3 }, '42 / 3', undefined],
    [{ numerator: 1, denominator: 128, type: 0 }, '1 / 128', undefined],
  ])('that is a proportion is said by its kind and precision: %j', (value, text, hover) => {
    expect(said({ _type: 'DV_PROPORTION', ...value })).toBe(text);
    expect(detail({ _type: 'DV_PROPORTION', ...value })).toBe(hover);
  });

  it('that is of a scale is said with what it stands for', () => {
    const ordinal = { _type: 'DV_ORDINAL', value: 1, symbol: coded('ord1', 'local', 'at0015') };
    expect([said(ordinal), detail(ordinal)]).toEqual(['1 · ord1', 'local::at0015']);
    expect(said({ _type: 'DV_SCALE', value: 0.5, symbol: coded('faint', 'local', 'at1') })).toBe(
      '0.5 · faint',
    );
  });
});

describe('an interval', () => {
  it.each([
    [{ lower: mg(5), upper: mg(10) }, '5 – 10 mg'],
    [{ lower: mg(5), upper: mg(10), lower_included: false, upper_included: true }, '> 5 – 10 mg'],
    [{ lower: mg(5), upper: mg(10), lower_included: false, upper_included: false }, '> 5 – < 10 mg'],
    [{ lower: mg(5), upper_unbounded: true }, '≥ 5 mg'],
    [{ lower: mg(5), upper_unbounded: true, lower_included: false }, '> 5 mg'],
    [{ upper: mg(234.234), lower_unbounded: true, upper_included: true }, '≤ 234.234 mg'],
    [{ upper: mg(234.234), upper_included: false }, '< 234.234 mg'],
    [{ lower: mg(500), upper: { _type: 'DV_QUANTITY', magnitude: 2, units: 'g' } }, '500 mg – 2 g'],
    [
      { lower: { _type: 'DV_DATE', value: '20190114' }, upper: { _type: 'DV_DATE', value: '2020' } },
      '14 Jan 2019 – 2020',
    ],
    [{ lower_unbounded: true, upper_unbounded: true }, 'any'],
  ])('%j is %s', (value, text) => {
    expect(said({ _type: 'DV_INTERVAL', ...value })).toBe(text);
    expect(said({ _type: 'DV_INTERVAL<DV_QUANTITY>', ...value })).toBe(text);
  });
});

describe('what is no number', () => {
  it('has its code and mappings on hover', () => {
    const mapped = {
      ...(coded('Diabetes', 'SNOMED-CT', '59621000') as object),
      mappings: [{ match: '=', target: { terminology_id: { value: 'ICD10' }, code_string: 'I10' } }],
    };
    expect([said(mapped), detail(mapped)]).toEqual(['Diabetes', 'SNOMED-CT::59621000 · = ICD10::I10']);
    expect(said({ _type: 'DV_TEXT', value: 'two\nlines' })).toBe('two\nlines');
  });

  it.each([
    [
      { _type: 'DV_TEXT', value: 'guideline', hyperlink: { _type: 'DV_URI', value: 'https://a.b/c' } },
      'https://a.b/c',
    ],
    [{ _type: 'DV_URI', value: 'www.iana.org' }, 'https://www.iana.org'],
    [{ _type: 'DV_URI', value: 'javascript:alert(1)' }, undefined],
    [{ _type: 'DV_URI', value: 'data:text/html,x' }, undefined],
    [
      {
        _type: 'DV_EHR_URI',
        value:
          'ehr://sys/7d44b88c-4199-4bad-97dc-d78268e01398/compositions/bb015b91-68c0-460f-a458-8ef06869b53c::a.b::1',
      },
      '#/patients/7d44b88c-4199-4bad-97dc-d78268e01398/compositions/bb015b91-68c0-460f-a458-8ef06869b53c%3A%3Aa.b%3A%3A1',
    ],
  ])('can be followed where that is safe: %j', (value, link) => {
    expect(valueText(value, BERLIN).link).toBe(link);
  });

  it('says kind, size, place and words of a picture', () => {
    const picture = {
      _type: 'DV_MULTIMEDIA',
      uri: { _type: 'DV_URI', value: 'https://pacs/1' },
      media_type: { code_string: 'image/jpeg' },
      alternate_text: 'left hand',
      size: 177628,
    };
    expect(said(picture)).toBe('left hand · https://pacs/1 (image/jpeg; 177.6 kB)');
    expect(valueText(picture, BERLIN).link).toBe('https://pacs/1');
    expect(said({ _type: 'DV_MULTIMEDIA', media_type: { code_string: 'image/jpeg' }, size: 5 })).toBe(
      'image/jpeg (5 B)',
    );
  });

  it.each([
    [
      { _type: 'DV_IDENTIFIER', id: '55175056', type: 'LOCALID', issuer: 'HC', assigner: 'HC' },
      '55175056 (LOCALID; HC)',
    ],
    [{ _type: 'DV_BOOLEAN', value: true }, '✓'],
    [{ _type: 'DV_BOOLEAN', value: false }, '✗'],
    [{ _type: 'DV_DURATION', value: 'P1Y2M10DT2H30M' }, '1 y 2 mo 10 d 2 h 30 min'],
    [{ _type: 'DV_DURATION', value: '-PT1,5S' }, '−1,5 s'],
    [{ _type: 'DV_DURATION', value: 'soon' }, 'soon'],
    [{ _type: 'DV_PARSABLE', value: 'x^2', formalism: 'latex' }, 'x^2 (latex)'],
    [{ _type: 'CODE_PHRASE', terminology_id: { value: 'ISO_639-1' }, code_string: 'de' }, 'de'],
    [{ _type: 'DV_STATE', value: coded('active', 'openehr', '245'), is_terminal: false }, 'active'],
    [{ _type: 'PARTY_SELF' }, 'the patient'],
    [
      {
        _type: 'PARTY_RELATED',
        name: 'Ida',
        relationship: coded('mother', 'openehr', '10'),
        identifiers: [{ _type: 'DV_IDENTIFIER', id: '7', type: 'SSN' }],
      },
      'Ida (mother; 7 (SSN))',
    ],
    [
      {
        _type: 'PARTICIPATION',
        function: { _type: 'DV_TEXT', value: 'assistant' },
        mode: coded('face-to-face communication', 'openehr', '216'),
        performer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
      },
      'assistant: Ada (face-to-face communication)',
    ],
    [
      {
        _type: 'LINK',
        meaning: { _type: 'DV_TEXT', value: 'follow-up of' },
        type: { _type: 'DV_TEXT', value: 'problem' },
        target: { _type: 'DV_EHR_URI', value: 'ehr:tasks/1' },
      },
      'follow-up of: ehr:tasks/1 (problem)',
    ],
    [
      { _type: 'DV_UNKNOWN', some_thing: 1, other: { _type: 'DV_TEXT', value: 'x' } },
      'some thing: 1, other: x',
    ],
  ])('%j is %s', (value, text) => expect(said(value as Json)).toBe(text));

  it('says why there is no value, with the reason', () => {
    const element = {
      null_flavour: coded('unknown', 'openehr', '253'),
      null_reason: { _type: 'DV_TEXT', value: 'asleep' },
    };
    expect(nullText(element, BERLIN)).toBe('no value: unknown (asleep)');
    expect(
      nullText(
        { null_flavour: coded('masked', 'openehr', '272') },
        { ...BERLIN, language: 'de', t: translator(de, 'de') },
      ),
    ).toBe('kein Wert: nicht einsehbar');
  });

  it('that holds several values is a line for each, and never JSON', () => {
    const audit = {
      _type: 'FEEDER_AUDIT',
      originating_system_item_ids: [{ _type: 'DV_IDENTIFIER', id: '7' }],
      feeder_system_audit: {
        _type: 'FEEDER_AUDIT_DETAILS',
        system_id: 'FHIR-bridge',
        other_details: {
          _type: 'ITEM_TREE',
          archetype_node_id: 'at0',
          name: { _type: 'DV_TEXT', value: 'tree' },
          items: [
            {
              _type: 'ELEMENT',
              archetype_node_id: 'at1',
              name: { _type: 'DV_TEXT', value: 'family group' },
              value: { _type: 'DV_COUNT', magnitude: 3 },
            },
          ],
        },
      },
    };
    expect(
      factLines(audit, BERLIN, ['feeder audit']).map(([label, value]) => `${label} = ${said(value)}`),
    ).toEqual([
      'feeder audit › originating system item ids = 7',
      'feeder audit › feeder system audit › system id = FHIR-bridge',
      'feeder audit › feeder system audit › family group = 3',
    ]);
  });
});

describe('values that hold others', () => {
  const said = (value: Json): string => wholeText(valueText(value, BERLIN));
  const parsable = (value: string, formalism: string): Json => ({ _type: 'DV_PARSABLE', value, formalism });

  it('are said as what they hold: paragraphs by line, times by a rule by the rule', () => {
    const items: Json = [
      { _type: 'DV_TEXT', value: 'first' },
      {
        _type: 'DV_CODED_TEXT',
        value: 'second',
        defining_code: { code_string: '7', terminology_id: { value: 'T' } },
      },
    ];
    expect(valueText({ _type: 'DV_PARAGRAPH', items }, BERLIN)).toEqual({
      text: 'first\nsecond',
      detail: 'T::7',
    });
    expect(
      said({
        _type: 'DV_PERIODIC_TIME_SPECIFICATION',
        value: parsable('[200004181100;200004181110]/(7d)', 'HL7:PIVL'),
      }),
    ).toBe('[200004181100;200004181110]/(7d) (HL7:PIVL)');
    expect(said({ _type: 'DV_GENERAL_TIME_SPECIFICATION', value: parsable('2000', 'HL7:GTS') })).toBe(
      '2000 (HL7:GTS)',
    );
  });
});
