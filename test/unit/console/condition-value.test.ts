import { describe, expect, it } from '@jest/globals';
import { readValue, shownValue } from '../../../console/src/pages/query/builder/condition-value.js';

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
});
