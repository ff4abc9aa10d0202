import { describe, expect, it } from '@jest/globals';
import { NULL_FLAVOURS, OPENEHR_TERMS, termText } from '../../../console/src/form/openehr-terms.js';

describe('terms of openEHR', () => {
  it('are said in German, each otherwise than another of its group', () => {
    for (const group of [...Object.values(OPENEHR_TERMS), NULL_FLAVOURS]) {
      const texts = Object.entries(group).map(([code, rubric]) => termText(code, rubric, 'de'));
      expect(texts.filter((text, index) => Object.values(group)[index] === text && !/^M/.test(text))).toEqual(
        [],
      );
      expect(new Set(texts).size).toBe(texts.length);
    }
    expect(termText('238', 'other care', 'de')).toBe('andere Versorgung');
    expect(termText('238', 'other care', 'en')).toBe('other care');
    expect(termText('999', 'new', 'de')).toBe('new');
  });
});
