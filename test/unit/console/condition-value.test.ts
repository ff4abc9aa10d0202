import { describe, expect, it } from '@jest/globals';
import { readValue, settled, shownValue } from '../../../console/src/pages/query/builder/condition-value.js';

describe('a value of a condition', () => {
  it.each([
    ['140', '140'],
    ['-1.5', '-1.5'],
    ['true', 'true'],
    ['$limit', '$limit'],
    ['Anna', "'Anna'"],
    ["O'Hara", String.raw`'O\'Hara'`],
    ["'140'", "'140'"],
    ['at0004', "'at0004'"],
    ['2026-01-01', "'2026-01-01'"],
    ['', "''"],
    ['12 mg', "'12 mg'"],
  ])('%s is %s', (typed, aql) => {
    expect(readValue(typed, '=')).toBe(aql);
  });

  it('of a set may lack its braces, and is refused where it is none', () => {
    expect(readValue("'a', 'b'", 'MATCHES')).toBe("{'a', 'b'}");
    expect(readValue('{1, 2}', 'MATCHES')).toBe('{1, 2}');
    expect(readValue('a b', 'MATCHES')).toBeNull();
    // What is asked only to be there can be asked to be one of several next.
    const there = { text: 'c/x', operator: 'EXISTS', value: '' } as const;
    expect(settled(there, '', 'MATCHES')).toEqual({ text: 'c/x', operator: 'MATCHES', value: "{''}" });
  });

  it('is the same after it was shown and typed again', () => {
    for (const aql of [
      "'Anna'",
      "'140'",
      '140',
      'true',
      "'true'",
      '$x',
      String.raw`'O\'Hara'`,
      "'a/b'",
      "'$x'",
    ])
      expect([aql, readValue(shownValue(aql), '=')]).toEqual([aql, aql]);
  });

  it('changes a condition only where it is another one', () => {
    const condition = { text: 'c/x', operator: '=', value: "'Anna'" } as const;
    expect(settled(condition, 'Anna', '=')).toBeNull();
    expect(settled(condition, ' Anna', '=')).toBeNull();
    expect(settled(condition, 'Bo', '=')).toEqual({ ...condition, value: "'Bo'" });
    expect(settled(condition, 'Anna', '!=')).toEqual({ ...condition, operator: '!=' });
    expect(settled(condition, 'Anna', 'EXISTS')).toEqual({ ...condition, operator: 'EXISTS', value: '' });
    // What it cannot be read back from stays as it is.
    const quoted = { ...condition, operator: 'MATCHES', value: '{ 1,2 }' } as const;
    expect(settled(quoted, '{ 1,2 }', 'MATCHES')).toBeNull();
    expect(settled(quoted, 'a b', 'MATCHES')).toBeNull();
  });
});
