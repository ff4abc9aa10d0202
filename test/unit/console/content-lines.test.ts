import { describe, expect, it } from '@jest/globals';
import { contentLines } from '../../../console/src/pages/patient/content-lines.js';
import { de } from '../../../console/src/messages/de.js';
import { translator } from '../../../console/src/messages/translate.js';
import { PLAIN_READER } from '../../../console/src/record/values/plain-reader.js';

const GERMAN = { language: 'de', zone: 'UTC', t: translator(de, 'de') };

const trend = (
  node: string,
  name: string,
  units: string,
  points: readonly (readonly [uid: string, value: number, symbol?: string | undefined, more?: object])[],
) => ({
  key: `openEHR-EHR-OBSERVATION.bp.v1|${node}|${name}|${units}`,
  name,
  entry: 'Blood pressure',
  units,
  normal: null,
  points: points.map(([uid, value, symbol, more]) => ({
    time: '2026-01-01T00:00:00Z',
    value,
    dv: { _type: 'DV_QUANTITY', magnitude: value, units, ...more },
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
      GERMAN,
    );
    expect(lines.get('a')).toBe('137/79 mmHg · Position sitting');
    expect(lines.get('b')).toBe('Systolic 140,5 mmHg');
    expect(lines.get('c')).toBeUndefined();
  });

  it('keeps what a value is not exactly, and that it is not normal', () => {
    const status = (code_string: string) => ({ normal_status: { code_string } });
    const lines = contentLines(
      [
        trend('at1', 'Troponin', 'ng/L', [['a', 5, undefined, { magnitude_status: '<', ...status('N') }]]),
        trend('at2', 'Glucose', 'mg', [['a', 178.1, undefined, { precision: 2, ...status('HH') }]]),
        trend('at3', 'Trace', 'g', [['a', 0.0004]]),
      ],
      PLAIN_READER,
    );
    expect(lines.get('a')).toBe('Troponin <5 ng/l · Glucose 178.10 HH mg · Trace 0.0004 g');
  });

  it('has room for three', () => {
    const many = ['at1', 'at2', 'at3', 'at4'].map((node, index) =>
      trend(node, node, `u${index}`, [['a', index]]),
    );
    expect(contentLines(many, PLAIN_READER).get('a')).toBe('at1 0 u0 · at2 1 u1 · at3 2 u2 …');
  });
});
