import { violationText } from '../../../../openehr/base/violation.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../../openehr/base/json.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { validateRm } from '../../../../openehr/rm/invariants/validate.js';
import { fixtureJson, fixtureNames } from '../../../support/fixture.js';
import { growth, LINEAR } from '../../../support/growth.js';

const fixture = (file: string): JsonObject => fixtureJson(`composition/${file}`);
const files = fixtureNames('composition').filter((file) => !file.includes('.invalid'));
/** Carries an attribute that the RM does not have, twice. */
const UNKNOWN_ATTRIBUTE = 'test_all_types.en.v1.feeder-audit.json';

const element = (value: JsonValue): JsonObject => ({
  _type: 'ELEMENT',
  name: { value: 'n' },
  archetype_node_id: 'at0001',
  value,
});
const violations = (value: JsonValue, type = 'ELEMENT', rootPath = ''): readonly string[] =>
  readRm(value, type, rootPath).violations.map(violationText);

describe('readRm on the fixtures', () => {
  it.each(files.filter((file) => file !== UNKNOWN_ATTRIBUTE))('reads %s and normalises it stably', (file) => {
    const { object, violations: found } = readRm(fixture(file), 'COMPOSITION');
    expect(found).toEqual([]);
    expect(readRm(object, 'COMPOSITION').object).toEqual(object);
    expect(JSON.stringify(readRm(object, 'COMPOSITION').object)).toBe(JSON.stringify(object));
  });

  it('names both places of an attribute that the RM does not have', () => {
    expect(violations(fixture(UNKNOWN_ATTRIBUTE), 'COMPOSITION')).toEqual([
      '/content[2]/items[0]/items[0]/items[0]/feeder_system_audit: Attribute feeder_system_audit of class INSTRUCTION is not known',
      '/content[2]/items[0]/items[1]/feeder_system_audit: Attribute feeder_system_audit of class ADMIN_ENTRY is not known',
    ]);
  });

  it('does not change what it is given', () => {
    const given = fixture('Corona_Anamnese.json');
    readRm(given, 'COMPOSITION');
    expect(given).toEqual(fixture('Corona_Anamnese.json'));
  });

  it('finds no other error than violations in mutated compositions', () => {
    const source = fixture('conformance-ehrbase.de.v0.max.json');
    const places: (readonly (string | number)[])[] = [];
    const collect = (value: JsonValue, path: readonly (string | number)[]): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
        places.push([...path, key]);
        collect((value as JsonObject)[key as string] ?? null, [...path, key]);
      }
    };
    collect(source, []);
    const junk = fc.constantFrom<JsonValue>(
      null,
      '',
      'x',
      0,
      -1,
      1.5,
      true,
      [],
      {},
      [null],
      { _type: 'X' },
      { _type: 5 },
      [[]],
      'P1Y',
      '2021-13',
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), junk, (place, value) => {
        const copy = structuredClone(source);
        let parent = copy as Record<string | number, JsonValue>;
        for (const key of place.slice(0, -1)) parent = parent[key] as Record<string | number, JsonValue>;
        parent[place.at(-1)!] = value;
        const reading = readRm(copy, 'COMPOSITION');
        expect(reading.object === null).toBe(reading.violations.length > 0);
        const validated = reading.object === null ? [] : validateRm(reading.object);
        for (const violation of [...reading.violations, ...validated])
          expect(violationText(violation)).toMatch(/^\/[^ ]*: ./);
      }),
      { numRuns: 300 },
    );
  });
});

describe('readRm normalises', () => {
  it('writes _type first on every object, drops nulls and empty lists, keeps the order', () => {
    const { object } = readRm(
      {
        archetype_node_id: 'at0001',
        uid: null,
        links: [],
        name: { value: 'n', mappings: [] },
        archetype_details: { rm_version: '1.0.4', archetype_id: { value: 'a' } },
        value: { magnitude: 1, _type: 'DV_COUNT' },
        _type: 'ELEMENT',
      },
      'ITEM',
    );
    expect(JSON.stringify(object)).toBe(
      '{"_type":"ELEMENT","archetype_node_id":"at0001","name":{"_type":"DV_TEXT","value":"n"},' +
        '"archetype_details":{"_type":"ARCHETYPED","rm_version":"1.0.4","archetype_id":{"_type":"ARCHETYPE_ID","value":"a"}},' +
        '"value":{"_type":"DV_COUNT","magnitude":1}}',
    );
  });

  it('turns numbers given as text into numbers, exactly', () => {
    const read = (magnitude: JsonValue): JsonValue | undefined =>
      (
        (readRm(element({ _type: 'DV_QUANTITY', magnitude, units: '1' }), 'ELEMENT').object?.value ??
          {}) as JsonObject
      ).magnitude;
    expect(read('2.5')).toBe(2.5);
    expect(read('-1e3')).toBe(-1000);
    expect(read('82.0')).toBe(82);
    expect(read('0.12345678901234567890')).toBeUndefined();
    expect(read('1e999')).toBeUndefined();
  });

  it('leaves generic parameters out', () => {
    const interval = { _type: 'DV_INTERVAL<DV_COUNT>', lower_unbounded: 'true', upper_unbounded: true };
    expect(readRm(element(interval), 'ELEMENT').object?.value).toEqual({
      _type: 'DV_INTERVAL',
      lower_unbounded: true,
      upper_unbounded: true,
    });
  });
});

describe('readRm refuses', () => {
  it.each<[string, JsonValue, string, string]>([
    ['what is no object', 5, 'COMPOSITION', '/: Object should be type COMPOSITION, but was 5'],
    ['null', null, 'COMPOSITION', '/: Object should be type COMPOSITION, but was null'],
    [
      'another class',
      { _type: 'SECTION' },
      'COMPOSITION',
      '/: Object should be type COMPOSITION, but was SECTION',
    ],
    [
      'an unknown class',
      { _type: 'FOO' },
      'COMPOSITION',
      '/: Object should be type COMPOSITION, but was "FOO" (unknown type)',
    ],
    [
      'a class that is a number',
      { _type: 5 },
      'COMPOSITION',
      '/: Object should be type COMPOSITION, but was 5 (unknown type)',
    ],
    [
      'an abstract class',
      { _type: 'ENTRY' },
      'CONTENT_ITEM',
      '/: Object should be type CONTENT_ITEM, but was ENTRY',
    ],
    [
      'no class for an abstract type',
      { composer: {} },
      'COMPOSITION',
      '/composer: Object should be type PARTY_PROXY, but has no _type (expected one of PARTY_SELF, PARTY_IDENTIFIED, PARTY_RELATED)',
    ],
    [
      'an unknown attribute',
      { content: [{ _type: 'SECTION', foo: null }] },
      'COMPOSITION',
      '/content[0]/foo: Attribute foo of class SECTION is not known',
    ],
    [
      'a class attribute as text',
      { name: 'x' },
      'COMPOSITION',
      '/name: Object should be type DV_TEXT, but was "x"',
    ],
    [
      'an object for a list',
      { content: {} },
      'COMPOSITION',
      '/content: Value should be an array, but was an object',
    ],
    [
      'a list for an object',
      { name: [] },
      'COMPOSITION',
      '/name: Object should be type DV_TEXT, but was an array',
    ],
    [
      'null in a list',
      { content: [null] },
      'COMPOSITION',
      '/content[0]: Object should be type CONTENT_ITEM, but was null',
    ],
    [
      'a number for a text',
      { name: { value: 5 } },
      'COMPOSITION',
      '/name/value: Value should be a text, but was 5',
    ],
    [
      'a text for a boolean',
      { is_queryable: 'yes' },
      'EHR_STATUS',
      '/is_queryable: Value should be true or false, but was "yes"',
    ],
    [
      'a PARTY_IDENTIFIED as subject of EHR_STATUS',
      { subject: { _type: 'PARTY_IDENTIFIED' } },
      'EHR_STATUS',
      '/subject: Object should be type PARTY_SELF, but was PARTY_IDENTIFIED',
    ],
  ])('%s', (_, value, type, violation) => {
    expect(violations(value, type)).toEqual([violation]);
  });

  it.each<[string, JsonValue]>([
    ['DV_DATE', ''],
    ['DV_DATE', 'NULL'],
    ['DV_DATE', '2021-00'],
    ['DV_DATE', '2021-13'],
    ['DV_DATE', '2021-10-00'],
    ['DV_DATE', '2021-10-32'],
    ['DV_DATE', '+001985-04'],
    ['DV_TIME', '48'],
    ['DV_TIME', '10:95'],
    ['DV_TIME', '10:30:78'],
    ['DV_TIME', '10.5'],
    ['DV_TIME', '10:05.5'],
    ['DV_DATE_TIME', '2021-13'],
    ['DV_DATE_TIME', '2021-10-24T48'],
    ['DV_DATE_TIME', '2021-10-24T10:30:78Z'],
    ['DV_DURATION', ''],
    ['DV_DURATION', '1Y'],
    ['DV_DURATION', 'P1Y3M4DT2H14.5M'],
    ['DV_DURATION', 'P1Y3M4DT2.5H'],
    ['DV_DATE', 2021],
  ])('%s %j', (_type, value) => {
    const found = violations(element({ _type, value }));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(
      `/value/value: The value ${JSON.stringify(value)} is not a valid ${_type} (expected `,
    );
  });

  it.each<JsonValue>([
    { _type: 'DV_URI', value: 'http://a b' },
    { _type: 'DV_URI', value: 'a\nb' },
    { _type: 'DV_COUNT', magnitude: 1.5 },
    { _type: 'DV_COUNT', magnitude: '1.5' },
    { _type: 'DV_COUNT', magnitude: 2 ** 53 },
    { _type: 'DV_COUNT', magnitude: true },
    { _type: 'DV_ORDINAL', value: 2 ** 31 },
    { _type: 'DV_QUANTITY', magnitude: 'NaN' },
    { _type: 'DV_QUANTITY', magnitude: '0x10' },
    { _type: 'DV_QUANTITY', magnitude: '' },
    { _type: 'DV_MULTIMEDIA', data: 'not base64!' },
    { _type: 'DV_TEXT', value: 'x', mappings: [{ match: '>=' }] },
    { _type: 'DV_TEXT', value: 'x', mappings: [{ match: '' }] },
  ])('%j', (value) => {
    expect(violations(element(value))).toHaveLength(1);
  });

  it('everything at once, with the paths of the instance', () => {
    expect(
      violations(
        {
          name: { value: 5 },
          content: [
            {
              _type: 'OBSERVATION',
              data: { origin: { value: '2021-13' }, events: [{}, { _type: 'POINT_EVENT', x: 1 }] },
            },
            { _type: 'ELEMENT' },
          ],
        },
        'COMPOSITION',
      ).map((violation) => violation.split(': ')[0]),
    ).toEqual([
      '/name/value',
      '/content[0]/data/origin/value',
      '/content[0]/data/events[0]',
      '/content[0]/data/events[1]/x',
      '/content[1]',
    ]);
  });

  it('with the given root path before every path', () => {
    expect(violations({ x: 1 }, 'FOLDER', '/versions[1]/data')).toEqual([
      '/versions[1]/data/x: Attribute x of class FOLDER is not known',
    ]);
    expect(violations(1, 'FOLDER', '/versions[1]/data')[0]).toMatch(/^\/versions\[1\]\/data: Object/);
  });
});

describe('readRm with hostile input', () => {
  it('treats names of object properties as unknown attributes', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const value = JSON.parse(`{"_type":"SECTION","${name}":{"polluted":1}}`) as JsonValue;
      expect(violations(value, 'SECTION')).toEqual([
        `/${name}: Attribute ${name} of class SECTION is not known`,
      ]);
      expect(violations({ _type: name }, 'SECTION')).toHaveLength(1);
    }
    expect(({} as JsonObject).polluted).toBeUndefined();
  });

  it('reads 150 levels and refuses, not overflows, at 100,000', () => {
    const nested = (levels: number): JsonObject => {
      let value: JsonObject = element({ _type: 'DV_BOOLEAN', value: true });
      for (let i = 0; i < levels; i += 1)
        value = { _type: 'CLUSTER', name: { value: 'n' }, archetype_node_id: 'at0001', items: [value] };
      return value;
    };
    expect(violations(nested(150), 'CLUSTER')).toEqual([]);
    expect(violations(nested(100_000), 'CLUSTER')[0]).toMatch(/nested deeper than 400 levels$/);
  });

  it('lists a thousand violations of a million', () => {
    const content = Array.from({ length: 1_000_000 }, () => null);
    const found = violations({ content }, 'COMPOSITION');
    expect(found).toHaveLength(1001);
    expect(found.at(-1)).toBe('/: More than 1000 violations, the others are not listed');
  });

  it('reads long lists and long texts in proportion to their length', () => {
    const list = (length: number): void => {
      const items = Array.from({ length }, () => element({ _type: 'DV_BOOLEAN', value: true }));
      const tree = { _type: 'ITEM_TREE', name: { value: 'n' }, archetype_node_id: 'a', items };
      expect(violations(tree, 'ITEM_TREE')).toEqual([]);
    };
    const texts = (length: number): void => {
      for (const _type of ['DV_DATE', 'DV_TIME', 'DV_DATE_TIME', 'DV_DURATION', 'DV_URI'])
        violations(element({ _type, value: `P${'1'.repeat(length)} ` }));
      violations(element({ _type: 'DV_QUANTITY', magnitude: `${'1'.repeat(length)}x` }));
      for (const filler of ['A', ' ', '=', 'A '])
        violations(element({ _type: 'DV_MULTIMEDIA', data: `${filler.repeat(length)}!` }));
    };
    expect(growth(list, 6_000)).toBeLessThan(LINEAR);
    expect(growth(texts, 40_000)).toBeLessThan(LINEAR);
  });
});
