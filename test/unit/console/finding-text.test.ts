import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { de } from '../../../console/src/messages/de.js';
import { english as en } from '../../../console/src/messages/english.js';
import { findingText } from '../../../console/src/messages/finding-text.js';
import { translator } from '../../../console/src/messages/translate.js';
import { ago } from '../../../console/src/widgets/time-text.js';

/** What the server may find, as it says so itself. */
const CODES = [
  ...readFileSync(new URL('../../../openehr/base/violation.ts', import.meta.url), 'utf8').matchAll(
    /^ {2}\| '([a-z-]+)'/gm,
  ),
].map(([, code]) => code!);
const GERMAN = { language: 'de', t: translator(de, 'de') };

describe('a finding of the server', () => {
  it('has words in each language, whatever its code is', () => {
    expect(CODES.length).toBeGreaterThan(20);
    expect(CODES.filter((code) => !Object.hasOwn(en, `finding.${code}`))).toEqual([]);
    for (const code of CODES)
      expect(findingText({ path: '/', message: 'in English', code }, GERMAN)).not.toContain('English');
  });

  it('says what may stand there, and what does', () => {
    const range = { path: '/', message: 'must be 0 … < 1000', code: 'value-not-allowed' };
    const expected = [{ lower: 0, upper: 1000 }];
    expect(findingText({ ...range, expected, found: 5000 }, GERMAN)).toBe(
      'hat einen Wert, den das Template nicht zulässt; erwartet: 0 bis 1000; gefunden: 5000',
    );
    expect(findingText({ ...range, expected: ['mg', 'kg'] }, GERMAN)).toContain('erwartet: mg, kg');
    expect(findingText({ ...range, code: 'of tomorrow' }, GERMAN)).toBe('must be 0 … < 1000');
    expect(findingText(range, { language: 'en', t: translator(en, 'en') })).toBe('must be 0 … < 1000');
  });
});

describe('how long ago something was', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');

  it.each([
    ['2022-02-10T12:00:00Z', '4 yr ago'],
    ['2026-11-26T13:00:00Z', '23 hr ago'],
    ['2026-11-25T11:00:00Z', '2 days ago'],
    ['2026-11-27T11:59:01Z', '59 sec ago'],
    ['soon', ''],
  ])('%s is %s: never more than it is', (text, said) => {
    expect(ago(text, 'en-GB', now).replace('yrs', 'yr')).toBe(said);
  });
});
