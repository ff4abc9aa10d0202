import { describe, expect, it } from '@jest/globals';
import { conceptParts, conceptTextParts } from '../../../console/src/form/concept-parts.js';
import { withValues } from '../../../console/src/form/values.js';

const at = (parts: Readonly<Record<string, string | number | boolean | undefined>>) =>
  Object.fromEntries(
    Object.entries(parts).map(([suffix, value]) => [suffix === '' ? 'a' : `a|${suffix}`, value]),
  );
const FEVER = { code: '386661006', display: 'Fever', system: 'http://snomed.info/sct' };

describe('a coded text of a value set', () => {
  it('has text, code and terminology of the concept that was chosen', () => {
    const values = withValues({ a: 'old', 'b|value': 'x' }, at(conceptParts(FEVER)));
    expect(values).toEqual({
      'b|value': 'x',
      'a|value': 'Fever',
      'a|code': '386661006',
      'a|terminology': 'http://snomed.info/sct',
    });
  });

  it('keeps no terminology of the one before, and is called by its code where it has no name', () => {
    const values = withValues(
      withValues({}, at(conceptParts(FEVER))),
      at(conceptParts({ code: 'c1', display: '', system: '' })),
    );
    expect(values).toEqual({ 'a|value': 'c1', 'a|code': 'c1' });
  });

  it('has no code any more when its text is another one', () => {
    const values = withValues(withValues({}, at(conceptParts(FEVER))), at(conceptTextParts('Fever, sudden')));
    expect(values).toEqual({ 'a|value': 'Fever, sudden' });
  });
});
