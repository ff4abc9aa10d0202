import { describe, expect, it } from '@jest/globals';
import { TIMES } from '../../../console/src/charts/times.js';
import { trendSeries } from '../../../console/src/pages/patient/trend-series.js';
import { PLAIN_READER } from '../../../console/src/record/values/plain-reader.js';

const COLORS = { ink: '#1', quiet: '#2', line: '#3', ground: '#4', accent: '#5', band: '#6' };
const trend = { name: 'Glucose', units: 'mg', points: [], normal: [70, 99] as const };
const series = (normal: unknown): object =>
  trendSeries({ trend: { ...trend, normal }, color: '#7' } as never, {
    axis: 0,
    reader: PLAIN_READER,
    colors: COLORS,
  });

describe('a line over time', () => {
  it('has the year at each mark of its axis', () => {
    for (const form of Object.values(TIMES)) expect(form).toContain('{yyyy}');
  });

  it('has the normal range as a band behind it, open where the range is, and none where none is known', () => {
    const area = (from: unknown, to: unknown) => ({
      markArea: { itemStyle: { color: '#6' }, data: [[{ yAxis: from }, { yAxis: to }]] },
    });
    expect(series([70, 99])).toMatchObject(area(70, 99));
    expect(series([null, 99])).toMatchObject(area('min', 99));
    expect(series([70, null])).toMatchObject(area(70, 'max'));
    expect(series(null)).not.toHaveProperty('markArea');
  });
});
