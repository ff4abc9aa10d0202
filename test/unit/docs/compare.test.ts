import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const page = readFileSync('docs/compare.md', 'utf8');
const [, table = ''] = page.split('## Row by row');
/** What people expect, what everchart has, how to check it, others. */
const rows = table
  .split('\n')
  .filter((line) => /^\| (?!People expect)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

describe('the comparison with others', () => {
  it('has a row for each of what people expect', () => {
    expect(rows.length).toBeGreaterThanOrEqual(34);
    expect(new Set(rows.map(([, expected]) => expected)).size).toBe(rows.length);
  });

  it.each(rows.map(([, expected = '', answer = '', check = '']) => [expected, answer, check]))(
    '%s: what is claimed can be checked',
    (_, answer, check) => {
      expect(answer).not.toBe('');
      // What there is not, nobody can look at.
      if (!/^no\b/.test(answer)) expect(check).not.toBe('');
      for (const [, path = ''] of check.matchAll(/`((?:\.github|deploy|packages|test)\/[^`]*)`/g))
        expect([path, existsSync(path)]).toEqual([path, true]);
      for (const [, name = ''] of check.matchAll(/`npm run ([\w:]+)`/g)) expect(scripts).toHaveProperty([name]);
    },
  );

  it('says when it was written, and names no product without a place to look', () => {
    expect(page).toMatch(/State of \d{1,2} \w+ 20\d\d/);
    const products = [...page.matchAll(/\b(EHRbase|Medplum|HAPI|Hasura|FerroEHR)\b/g)].map(([name]) => name);
    const [known = ''] = page.split('## Row by row');
    for (const name of new Set(products)) expect(known).toContain(name);
  });
});
