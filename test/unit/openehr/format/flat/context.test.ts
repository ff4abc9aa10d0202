import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../../openehr/base/json.js';
import { fixtureJson } from '../../../../support/fixture.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';
import { at, findings, NOW_TEXT, read, refusal } from './support.js';

const ROOT = 'conformance-ehrbase.de.v0';
const SECTION = `${ROOT}/conformance_section`;
const template = publicTemplate(ROOT);
const ENTRIES = {
  [`${SECTION}/conformance_action/dv_text`]: 'a',
  [`${SECTION}/conformance_evaluation/dv_text`]: 'b',
  [`${SECTION}/conformance_instruction/current_activity/dv_text`]: 'c',
  [`${SECTION}/conformance_observation/any_event:0/dv_text`]: 'd',
};
const BASE = { 'ctx/territory': 'US', 'ctx/composer_name': 'Ann', ...ENTRIES };

function composed(context: JsonObject, keys: JsonObject = {}): JsonObject {
  return read({ ...BASE, ...keys, ...context }, template);
}

/** The entry of a class. */
function entry(composition: JsonObject, type: string): JsonObject {
  const entries = at(composition, 'content', 0, 'items') as JsonObject[];
  return entries.find((candidate) => candidate._type === type)!;
}

function coded(code: string, value: string): JsonObject {
  return {
    _type: 'DV_CODED_TEXT',
    value,
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: code,
    },
  };
}

function identified(name: string, id: string, scheme: string | null, namespace: string | null): JsonObject {
  return {
    _type: 'PARTY_IDENTIFIED',
    external_ref: {
      _type: 'PARTY_REF',
      id:
        scheme === null ? { _type: 'HIER_OBJECT_ID', value: id } : { _type: 'GENERIC_ID', value: id, scheme },
      ...(namespace === null ? {} : { namespace }),
      type: 'PARTY',
    },
    name,
  };
}

describe('a FLAT body without ctx/', () => {
  const composition = read(
    { [`${ROOT}/territory|code`]: 'DE', [`${ROOT}/composer|name`]: 'Ann', ...ENTRIES },
    template,
  );

  it('gets the defaults of the template and of openEHR, and is valid', () => {
    expect(findings(composition, template)).toEqual([]);
    expect(at(composition, 'language', 'code_string')).toBe(template.defaultLanguage);
    expect(at(composition, 'territory', 'terminology_id', 'value')).toBe('ISO_3166-1');
    expect(composition.category).toEqual(coded('433', 'event'));
    expect(composition.context).toEqual({
      _type: 'EVENT_CONTEXT',
      start_time: { _type: 'DV_DATE_TIME', value: NOW_TEXT },
      setting: coded('238', 'other care'),
    });
    const evaluation = entry(composition, 'EVALUATION');
    expect(at(evaluation, 'language', 'code_string')).toBe(template.defaultLanguage);
    expect(at(evaluation, 'encoding', 'code_string')).toBe('UTF-8');
    expect(evaluation.subject).toEqual({ _type: 'PARTY_SELF' });
    expect(entry(composition, 'INSTRUCTION')).toMatchObject({
      narrative: { value: '<none>' },
      activities: [{ timing: { value: 'R1', formalism: 'timing' }, action_archetype_id: '/.*/' }],
    });
    expect(entry(composition, 'ACTION')).toMatchObject({
      time: { value: NOW_TEXT },
      ism_transition: { current_state: coded('532', 'completed') },
    });
  });

  it('leaves out the territory and composer that nobody gave', () => {
    const bare = read(ENTRIES, template);
    expect(bare.territory).toBeUndefined();
    expect(bare.composer).toBeUndefined();
  });
});

describe('ctx/', () => {
  it('language and territory set those of the composition and its entries', () => {
    const composition = composed({ 'ctx/language': 'German', 'ctx/territory': 'DE' });
    expect(at(composition, 'language', 'code_string')).toBe('de');
    expect(at(entry(composition, 'ACTION'), 'language', 'code_string')).toBe('de');
    expect(at(composition, 'territory', 'code_string')).toBe('DE');
  });

  it('language fills in texts of that language', () => {
    const composition = composed({ 'ctx/language': 'es', 'ctx/setting': '225' });
    expect(at(composition, 'context', 'setting', 'value')).toBe('hogar');
  });

  it.each<[JsonObject, string]>([
    [{ 'ctx/language': 'Klingon' }, 'Unknown Value Klingon in terminology ISO_639-1'],
    [{ 'ctx/setting': 'space' }, 'Unknown Value space in terminology openehr'],
    [{ 'ctx/participation_mode': 'telepathy' }, 'Unknown Value telepathy in terminology openehr'],
    [{ 'ctx/action_ism_transition_current_state': 'x' }, 'Unknown Value x in terminology openehr'],
    [{ 'ctx/time': 'yesterday' }, 'the value of ctx/time must be an ISO 8601 date and time'],
    [{ 'ctx/composer_self': 'maybe' }, 'the value of ctx/composer_self must be true or false'],
    [{ 'ctx/location': 5 }, 'the value of ctx/location must be text'],
    [{ 'ctx/language': { code: 'en' } }, 'the value of ctx/language must be text, a number or a boolean'],
  ])('%j is refused', (context, message) => {
    expect(refusal({ ...BASE, ...context }, template)).toBe(message);
  });

  it('never replaces what the keys of the template say', () => {
    const keys = {
      [`${ROOT}/language|code`]: 'de',
      [`${ROOT}/territory|code`]: 'AT',
      [`${ROOT}/composer|name`]: 'Bob',
      [`${ROOT}/context/setting|code`]: '225',
      [`${ROOT}/context/start_time`]: '2020-01-01T10:00:00Z',
    };
    const composition = composed(
      { 'ctx/language': 'en', 'ctx/setting': '227', 'ctx/time': '2021-01-01T10:00:00Z' },
      keys,
    );
    expect(at(composition, 'language', 'code_string')).toBe('de');
    expect(at(composition, 'territory', 'code_string')).toBe('AT');
    expect(at(composition, 'composer', 'name')).toBe('Bob');
    expect(at(composition, 'context', 'setting', 'defining_code', 'code_string')).toBe('225');
    expect(at(composition, 'context', 'start_time', 'value')).toBe('2020-01-01T10:00:00Z');
    expect(at(entry(composition, 'ACTION'), 'time', 'value')).toBe('2021-01-01T10:00:00Z');
  });

  it('composer keys make a party with reference, or PARTY_SELF', () => {
    const ids = { 'ctx/composer_id': '7', 'ctx/id_scheme': 'S', 'ctx/id_namespace': 'N' };
    expect(composed(ids)['composer']).toEqual(identified('Ann', '7', 'S', 'N'));
    expect(composed({ 'ctx/composer_self': true }).composer).toEqual({ _type: 'PARTY_SELF' });
    const self = composed({ 'ctx/composer_self': 'true', ...ids }).composer as JsonObject;
    expect(self).toEqual({
      _type: 'PARTY_SELF',
      external_ref: identified('', '7', 'S', 'N').external_ref,
    });
  });

  it('id_scheme and id_namespace complete references given without', () => {
    const composition = composed(
      { 'ctx/id_scheme': 'S', 'ctx/id_namespace': 'N' },
      {
        [`${ROOT}/context/_health_care_facility|id`]: '1',
        [`${ROOT}/context/_health_care_facility|name`]: 'H',
      },
    );
    expect(at(composition, 'context', 'health_care_facility')).toEqual(identified('H', '1', 'S', 'N'));
  });

  it('time keys set context, actions and histories', () => {
    const composition = composed({
      'ctx/time': '2020-01-01T10:00:00Z',
      'ctx/end_time': 'now',
      'ctx/action_time': '2020-01-02T10:00:00Z',
    });
    expect(at(composition, 'context', 'start_time', 'value')).toBe('2020-01-01T10:00:00Z');
    expect(at(composition, 'context', 'end_time', 'value')).toBe(NOW_TEXT);
    expect(at(entry(composition, 'ACTION'), 'time', 'value')).toBe('2020-01-02T10:00:00Z');
    expect(at(entry(composition, 'OBSERVATION'), 'data', 'origin', 'value')).toBe('2020-01-01T10:00:00Z');
  });

  it('facility, location, setting go to the context', () => {
    const context = at(
      composed({
        'ctx/health_care_facility|name': 'H',
        'ctx/health_care_facility|id': '1',
        'ctx/location': 'bed 5',
        'ctx/setting': 'home',
      }),
      'context',
    );
    expect(context).toMatchObject({
      health_care_facility: identified('H', '1', null, null),
      location: 'bed 5',
      setting: coded('225', 'home'),
    });
  });

  it('instruction, activity, provider and work flow keys go to the entries', () => {
    const composition = composed({
      'ctx/instruction_narrative': 'do it',
      'ctx/activity_timing': 'R2',
      'ctx/provider_name': 'P',
      'ctx/provider_id': '3',
      'ctx/work_flow_id|id': '4',
      'ctx/work_flow_id|id_scheme': 'S',
      'ctx/work_flow_id|namespace': 'N',
      'ctx/work_flow_id|type': 'T',
    });
    expect(entry(composition, 'INSTRUCTION')).toMatchObject({
      narrative: { value: 'do it' },
      activities: [{ timing: { value: 'R2', formalism: 'timing' } }],
      provider: identified('P', '3', null, null),
      workflow_id: {
        _type: 'OBJECT_REF',
        id: { _type: 'GENERIC_ID', value: '4', scheme: 'S' },
        namespace: 'N',
        type: 'T',
      },
    });
  });

  it('links go to everything that has none', () => {
    const own = {
      [`${ROOT}/_link:0|meaning`]: 'own',
      [`${ROOT}/_link:0|type`]: 't',
      [`${ROOT}/_link:0|target`]: 'ehr://a',
    };
    const composition = composed(
      {
        'ctx/link|meaning': 'm',
        'ctx/link:0|type': 't',
        'ctx/link:0|target': 'ehr://x',
        'ctx/link:1|meaning': 'n',
      },
      own,
    );
    expect(at(composition, 'links', 0, 'meaning', 'value')).toBe('own');
    expect(entry(composition, 'ACTION').links).toEqual([
      {
        _type: 'LINK',
        meaning: { _type: 'DV_TEXT', value: 'm' },
        type: { _type: 'DV_TEXT', value: 't' },
        target: { _type: 'DV_EHR_URI', value: 'ehr://x' },
      },
      { _type: 'LINK', meaning: { _type: 'DV_TEXT', value: 'n' } },
    ]);
  });

  it('participations go to the context and the entries', () => {
    const composition = composed({
      'ctx/participation_name': 'A',
      'ctx/participation_function': 'requester',
      'ctx/participation_mode': 'face-to-face communication',
      'ctx/participation_id': '1',
      'ctx/participation_identifiers': 'issuer1::assigner1::id1::PERSON;issuer2::assigner2::id2::PERSON',
      'ctx/participation_name:1': 'B',
      'ctx/participation_function:1': 'performer',
      'ctx/participation_identifiers:1|id': 'id3',
      'ctx/participation_identifiers:1|issuer:0': 'issuer3',
      'ctx/participation_identifiers:1|id:1': 'id4',
    });
    const participations = at(composition, 'context', 'participations') as JsonObject[];
    expect(entry(composition, 'ACTION').other_participations).toEqual(participations);
    expect(participations).toEqual([
      {
        _type: 'PARTICIPATION',
        function: { _type: 'DV_TEXT', value: 'requester' },
        performer: {
          ...identified('A', '1', null, null),
          identifiers: [
            { _type: 'DV_IDENTIFIER', issuer: 'issuer1', assigner: 'assigner1', id: 'id1', type: 'PERSON' },
            { _type: 'DV_IDENTIFIER', issuer: 'issuer2', assigner: 'assigner2', id: 'id2', type: 'PERSON' },
          ],
        },
        mode: coded('216', 'face-to-face communication'),
      },
      {
        _type: 'PARTICIPATION',
        function: { _type: 'DV_TEXT', value: 'performer' },
        performer: {
          _type: 'PARTY_IDENTIFIED',
          name: 'B',
          identifiers: [
            { _type: 'DV_IDENTIFIER', id: 'id3', issuer: 'issuer3' },
            { _type: 'DV_IDENTIFIER', id: 'id4' },
          ],
        },
      },
    ]);
  });

  it('of the files of the collection makes valid compositions', () => {
    for (const name of ['minimal_observation.en.v1', 'Corona_Anamnese']) {
      const file = name === 'Corona_Anamnese' ? `${name}.ctx` : `${name}.ctx-input`;
      const composition = read(fixtureJson(`flat/${file}.json`), publicTemplate(name));
      expect(findings(composition, publicTemplate(name))).toEqual([]);
    }
  });
});
