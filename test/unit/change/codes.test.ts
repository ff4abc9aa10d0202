import { describe, expect, it } from '@jest/globals';
import { changeTypeOf, changeTypeTerm, lifecycleStateOf } from '../../../change/commit/codes.js';

describe('audit change types and lifecycle states', () => {
  it('are known by code, by rubric in any case, or by both', () => {
    expect(changeTypeOf({ code: '249' })).toBe('249');
    expect(changeTypeOf({ rubric: 'Creation' })).toBe('249');
    expect(changeTypeOf({ code: '523', rubric: 'DELETED' })).toBe('523');
    expect(lifecycleStateOf({ rubric: 'incomplete' })).toBe('553');
  });

  it.each([{ code: '999' }, { rubric: 'nonsense' }, { code: '249', rubric: 'deleted' }, {}])(
    'refuse %j',
    (term) => {
      expect(() => changeTypeOf(term)).toThrow();
    },
  );

  it('do not fall for names of Object.prototype', () => {
    expect(() => changeTypeOf({ code: 'constructor' })).toThrow();
  });

  it('become DV_CODED_TEXT of the terminology openehr', () => {
    expect(changeTypeTerm('666')).toEqual({
      _type: 'DV_CODED_TEXT',
      value: 'attestation',
      defining_code: {
        _type: 'CODE_PHRASE',
        terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
        code_string: '666',
        preferred_term: 'attestation',
      },
    });
  });
});
