import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../../openehr/base/json.js';
import { compileTemplate } from '../../../../../openehr/template/compile.js';
import { node, root, single, template as optOf } from '../../../../support/openehr/opt-builder.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';
import { at, findings, NOW_TEXT, read, refusal, rewritten } from './support.js';

const ROOT = 'conformance-ehrbase.de.v0';
const SECTION = `${ROOT}/conformance_section`;
const EVENT = `${SECTION}/conformance_observation/any_event:0`;
const BASE: JsonObject = { 'ctx/territory': 'US', 'ctx/composer_name': 'Silvia Blake', 'ctx/language': 'en' };
const template = publicTemplate(ROOT);

/** A composition with some keys below the observation's first event. */
function withEvent(keys: Record<string, JsonValue>): JsonObject {
  const flat: JsonObject = { ...BASE };
  for (const [key, value] of Object.entries(keys)) flat[EVENT + key] = value;
  return read(flat, template);
}

const EVENT_PATH = ['content', 0, 'items', 0, 'data', 'events', 0];

describe('bodies without measure', () => {
  const many = (count: number, keyOf: (index: number) => string, value: JsonValue = 'x'): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [keyOf(i), value]));

  it('name the first thousand keys that no node takes', () => {
    const message = refusal({ ...BASE, ...many(5_000, (i) => `${ROOT}/wrong_${i}`) }, template);
    expect(message).toMatch(/wrong_999\] and 4000 more; nearest valid keys/);
  });

  it('are refused when few keys of many segments name too many objects', () => {
    const deep = many(2_600, (i) => `${ROOT}/n${i}${'/a'.repeat(97)}`);
    expect(() => read({ ...BASE, ...deep }, template)).toThrow('name more than 250000 objects');
  });

  it('are refused when texts of |raw hold too many nodes together', () => {
    const raw = many(6, (i) => `${SECTION}/x:${i}|raw`, `[${'[],'.repeat(50_000)}[]]`);
    expect(() => read({ ...BASE, ...raw }, template)).toThrow('more than 250000 nodes');
  });
});

describe('feeder_audit and _feeder_audit', () => {
  const own =
    single('feeder_audit', node('FEEDER_AUDIT')) + single('data', node('ITEM_TREE', { id: 'at0001' }));
  const compiled = compileTemplate(
    optOf(root('openEHR-EHR-EVALUATION.test.v1', own, { at0001: 'Tree' }), { id: 'test' }),
  );
  const given = (system: string): JsonObject => ({
    ...BASE,
    'test/evaluation/feeder_audit/originating_system_audit|system_id': 'lab',
    'test/evaluation/_feeder_audit/originating_system_audit|system_id': system,
  });

  it('may say the same', () => {
    expect(at(read(given('lab'), compiled), 'content', 0, 'feeder_audit')).toMatchObject({
      originating_system_audit: { system_id: 'lab' },
    });
  });

  it('must not say different things', () => {
    expect(refusal(given('ward'), compiled)).toContain('give different values');
  });
});

/** The value of the first element that such keys make. */
function valueOf(keys: Record<string, JsonValue>): unknown {
  return at(withEvent(keys), ...EVENT_PATH, 'data', 'items', 0, 'value');
}

function eventRefusal(keys: Record<string, JsonValue>): string {
  const flat: JsonObject = { ...BASE };
  for (const [key, value] of Object.entries(keys)) flat[EVENT + key] = value;
  return refusal(flat, template);
}

function phrase(terminology: string, code: string): JsonObject {
  return {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
    code_string: code,
  };
}

function coded(terminology: string, code: string, value: string): JsonObject {
  return { _type: 'DV_CODED_TEXT', value, defining_code: phrase(terminology, code) };
}

describe('keys of FLAT', () => {
  it('may leave out the index 0, also where nodes repeat', () => {
    const keys = { [`${SECTION}:0/conformance_observation:0/any_event/dv_count`]: 3 };
    const short = { [`${SECTION}/conformance_observation/any_event:0/dv_count`]: 3 };
    expect(read({ ...BASE, ...keys }, template)).toEqual(read({ ...BASE, ...short }, template));
  });

  it('give instances by rising index, whatever their order, and close gaps', () => {
    const observation = `${SECTION}/conformance_observation`;
    const flat = {
      ...BASE,
      [`${observation}/any_event:9999/dv_count`]: 3,
      [`${observation}/any_event:10/dv_count`]: 2,
      [`${observation}/any_event/dv_count`]: 1,
    };
    const events = at(read(flat, template), 'content', 0, 'items', 0, 'data', 'events') as JsonObject[];
    expect(events.map((event) => at(event, 'data', 'items', 0, 'value', 'magnitude'))).toEqual([1, 2, 3]);
  });

  it.each([':x', ':-1', ':10000', ':100000', ':', ':1.5', ':01', ': 1'])('refuse the index %s', (index) => {
    const flat = { ...BASE, [`${SECTION}/conformance_observation/any_event${index}/dv_count`]: 3 };
    expect(refusal(flat, template)).toMatch(/^the index :.* must be a whole number from 0 to 9999$/);
  });

  it('that no node takes are all named, with the nearest that is valid', () => {
    const flat = {
      ...BASE,
      [`${EVENT}/dv_cuont`]: 3,
      [`${EVENT}/dv_quantity|magnitud`]: 3,
      'other_root/x': 1,
      [`${ROOT}/context/setting|nonsense`]: 'a',
      '': 'x',
    };
    const message = refusal(flat, template);
    expect(message).toContain(
      `Could not consume Parts [${EVENT}/dv_cuont, ${EVENT}/dv_quantity|magnitud, other_root/x, ${ROOT}/context/setting|nonsense, ]`,
    );
    expect(message).toContain(`${EVENT}/dv_count`);
    expect(message).toContain(`${EVENT}/dv_quantity|magnitude`);
  });

  it('of ctx/ that are unknown are ignored', () => {
    expect(read({ ...BASE, 'ctx/unknown': 'x', 'ctx/nested/deep|er': { a: 1 } }, template)).toEqual(
      read(BASE, template),
    );
  });

  it.each([
    ['ctx/languages', 'de', /did you mean ctx\/language\?/],
    ['ctx/languages', { a: 1 }, /did you mean ctx\/language\?/],
    ['ctx/time_x', { a: 1 }, /ctx\/time_x/],
  ])('of ctx/ that are nearly known are refused, whatever they hold: %s %j', (key, value, message) => {
    expect(refusal({ ...BASE, [key]: value }, template)).toMatch(message);
  });

  it('of ctx/ that are nearly known are all named, each with the key that was meant', () => {
    const wrong = { ...BASE, 'ctx/langage': 'de', 'ctx/composer_nam': 'Ada' };
    expect(refusal(wrong, template)).toMatch(
      /ctx\/langage .*ctx\/language\?.*ctx\/composer_nam .*ctx\/composer_name/,
    );
    expect(() => read(wrong, template)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          problems: [
            expect.objectContaining({ flatPath: 'ctx/langage', expected: ['ctx/language'] }),
            expect.objectContaining({ flatPath: 'ctx/composer_nam', expected: ['ctx/composer_name'] }),
          ],
        }),
      }),
    );
  });

  it('with null say nothing', () => {
    expect(read({ ...BASE, [`${EVENT}/dv_count`]: null, 'nowhere/x': null }, template)).toEqual(
      read(BASE, template),
    );
  });

  it('with lists or objects as values are refused', () => {
    expect(eventRefusal({ '/dv_count': [1] })).toMatch(/dv_count must be text, a number or a boolean/);
  });

  it('that say the same twice are fine, those that contradict each other are both named', () => {
    expect(withEvent({ '/dv_text': 'a', '/dv_text|value': 'a' })).toEqual(withEvent({ '/dv_text': 'a' }));
    expect(eventRefusal({ '/dv_text': 'a', '/dv_text|value': 'b' })).toBe(
      `${EVENT}/dv_text and ${EVENT}/dv_text|value give different values for the same attribute`,
    );
    expect(eventRefusal({ '/dv_count': 1, '/dv_count:0': 2 })).toBe(
      `${EVENT}/dv_count and ${EVENT}/dv_count:0 give different values for the same attribute`,
    );
  });

  it('for a second value where the RM has one are not taken', () => {
    expect(refusal({ ...BASE, [`${ROOT}/context:1/_location`]: 'x' }, template)).toMatch(
      /^Could not consume Parts/,
    );
    expect(eventRefusal({ '/time:1': '2020-01-01T10:00' })).toMatch(/^Could not consume Parts/);
  });

  it('for two of several data types of one element contradict each other', () => {
    const choice = '/conformance_cluster/labresult';
    expect(
      eventRefusal({ [`${choice}/text_value`]: 'a', [`${choice}/quantity_value|magnitude`]: 1 }),
    ).toMatch(/give different values/);
  });
});

describe('data types of FLAT', () => {
  it.each<[string, Record<string, JsonValue>, JsonObject]>([
    [
      'DV_TEXT',
      { '/dv_text|value': 'a', '/dv_text|formatting': 'plain' },
      { _type: 'DV_TEXT', value: 'a', formatting: 'plain' },
    ],
    [
      'DV_TEXT with code',
      { '/dv_text': 'a', '/dv_text|code': '1', '/dv_text|terminology': 'X' },
      coded('X', '1', 'a'),
    ],
    ['DV_CODED_TEXT by code', { '/dv_coded_text|code': 'at0006' }, coded('local', 'at0006', 'term1')],
    ['DV_CODED_TEXT by plain code', { '/dv_coded_text': 'at0006' }, coded('local', 'at0006', 'term1')],
    ['DV_CODED_TEXT by plain label', { '/dv_coded_text': 'term2' }, coded('local', 'at0007', 'term2')],
    ['DV_CODED_TEXT by label', { '/dv_coded_text|value': 'term2' }, coded('local', 'at0007', 'term2')],
    [
      'DV_CODED_TEXT as given',
      { '/dv_coded_text|code': 'x', '/dv_coded_text|value': 'y', '/dv_coded_text|terminology': 'SNOMED-CT' },
      coded('SNOMED-CT', 'x', 'y'),
    ],
    [
      'DV_ORDINAL by code',
      { '/dv_ordinal': 'at0016' },
      { _type: 'DV_ORDINAL', symbol: coded('local', 'at0016', 'value2'), value: 2 },
    ],
    [
      'DV_ORDINAL by ordinal',
      { '/dv_ordinal|ordinal': '1' },
      { _type: 'DV_ORDINAL', symbol: coded('local', 'at0015', 'value1'), value: 1 },
    ],
    [
      'DV_ORDINAL by label',
      { '/dv_ordinal|value': 'value1' },
      { _type: 'DV_ORDINAL', symbol: coded('local', 'at0015', 'value1'), value: 1 },
    ],
    [
      'DV_QUANTITY',
      { '/dv_quantity|magnitude': '2.50', '/dv_quantity|units': 'mm', '/dv_quantity|precision': 1 },
      { _type: 'DV_QUANTITY', magnitude: 2.5, units: 'mm', precision: 1 },
    ],
    ['DV_COUNT', { '/dv_count|value': '7' }, { _type: 'DV_COUNT', magnitude: 7 }],
    [
      'DV_PROPORTION',
      {
        '/dv_proportion': 99,
        '/dv_proportion|numerator': 1,
        '/dv_proportion|denominator': 4,
        '/dv_proportion|type': 0,
      },
      { _type: 'DV_PROPORTION', numerator: 1, denominator: 4, type: 0 },
    ],
    ['DV_BOOLEAN', { '/dv_boolean': 'false' }, { _type: 'DV_BOOLEAN', value: false }],
    ['DV_URI', { '/dv_uri': 'http://x' }, { _type: 'DV_URI', value: 'http://x' }],
    ['DV_EHR_URI', { '/dv_ehr_uri': 'ehr://x' }, { _type: 'DV_EHR_URI', value: 'ehr://x' }],
    ['partial DV_DATE', { '/dv_date': '2021-10' }, { _type: 'DV_DATE', value: '2021-10' }],
    ['DV_DATE now', { '/dv_date': 'now' }, { _type: 'DV_DATE', value: '2024-05-05' }],
    ['DV_TIME now', { '/dv_time': 'now' }, { _type: 'DV_TIME', value: '05:05:05.678000Z' }],
    ['DV_DATE_TIME now', { '/dv_date_time': 'now' }, { _type: 'DV_DATE_TIME', value: NOW_TEXT }],
    ['DV_DURATION', { '/dv_duration': 'P1W' }, { _type: 'DV_DURATION', value: 'P1W' }],
    [
      'DV_DURATION by parts',
      {
        '/dv_duration|year': 1,
        '/dv_duration|month': '2',
        '/dv_duration|week': 3,
        '/dv_duration|day': 4,
        '/dv_duration|hour': 5,
        '/dv_duration|minute': 6,
        '/dv_duration|second': 7.5,
      },
      { _type: 'DV_DURATION', value: 'P1Y2M3W4DT5H6M7.5S' },
    ],
    ['DV_DURATION by minutes', { '/dv_duration|minute': 90 }, { _type: 'DV_DURATION', value: 'PT90M' }],
    [
      'DV_IDENTIFIER',
      { '/dv_identifier': '1', '/dv_identifier|type': 't' },
      { _type: 'DV_IDENTIFIER', id: '1', type: 't' },
    ],
    [
      'DV_MULTIMEDIA',
      {
        '/dv_multimedia|url': 'http://x',
        '/dv_multimedia|mediatype': 'image/png',
        '/dv_multimedia|integrity_check': 'ä',
        '/dv_multimedia|size': 5,
      },
      {
        _type: 'DV_MULTIMEDIA',
        uri: { _type: 'DV_URI', value: 'http://x' },
        media_type: phrase('IANA_media-types', 'image/png'),
        integrity_check: 'w6Q=',
        size: 5,
      },
    ],
    [
      'DV_PARSABLE',
      { '/dv_parsable|value': 'x', '/dv_parsable|formalism': 'y' },
      { _type: 'DV_PARSABLE', value: 'x', formalism: 'y' },
    ],
    [
      'DV_STATE of any element',
      { '/conformance_cluster/any/state_value|code': 'a', '/conformance_cluster/any/state_value|value': 'b' },
      { _type: 'CLUSTER' },
    ],
  ])('read %s', (_name, keys, expected) => {
    const value = withEvent(keys);
    const item = at(value, ...EVENT_PATH, 'data', 'items', 0);
    expect(expected._type === 'CLUSTER' ? at(item, 'items', 0, 'value', '_type') : at(item, 'value')).toEqual(
      expected._type === 'CLUSTER' ? 'DV_STATE' : expected,
    );
  });

  it.each<[string, Record<string, JsonValue>, string | RegExp]>([
    ['number', { '/dv_count': 'many' }, `the value of ${EVENT}/dv_count must be a number`],
    ['fraction of a count', { '/dv_count': 1.5 }, `the value of ${EVENT}/dv_count must be a whole number`],
    [
      'number of too many digits',
      { '/dv_quantity|magnitude': '0.12345678901234567890' },
      /at most 17 significant digits/,
    ],
    ['boolean', { '/dv_boolean': 'yes' }, /must be true or false/],
    ['text', { '/dv_text': 5 }, `the value of ${EVENT}/dv_text must be text`],
    ['date', { '/dv_date': '2021-13' }, `the value of ${EVENT}/dv_date must be an ISO 8601 date`],
    ['time', { '/dv_time': '10:95' }, /an ISO 8601 time/],
    ['date and time', { '/dv_date_time': '' }, /an ISO 8601 date and time/],
    ['duration', { '/dv_duration': '1Y' }, /an ISO 8601 duration/],
    ['duration part', { '/dv_duration|hour': 1.5 }, /whole number/],
    ['duration, twice', { '/dv_duration': 'P1D', '/dv_duration|hour': 1 }, /give different values/],
    ['code', { '/dv_coded_text|code': 'at9999' }, 'Unknown Value at9999 in terminology local'],
    ['label', { '/dv_coded_text': 'nothing' }, 'Unknown Value nothing in terminology local'],
    ['ordinal', { '/dv_ordinal|ordinal': 77 }, 'Unknown Value 77 in terminology local'],
    ['code, twice', { '/dv_coded_text': 'at0006', '/dv_coded_text|code': 'at0007' }, /give different values/],
    ['raw text', { '/dv_count|raw': '{"a"' }, /is no JSON: malformed/],
    ['raw list', { '/dv_count|raw': '[]' }, /must be a JSON object/],
    ['raw type', { '/dv_count|raw': '{"_type":"PARTY_SELF"}' }, /must have the _type ELEMENT or DATA_VALUE/],
  ])('refuse a wrong %s', (_name, keys, message) => {
    expect(eventRefusal(keys)).toMatch(message);
  });

  it('take a whole but wrong code for validation to find', () => {
    const composition = withEvent({
      '/dv_coded_text|code': 'at9999',
      '/dv_coded_text|value': 'x',
      '/dv_coded_text|terminology': 'local',
    });
    expect(findings(composition, template)).toEqual([
      expect.stringMatching(/code_string does not match any option/),
    ]);
  });

  it('fill in the unit and proportion type that the template fixes', () => {
    const pressure = publicTemplate('ehrbase_blood_pressure_simple.de.v0');
    const flat = {
      ...BASE,
      'encounter_training_sample/blood_pressure_training_sample:0/systolic|magnitude': 120,
    };
    const value = at(read(flat, pressure), 'content', 0, 'data', 'events', 0, 'data', 'items', 0, 'value');
    expect(value).toEqual({ _type: 'DV_QUANTITY', magnitude: 120, units: 'mm[Hg]' });
  });

  it('make an interval unbounded where a bound is missing', () => {
    const key = `${SECTION}/conformance_interval/any_event/interval_dv_count/lower`;
    const interval = at(read({ ...BASE, [key]: 5 }, template), ...EVENT_PATH, 'data', 'items', 0, 'value');
    expect(interval).toEqual({
      _type: 'DV_INTERVAL',
      lower: { _type: 'DV_COUNT', magnitude: 5 },
      lower_unbounded: false,
      lower_included: true,
      upper_unbounded: true,
      upper_included: false,
    });
  });

  it('put coded text and free text of one node apart', () => {
    const encounter = publicTemplate('ehrbase_multi_occurrence.de.v1');
    const key = 'encounter/body_temperature:0/any_event:0/body_exposure';
    const exposure = (keys: JsonObject) =>
      at(
        read({ ...BASE, ...keys }, encounter),
        'content',
        0,
        'data',
        'events',
        0,
        'state',
        'items',
        0,
        'value',
      );
    expect(exposure({ [`${key}|other`]: 'wet' })).toEqual({ _type: 'DV_TEXT', value: 'wet' });
    expect(exposure({ [key]: 'wet' })).toEqual({ _type: 'DV_TEXT', value: 'wet' });
    expect(exposure({ [key]: 'at0031' })).toMatchObject({ _type: 'DV_CODED_TEXT' });
    expect(refusal({ ...BASE, [`${key}|other`]: 'wet', [`${key}|code`]: 'at0031' }, encounter)).toMatch(
      /give different/,
    );
  });

  it('take a whole object, or the value alone, as |raw with @class', () => {
    const value = { '@class': 'DV_COUNT', magnitude: 5 };
    const element = {
      _type: 'ELEMENT',
      name: { _type: 'DV_TEXT', value: 'n' },
      archetype_node_id: 'at0011',
      value,
    };
    expect(valueOf({ '/dv_count|raw': JSON.stringify(value) })).toEqual({ _type: 'DV_COUNT', magnitude: 5 });
    const items = at(withEvent({ '/dv_count|raw': JSON.stringify(element) }), ...EVENT_PATH, 'data', 'items');
    expect(items).toEqual([{ ...element, value: { _type: 'DV_COUNT', magnitude: 5 } }]);
    expect(eventRefusal({ '/dv_count|raw': JSON.stringify(value), '/dv_count|normal_status': 'N' })).toMatch(
      /Could not consume Parts/,
    );
  });
});

describe('structures of FLAT', () => {
  it('take name, node id and archetype details from the template', () => {
    const composition = withEvent({ '/dv_count': 1 });
    expect(composition).toMatchObject({
      _type: 'COMPOSITION',
      archetype_details: {
        archetype_id: { value: composition.archetype_node_id },
        template_id: { value: ROOT },
        rm_version: '1.0.4',
      },
    });
    expect(at(composition, 'content', 0, 'items', 0, 'archetype_details')).toEqual({
      _type: 'ARCHETYPED',
      archetype_id: { _type: 'ARCHETYPE_ID', value: 'openEHR-EHR-OBSERVATION.conformance_observation.v0' },
      rm_version: '1.0.4',
    });
  });

  it('make an element with null flavour lose its value', () => {
    const element = at(
      withEvent({
        '/dv_count': 1,
        '/dv_count/_null_flavour|value': 'unknown',
        '/dv_count/_null_reason': 'r',
      }),
      ...EVENT_PATH,
      'data',
      'items',
      0,
    ) as JsonObject;
    expect(element.value).toBeUndefined();
    expect(element.null_flavour).toEqual(coded('openehr', '253', 'unknown'));
    expect(element.null_reason).toEqual({ _type: 'DV_TEXT', value: 'r' });
  });

  it('refuse an unknown null flavour or participation mode', () => {
    expect(eventRefusal({ '/dv_count/_null_flavour|value': 'lost' })).toBe(
      'Unknown Value lost in terminology openehr',
    );
    const keys = { ...BASE, [`${ROOT}/context/_participation|mode`]: 'telepathy' };
    expect(refusal(keys, template)).toBe('Unknown Value telepathy in terminology openehr');
  });

  it('tell parties by their keys', () => {
    const subject = `${SECTION}/conformance_evaluation/subject`;
    const party = (keys: Record<string, JsonValue>) => {
      const flat: JsonObject = {
        ...BASE,
        'ctx/id_namespace': 'NS',
        [`${SECTION}/conformance_evaluation/dv_text`]: 'x',
      };
      for (const [key, value] of Object.entries(keys)) flat[subject + key] = value;
      return at(read(flat, template), 'content', 0, 'items', 0, 'subject');
    };
    expect(party({})).toEqual({ _type: 'PARTY_SELF' });
    expect(party({ '|name': 'Ann' })).toEqual({ _type: 'PARTY_IDENTIFIED', name: 'Ann' });
    expect(party({ '/_name': 'Ann', '/name': 'Ann' })).toEqual({ _type: 'PARTY_IDENTIFIED', name: 'Ann' });
    expect(party({ '|name': 'Ann', '/relationship|code': '10' })).toEqual({
      _type: 'PARTY_RELATED',
      name: 'Ann',
      relationship: coded('openehr', '10', 'mother'),
    });
    const reference = {
      id: { _type: 'GENERIC_ID', value: '1', scheme: 'S' },
      namespace: 'NS',
      type: 'PARTY',
    };
    expect(party({ '|id': '1', '|id_scheme': 'S', '|_type': 'PARTY_SELF' })).toEqual({
      _type: 'PARTY_SELF',
      external_ref: { _type: 'PARTY_REF', ...reference },
    });
    expect(party({ '/_identifier:0|id': '5' })).toEqual({
      _type: 'PARTY_IDENTIFIED',
      identifiers: [{ _type: 'DV_IDENTIFIER', id: '5' }],
    });
  });

  it('take the state of a careflow step, and completed without one', () => {
    const action = `${SECTION}/conformance_action`;
    const state = (keys: JsonObject) =>
      at(
        read({ ...BASE, [`${action}/dv_text`]: 'x', ...keys }, template),
        'content',
        0,
        'items',
        0,
        'ism_transition',
      );
    expect(state({ [`${action}/ism_transition/careflow_step|code`]: 'at0005' })).toMatchObject({
      careflow_step: { value: expect.any(String) },
      current_state: { defining_code: { code_string: '524' } },
    });
    expect(state({})).toMatchObject({ current_state: coded('openehr', '532', 'completed') });
    expect(state({ 'ctx/action_ism_transition_current_state': 'planned' })).toMatchObject({
      current_state: coded('openehr', '526', 'planned'),
    });
  });

  it.each(['instruction_uid', 'wt_path', 'instruction_index', 'activity_index'])(
    'refuse _instruction_details|%s',
    (suffix) => {
      const keys = { [`${SECTION}/conformance_action/_instruction_details|${suffix}`]: 'x' };
      expect(refusal({ ...BASE, ...keys }, template)).toMatch(/^Could not consume Parts/);
    },
  );

  it('make an interval event where the keys say so', () => {
    const event = at(withEvent({ '/dv_count': 1, '/width': 'PT1H' }), ...EVENT_PATH);
    expect(event).toMatchObject({
      _type: 'INTERVAL_EVENT',
      width: { value: 'PT1H' },
      math_function: coded('openehr', '640', 'actual'),
    });
    expect(at(withEvent({ '/dv_count': 1 }), ...EVENT_PATH, '_type')).toBe('POINT_EVENT');
    expect(at(withEvent({ '/dv_count': 1, '|sample_count': 3 }), ...EVENT_PATH)).toMatchObject({
      sample_count: 3,
    });
  });

  it('drop elements without value and clusters without items, keep data that the RM requires', () => {
    const composition = withEvent({ '/time': '2020-01-01T10:00:00Z', '/conformance_cluster/_uid': 'a' });
    expect(at(composition, ...EVENT_PATH, 'data')).toMatchObject({ _type: 'ITEM_TREE' });
    expect(at(composition, ...EVENT_PATH, 'data', 'items')).toBeUndefined();
    expect(findings(composition, template)).toEqual([]);
  });
});

describe('times of FLAT', () => {
  const observation = `${SECTION}/conformance_observation`;
  const history = (keys: JsonObject) => {
    const flat = { ...BASE, [`${observation}/any_event:0/dv_count`]: 1, ...keys };
    const data = at(read(flat, template), 'content', 0, 'items', 0, 'data') as JsonObject;
    return [
      at(data, 'origin', 'value'),
      ...(data.events as JsonObject[]).map((event) => at(event, 'time', 'value')),
    ];
  };
  const EARLY = '2020-01-01T10:00:00Z';
  const LATE = '2020-01-01T12:00:00+01:00';

  it('are now where nothing is said', () => {
    expect(history({})).toEqual([NOW_TEXT, NOW_TEXT]);
  });

  it('are when the context began where its body says so, and nothing else does', () => {
    const [root = ''] = SECTION.split('/');
    const start = `${root}/context/start_time`;
    expect(history({ [start]: LATE })).toEqual([LATE, LATE]);
    expect(history({ [start]: 'now' })).toEqual([NOW_TEXT, NOW_TEXT]);
    expect(history({ [start]: LATE, 'ctx/time': EARLY })).toEqual([EARLY, EARLY]);
    const told = { [start]: LATE, [`${observation}/any_event:0/time`]: EARLY };
    expect(history(told)).toEqual([EARLY, EARLY]);
    const action = `${SECTION}/conformance_action/ism_transition/current_state|code`;
    const acted = read({ ...BASE, [start]: LATE, [action]: '532' }, template);
    expect(at(acted, 'content', 0, 'items', 0)).toMatchObject({ _type: 'ACTION', time: { value: LATE } });
  });

  it('have the earliest event as origin', () => {
    const keys = { [`${observation}/any_event:0/time`]: LATE, [`${observation}/any_event:1/time`]: EARLY };
    expect(history(keys)).toEqual([EARLY, LATE, EARLY]);
  });

  it('follow ctx/time and ctx/history_origin', () => {
    expect(history({ 'ctx/time': EARLY })).toEqual([EARLY, EARLY]);
    expect(history({ 'ctx/history_origin': EARLY })).toEqual([EARLY, EARLY]);
    expect(history({ 'ctx/time': LATE, 'ctx/history_origin': EARLY })).toEqual([EARLY, LATE]);
  });

  it('write the origin only where it is not the earliest event', () => {
    const flat = {
      ...BASE,
      [`${observation}/any_event:0/time`]: LATE,
      [`${observation}/history_origin`]: EARLY,
    };
    expect(rewritten(flat, template)[`${observation}/history_origin`]).toBe(EARLY);
    const same = { ...flat, [`${observation}/history_origin`]: LATE };
    expect(rewritten(same, template)[`${observation}/history_origin`]).toBeUndefined();
  });

  it('add the offset that the template asks of an event', () => {
    const pressure = publicTemplate('ehrbase_blood_pressure_simple.de.v0');
    const root = 'encounter_training_sample/blood_pressure_training_sample:0';
    const event = (keys: JsonObject) =>
      at(
        read(
          {
            ...BASE,
            [`${root}/systolic|magnitude`]: 1,
            'ctx/history_origin': '2020-02-28T10:00:00.5+01:00',
            ...keys,
          },
          pressure,
        ),
        'content',
        0,
        'data',
        'events',
        0,
      ) as JsonObject;
    expect(at(event({ [`${root}/offset`]: 'P1DT1H' }), 'time', 'value')).toBe('2020-02-29T11:00:00.5+01:00');
    expect(event({ [`${root}/offset`]: 'P1M' }).offset).toBeUndefined();
  });
});
