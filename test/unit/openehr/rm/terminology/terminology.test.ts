import { describe, expect, it } from '@jest/globals';
import {
  codeOf,
  codeSetCodes,
  codeSetHas,
  groupCodes,
  groupHas,
  rubric,
  groupOfAttribute,
  valueSetOf,
  INSTRUCTION_TRANSITIONS,
} from '../../../../../openehr/rm/terminology/openehr.js';

describe('the openEHR terminology', () => {
  it('keys rubrics by group: 532 has two', () => {
    expect(rubric('version lifecycle state', '532', 'en')).toBe('complete');
    expect(rubric('instruction states', '532', 'en')).toBe('completed');
  });

  it.each([
    ['composition category', 3],
    ['setting', 14],
    ['participation mode', 32],
    ['subject relationship', 36],
    ['property', 76],
    ['instruction transitions', 20],
  ] as const)('has all codes of %s', (group, count) => {
    expect(groupCodes(group).size).toBe(count);
  });

  it('translates, falling back to English for other languages and for what is not translated', () => {
    expect(rubric('composition category', '433', 'es')).toBe('evento');
    expect(rubric('composition category', '433', 'es-AR')).toBe('evento');
    expect(rubric('composition category', '433', 'de')).toBe('event');
    expect(rubric('composition category', '451', 'ja')).toBe('episodic');
    expect(rubric('composition category', '999', 'en')).toBeNull();
  });

  it('finds codes by code and by rubric of any language and letter case', () => {
    expect(codeOf('composition category', '433')).toBe('433');
    expect(codeOf('composition category', 'Event')).toBe('433');
    expect(codeOf('composition category', 'evento')).toBe('433');
    expect(codeOf('version lifecycle state', 'complete')).toBe('532');
    expect(codeOf('version lifecycle state', 'completed')).toBeNull();
    expect(codeOf('composition category', 'constructor')).toBeNull();
  });

  it('knows the code sets', () => {
    expect(codeSetHas('ISO_639-1', 'de')).toBe(true);
    expect(codeSetHas('ISO_639-1', 'en-US')).toBe(true);
    expect(codeSetHas('ISO_639-1', 'xx')).toBe(false);
    expect(codeSetHas('ISO_3166-1', 'DE')).toBe(true);
    expect(codeSetHas('ISO_3166-1', 'de')).toBe(false);
    expect(codeSetHas('IANA_character-sets', 'utf-8')).toBe(true);
    expect(codeSetHas('IANA_media-types', 'text/html')).toBe(true);
    expect(codeSetCodes('ISO_639-1').size).toBe(253);
    expect(codeSetCodes('ISO_3166-1').size).toBe(250);
  });

  it('knows where RM attributes take their codes from', () => {
    expect(valueSetOf('category')).toEqual({
      kind: 'group',
      name: 'composition category',
      terminologyId: 'openehr',
    });
    expect(valueSetOf('territory')?.name).toBe('ISO_3166-1');
    expect(valueSetOf('defining_code')).toBeNull();
    expect(valueSetOf('constructor')).toBeNull();
    expect(groupOfAttribute('setting')).toBe('setting');
    expect(groupOfAttribute('language')).toBeNull();
  });

  it('joins states of the instruction state machine by every transition of the group', () => {
    expect([...INSTRUCTION_TRANSITIONS.keys()].sort()).toEqual(
      [...groupCodes('instruction transitions').keys()].sort(),
    );
    for (const { from, to } of INSTRUCTION_TRANSITIONS.values())
      for (const state of [...from, to]) expect(groupHas('instruction states', state)).toBe(true);
    expect(INSTRUCTION_TRANSITIONS.get('548')).toEqual({ from: ['245'], to: '532' });
  });
});
