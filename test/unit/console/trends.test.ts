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
});
