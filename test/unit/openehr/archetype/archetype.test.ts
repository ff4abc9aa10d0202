import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseArchetype } from '../../../../openehr/archetype/archetype.js';
import { parseOdin } from '../../../../openehr/archetype/odin.js';
import { CdrError } from '../../../../openehr/base/errors.js';
import { within, Work } from '../../../../openehr/base/work.js';
import { processorMs } from '../../../support/process/processor-time.js';
import { testSettings } from '../../../support/settings.js';

const SOURCE = readFileSync('routes/http/openapi/data/pulse_of_house.adl', 'utf8');
const refusal = (source: string): string => {
  try {
    parseArchetype(source);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') return error.message;
    throw error;
  }
  throw new Error('it was read');
};

it('knows id, languages, concept and terms of an archetype', () => {
  expect(parseArchetype(SOURCE)).toEqual({
    archetypeId: 'openEHR-EHR-OBSERVATION.pulse_of_house.v1',
    originalLanguage: 'en',
    languages: ['en', 'de'],
    concept: 'at0000',
    terms: {
      en: [
        { code: 'at0000', text: 'Pulse', description: 'The "beat" of\na heart.' },
        { code: 'at0001', text: 'History', description: '*' },
      ],
      de: [{ code: 'at0000', text: 'Puls', description: 'Der Schlag eines Herzens.' }],
    },
  });
});

it('reads lines of any system, a byte order mark, and terms without items', () => {
  const read = parseArchetype(SOURCE);
  expect(parseArchetype(`\uFEFF${SOURCE.replaceAll('\n', '\r\n')}`).terms.de).toEqual(read.terms.de);
  const older = SOURCE.replaceAll(/items = <([\s\S]*?>\s*>)\s*>/g, '$1');
  expect(older).not.toContain('items');
  expect(parseArchetype(older)).toEqual(read);
});

it.each([
  ['', 'it has no section archetype'],
  [SOURCE.replace('openEHR-EHR-OBSERVATION.pulse_of_house.v1', 'pulse'), 'its id is no ARCHETYPE_ID'],
  [SOURCE.replace('[at0000]', 'at0000'), 'its concept is no [at-code]'],
  [SOURCE.replace('[ISO_639-1::en]', 'en'), 'it has no original_language'],
  [SOURCE.replace('[ISO_639-1::en]', '[ISO_639-1::constructor]'), 'has no term in constructor'],
  [SOURCE.replace('concept\n', 'concept\n[at0000]\nconcept\n'), 'the section concept stands twice'],
  [SOURCE.replace(/definition\n[\s\S]*?\nontology/, 'definition\n\nontology'), 'its definition is empty'],
  [
    SOURCE.replace('pulse_of_house.v1', `${'p'.repeat(250)}.v1`),
    'its id is no ARCHETYPE_ID of at most 255 characters',
  ],
  [SOURCE.replaceAll('"de"', `"${'d'.repeat(21)}"`), 'longer than 20 characters'],
  [
    SOURCE.replace(
      'translations = <',
      `translations = <${Array.from({ length: 200 }, (_, index) => `["l${index}"] = <"">`).join('')}`,
    ),
    'more than 200 languages',
  ],
  [SOURCE.replace('<"Puls">', '<"Puls"'), 'no > (line 57'],
  [SOURCE.replace('<"Puls">', `${'<a = '.repeat(60)}<"x">${'>'.repeat(60)}`), 'more than 50 blocks'],
])('refuses what it cannot read, with the place: %#', (source, message) => {
  expect(refusal(source)).toContain(message);
});

it('reads a line of a text as that, whatever it begins with', () => {
  const text = 'Ein Puls\ndescription\n-- "gut"\nontology of it';
  const source = SOURCE.replace('Der Schlag eines Herzens.', text.replaceAll('"', '\\"'));
  expect(parseArchetype(source).terms.de).toMatchObject([{ description: text }]);
  const commented = SOURCE.replace('\ndefinition\n', '\n-- 5" wide\ndefinition\n-- 5" wide\n');
  expect(commented).not.toBe(SOURCE);
  expect(parseArchetype(commented)).toEqual(parseArchetype(SOURCE));
});

describe('a text that is made to be slow', () => {
  const timeOf = (text: string): number => processorMs(() => parseOdin(text, 1));
  const stepsOf = (text: string): number => {
    const work = new Work({ ...testSettings().work, steps: Infinity, timeMs: Infinity }, () => 0);
    within(work, () => parseOdin(text, 1));
    return work.used.steps;
  };

  it.each(['a=<[>', 'a=<["x>', 'a=<[b >', 'a=<[ >', 'a=<b,"c">', 'a=<--c\n>'])(
    'costs what others of its length do: %j',
    (part) => {
      const text = part.repeat(20_000);
      const harmless = 'a=<bcd>'.repeat(Math.ceil(text.length / 7));
      expect(timeOf(text)).toBeLessThan(100 + 20 * timeOf(harmless));
    },
  );

  it('is counted, twice as long twice as much, long texts by their length', () => {
    for (const part of ['a=<[>', 'a=<b,"c">', 'a=<--c\n>']) {
      const steps = stepsOf(part.repeat(1_000));
      expect(steps).toBeGreaterThan(1_000);
      expect(stepsOf(part.repeat(2_000)) / steps).toBeCloseTo(2, 1);
    }
    expect(stepsOf(`a=<"${'\\"b'.repeat(1_000_000)}">`)).toBeGreaterThan(40_000);
  });
});
