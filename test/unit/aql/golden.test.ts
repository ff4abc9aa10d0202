import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GOLDEN, goldenFiles } from '../../support/aql/golden/files.js';

const files = goldenFiles();

/** What differs on purpose is written by `npm run golden`. */
describe('golden files', () => {
  it.each([...files])('%s', (name, text) => {
    expect(entriesOf(text)).toEqual(entriesOf(readFileSync(`${GOLDEN}/${name}`, 'utf8')));
  });

  it('are no more than these', () => {
    const found = readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' });
    expect(found.filter((name) => name.endsWith('.txt')).sort()).toEqual([...files.keys()].sort());
  });
});

/** Case by case, so that a difference names its case. */
function entriesOf(text: string): Readonly<Record<string, string>> {
  const entries = text
    .split(/^(?=## )/m)
    .map((entry, index) => [`${index}: ${entry.slice(0, entry.indexOf('\n'))}`, entry] as const);
  return Object.fromEntries(entries);
}
