import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../../openehr/base/json.js';
import { parseDuration } from '../../../../../openehr/base/iso8601.js';
import { addDuration } from '../../../../../openehr/format/flat/defaults.js';
import { writeFlat } from '../../../../../openehr/format/flat/write.js';
import { fixtureJson } from '../../../../support/fixture.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';
import { at, read, rewritten } from './support.js';

const ROOT = 'conformance-ehrbase.de.v0';
const EVENT = `${ROOT}/conformance_section/conformance_observation/any_event:0`;
const CLUSTER = `${EVENT}/conformance_cluster`;
const template = publicTemplate(ROOT);
const BASE: JsonObject = { 'ctx/territory': 'US', 'ctx/composer_name': 'Ann', 'ctx/language': 'en' };

function composition(keys: JsonObject): JsonObject {
  return read({ ...BASE, ...keys }, template);
}

/** The first element of the first event, to be changed. */
function element(of: JsonObject): JsonObject {
  return at(of, 'content', 0, 'items', 0, 'data', 'events', 0, 'data', 'items', 0) as JsonObject;
}

function keysBelow(flat: JsonObject, prefix: string): Record<string, JsonValue> {
  const below = Object.entries(flat).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(below.map(([key, value]) => [key.slice(prefix.length), value]));
}

describe('writeFlat', () => {
  it('writes the index on nodes that may repeat, and never on others', () => {
    const keys = Object.keys(writeFlat(composition({ [`${EVENT}/dv_count`]: 1 }), template));
    expect(keys).toContain(`${EVENT}/dv_count`);
    expect(keys.some((key) => /conformance_section:|dv_count:|context:/.test(key))).toBe(false);
  });

  it('always says language, territory, category, composer, context and encoding', () => {
    const flat = writeFlat(composition({ [`${EVENT}/dv_count`]: 1 }), template);
    for (const key of [
      'language|code',
      'territory|terminology',
      'category|value',
      'composer|name',
      'context/start_time',
      'context/setting|code',
      'conformance_section/conformance_observation/language|code',
      'conformance_section/conformance_observation/encoding|code',
      'conformance_section/conformance_observation/any_event:0/time',
    ])
      expect(flat).toHaveProperty([`${ROOT}/${key}`]);
    expect(Object.keys(flat).some((key) => key.includes('/subject'))).toBe(false);
  });

  it('says a name only where it is not that of the template', () => {
    const given = composition({ [`${EVENT}/dv_count`]: 1 });
    expect(keysBelow(writeFlat(given, template), `${EVENT}/dv_count`)).toEqual({ '': 1 });
    element(given)['name'] = { _type: 'DV_TEXT', value: 'other' };
    expect(keysBelow(writeFlat(given, template), `${EVENT}/dv_count`)).toEqual({ '': 1, '/_name': 'other' });
    expect(at(element(read(writeFlat(given, template), template)), 'name', 'value')).toBe('other');
  });

  it('tells several data types of one element apart', () => {
    const keys = {
      [`${CLUSTER}/labresult/quantity_value|magnitude`]: 5,
      [`${CLUSTER}/labresult/quantity_value|unit`]: 'mm',
    };
    expect(rewritten({ ...BASE, ...keys }, template)).toMatchObject(keys);
    const text = { [`${CLUSTER}/labresult/text_value`]: 'x' };
    expect(rewritten({ ...BASE, ...text }, template)).toMatchObject(text);
  });

  it('writes every data type of an open element', () => {
    const any = `${CLUSTER}/any`;
    const values: JsonObject = {
      text_value: 'a',
      boolean_value: true,
      'state_value|code': 'c',
      'state_value|value': 'v',
      'state_value|terminology': 'local',
      uri_value: 'http://x',
      ehr_uri_value: 'ehr://x',
      duration_value: 'P1D',
      count_value: 3,
      date_time_value: '2020-01-01T10:00:00Z',
      time_value: '10:00:00',
      date_value: '2020',
      'identifier_value|id': '1',
      'parsable_value|formalism': 'f',
    };
    const groups = new Set(Object.keys(values).map((key) => key.split('|')[0]!));
    for (const group of groups) {
      const own = Object.entries(values).filter(([key]) => key.split('|')[0] === group);
      const keys = Object.fromEntries(own.map(([key, value]) => [`${any}/${key}`, value]));
      expect(rewritten({ ...BASE, ...keys }, template)).toMatchObject(keys);
    }
  });

  it('writes a class that FLAT has no keys for as |raw, and reads it back', () => {
    const given = composition({ [`${CLUSTER}/any/text_value`]: 'x' });
    const any = at(element(given), 'items', 0) as JsonObject;
    const value = { _type: 'DV_PARAGRAPH', items: [{ _type: 'DV_TEXT', value: 'x' }] };
    any.value = value;
    // No alternative of the template fits: it is left out.
    expect(keysBelow(writeFlat(given, template), CLUSTER)).toEqual({});
    const audit = {
      _type: 'FEEDER_AUDIT',
      originating_system_audit: {
        _type: 'FEEDER_AUDIT_DETAILS',
        system_id: 's',
        other_details: {
          _type: 'ITEM_TREE',
          name: { _type: 'DV_TEXT', value: 't' },
          archetype_node_id: 'at1',
        },
      },
    };
    const audited = { ...composition({}), feeder_audit: audit };
    const flat = writeFlat(audited, template);
    expect(flat[`${ROOT}/_feeder_audit|raw`]).toBe(JSON.stringify(audit));
    expect(read(flat, template)['feeder_audit']).toEqual(audit);
  });

  it('keeps empty sections by their name', () => {
    const sections = publicTemplate('cardinality_of_section');
    const given = fixtureJson('composition/cardinality_of_section.json');
    const back = read(writeFlat(given, sections), sections);
    const names = (of: JsonObject) =>
      (of.content as JsonObject[]).map((section) => at(section, 'name', 'value'));
    expect(names(back)).toEqual(names(given));
  });

  it('numbers what has keys, so that nothing moves when it is read', () => {
    const given = composition({ [`${CLUSTER}/comment`]: 'x' });
    expect(keysBelow(writeFlat(given, template), CLUSTER)).toEqual({ '/comment': 'x' });
  });

  it('leaves out what the template does not describe', () => {
    const given = composition({ [`${EVENT}/dv_count`]: 1 });
    const items = at(given, 'content', 0, 'items', 0, 'data', 'events', 0, 'data', 'items') as JsonObject[];
    items.push({ ...items[0]!, archetype_node_id: 'at9999' });
    const flat = writeFlat(given, template);
    expect(Object.keys(flat).filter((key) => key.includes('any_event:0'))).toEqual([
      `${EVENT}/dv_count`,
      `${EVENT}/time`,
    ]);
  });

  it('says of a PARTY_SELF composer that it is the subject', () => {
    const given = { ...composition({}), composer: { _type: 'PARTY_SELF' } };
    const flat = writeFlat(given, template);
    expect(flat['ctx/composer_self']).toBe(true);
    expect(keysBelow(flat, `${ROOT}/composer`)).toEqual({});
    expect(read(flat, template)['composer']).toEqual({ _type: 'PARTY_SELF' });
  });

  it('writes a participation mode as code where its rubric does not lead back to it', () => {
    const keys = {
      [`${ROOT}/context/_participation:0|mode`]: '216',
      [`${ROOT}/context/_participation:0|function`]: 'f',
    };
    const given = composition(keys);
    const mode = at(given, 'context', 'participations', 0, 'mode') as JsonObject;
    expect(writeFlat(given, template)[`${ROOT}/context/_participation:0|mode`]).toBe(
      'face-to-face communication',
    );
    mode.value = 'persönlich';
    expect(writeFlat(given, template)[`${ROOT}/context/_participation:0|mode`]).toBe('216');
  });

  it('does not change the composition', () => {
    const given = fixtureJson('composition/Corona_Anamnese.json');
    const before = JSON.stringify(given);
    writeFlat(given, publicTemplate('Corona_Anamnese'));
    expect(JSON.stringify(given)).toBe(before);
  });
});

describe('addDuration', () => {
  it.each([
    ['2020-01-31T10:00:00Z', 'P1M', '2020-02-29T10:00:00Z'],
    ['2020-12-31T23:59:59.25+01:00', 'PT1S', '2021-01-01T00:00:00.25+01:00'],
    ['2020-03-01T00:00:00', '-P1D', '2020-02-29T00:00:00'],
    ['2020-01-15T10:00:00Z', '-P1Y1M', '2018-12-15T10:00:00Z'],
    ['2020-01', 'P1D', '2020-01'],
  ])('%s plus %s is %s', (start, duration, sum) => {
    expect(addDuration(start, parseDuration(duration)!)).toBe(sum);
  });
});
