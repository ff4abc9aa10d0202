import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { aqlCases, GROUPS_ELSEWHERE } from '../../support/aql/cases/cases.js';
import { featureCases } from '../../support/aql/cases/feature-cases.js';

const page = readFileSync(new URL('../../../docs/aql.md', import.meta.url), 'utf8');

/** Cells of each row of the feature table, without the marks of code. */
function tableRows(): string[][] {
  const [, table = ''] = /\n\| Feature \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(page) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll('`', '')
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('the feature table of docs/aql.md', () => {
  const rows = tableRows();

  it('claims nothing but what tests of the same name prove, and all of that', () => {
    const proven = [...new Set(featureCases.map(({ group }) => group))];
    expect(rows.map(([feature]) => feature)).toEqual(proven);
  });

  it('has a mark in our column of every row', () => {
    expect(rows.filter(([, , , ours = '']) => !ours.startsWith('✔'))).toEqual([]);
  });
});

describe('the test groups of AQL', () => {
  it('are all there, from 1 to 86', () => {
    const here = aqlCases.flatMap(({ group }) => (typeof group === 'number' ? [group] : []));
    const all = [...new Set([...here, ...Object.keys(GROUPS_ELSEWHERE).map(Number)])];
    expect(all.sort((a, b) => a - b)).toEqual(Array.from({ length: 86 }, (_, index) => index + 1));
  });

  it.each(Object.entries(GROUPS_ELSEWHERE))('of which %s is in %s', (group, file) => {
    const source = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(source).toContain(`describe('AQL test group ${group}: `);
  });
});
