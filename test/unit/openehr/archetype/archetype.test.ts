import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseArchetype } from '../../../../openehr/archetype/archetype.js';
import { CdrError } from '../../../../openehr/base/errors.js';

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
  [SOURCE.replace('<"Puls">', '<"Puls"'), 'no > (line 57'],
  [SOURCE.replace('<"Puls">', `${'<a = '.repeat(60)}<"x">${'>'.repeat(60)}`), 'more than 50 blocks'],
])('refuses what it cannot read, with the place: %#', (source, message) => {
  expect(refusal(source)).toContain(message);
});
