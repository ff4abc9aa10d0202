import { describe, expect, it } from '@jest/globals';
import { trendsOf } from '../../../console/src/pages/patient/patient-data.js';

describe('the trends of a record', () => {
  it('keep what is of an interval apart from values of moments, and ask for nothing that drafts say', async () => {
    const value = { _type: 'DV_QUANTITY', magnitude: 60, units: '/min' };
    const row = { uid: 'a', time: '2026-03-01T08:00:00Z', node: 'at0004', name: 'Rate', value };
    const asked: string[] = [];
    const rows = <Row>(q: string): Promise<Row[]> => {
      asked.push(q);
      return Promise.resolve([row, row, { ...row, math: 'maximum', width: 'PT24H' }] as Row[]);
    };
    const trends = await trendsOf({ rows }, 'ehr');
    expect(trends.map(({ name, points }) => [name, points.length])).toEqual([
      ['Rate', 2],
      ['Rate · maximum · 24 h', 1],
    ]);
    expect(asked[0]).toContain("lifecycle_state/defining_code/code_string != '553'");
  });

  const mg = (magnitude: number, more: object = {}) => ({
    _type: 'DV_QUANTITY',
    magnitude,
    units: 'mg',
    ...more,
  });
  const trendsWith = (...values: readonly object[]) =>
    trendsOf(
      {
        rows: <Row>() =>
          Promise.resolve(
            values.map((value, index) => ({
              uid: 'a',
              time: `2026-03-0${index + 1}T08:00:00Z`,
              node: 'at0004',
              name: 'Glucose',
              value,
            })) as Row[],
          ),
      },
      'ehr',
    );

  it('have a line for each unit', async () => {
    const trends = await trendsWith(mg(1), mg(2), { ...mg(3), units: 'g' });
    expect(trends.map(({ units, points }) => [units, points.map(({ value }) => value)])).toEqual([
      ['mg', [1, 2]],
      ['g', [3]],
    ]);
  });

  it('have the band that the newest value calls normal, and none that would call wrong values so', async () => {
    const g = { ...mg(1), units: 'g' };
    for (const [normal_range, normal] of [
      [{ lower: mg(70), upper: mg(99) }, [70, 99]],
      [{ upper: mg(99), lower_unbounded: true }, [null, 99]],
      [{ lower: g, upper: g }, null],
      [{ lower: mg(70), upper: g }, null],
      [{ lower_unbounded: true, upper_unbounded: true }, null],
      [undefined, null],
    ] as const) {
      const [trend] = await trendsWith(mg(80, { normal_range: { lower: mg(1) } }), mg(81, { normal_range }));
      expect([normal_range, trend?.normal]).toEqual([normal_range, normal]);
    }
  });
});
