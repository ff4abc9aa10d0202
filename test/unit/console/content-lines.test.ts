import { describe, expect, it } from '@jest/globals';
import { contentLines } from '../../../console/src/pages/patient/content-lines.js';

const trend = (
  node: string,
  name: string,
  units: string,
  points: readonly (readonly [string, number, string?])[],
) => ({
  key: `openEHR-EHR-OBSERVATION.bp.v1|${node}|${name}|${units}`,
  name,
  entry: 'Blood pressure',
  units,
  normal: null,
  points: points.map(([uid, value, symbol]) => ({
    time: '2026-01-01T00:00:00Z',
    value,
    uid,
    ...(symbol !== undefined && { symbol }),
  })),
});

describe('what a document says, in one line', () => {
  it('is a pair where two values have one unit, with names where they stand alone, the newest of several', () => {
    const lines = contentLines(
      [
        trend('at0005', 'Diastolic', 'mm[Hg]', [['a', 79]]),
        trend('at0004', 'Systolic', 'mm[Hg]', [
          ['a', 120],
          ['a', 137],
          ['b', 140.5],
        ]),
        trend('at0006', 'Position', '', [['a', 1, 'sitting']]),
      ],
      'de',
    );
    expect(lines.get('a')).toBe('137/79 mmHg · Position sitting');
    expect(lines.get('b')).toBe('Systolic 140,5 mmHg');
    expect(lines.get('c')).toBeUndefined();
  });

  it('has room for three', () => {
    const many = ['at1', 'at2', 'at3', 'at4'].map((node, index) =>
      trend(node, node, `u${index}`, [['a', index]]),
    );
    expect(contentLines(many, 'en').get('a')).toBe('at1 0 u0 · at2 1 u1 · at3 2 u2 …');
  });
});
