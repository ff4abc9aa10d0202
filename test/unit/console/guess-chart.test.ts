import { describe, expect, it } from '@jest/globals';
import { guessChart, seriesOf } from '../../../console/src/pages/query/result/guess-chart.js';
import type { Json, ResultSet } from '../../../console/src/api/types.js';
import { timeExamples } from '../../../console/src/form/time-form.js';

const result = (names: readonly string[], rows: readonly (readonly Json[])[]): ResultSet => ({
  columns: names.map((name) => ({ name, path: '' })),
  rows: rows.map((row) => [...row]),
});
const day = (number: number): string => `2026-11-${String(number).padStart(2, '0')}`;

describe('the chart that columns suggest', () => {
  it('is a line for each of a few patients', () => {
    const few = result(
      ['ehr', 'time', 'value'],
      [1, 2, 3, 4].map((n) => [`ehr${n % 2}`, day(5 - n), n]),
    );
    const guess = guessChart(few)!;
    expect([guess.kind, guess.by?.name]).toEqual(['lines', 'ehr']);
    expect(seriesOf(few, guess)).toEqual([
      {
        name: 'ehr1',
        data: [
          [Date.parse(day(2)), 3],
          [Date.parse(day(4)), 1],
        ],
      },
      {
        name: 'ehr0',
        data: [
          [Date.parse(day(1)), 4],
          [Date.parse(day(3)), 2],
        ],
      },
    ]);
  });

  it('is points over time, and no line through different people, where there are many', () => {
    const many = result(
      ['ehr', 'time', 'value'],
      Array.from({ length: 20 }, (_, n) => [`ehr${n}`, day(n + 1), n]),
    );
    const guess = guessChart(many)!;
    expect([guess.kind, guess.x?.name, guess.by]).toEqual(['scatter', 'time', null]);
    expect(seriesOf(many, guess)[0]?.data[0]).toEqual([Date.parse(day(1)), 0]);
  });

  it('is points where nobody is named and a time stands more than once', () => {
    const rows = [
      [day(1), 1],
      [day(1), 2],
      [day(2), 3],
    ];
    expect(guessChart(result(['time', 'value'], rows))?.kind).toBe('scatter');
    expect(guessChart(result(['time', 'value'], rows.slice(1)))?.kind).toBe('lines');
  });

  it('is bars of names, steps of numbers alone, points of two numbers, and nothing of texts', () => {
    expect(guessChart(result(['name', 'count'], [['a', 1]]))?.kind).toBe('bars');
    expect(guessChart(result(['value'], [[1], [2]]))?.kind).toBe('histogram');
    expect(guessChart(result(['a', 'b'], [[1, 2]]))?.kind).toBe('scatter');
    expect(guessChart(result(['name'], [['a']]))).toBeNull();
  });
});

describe('examples of a date or time', () => {
  it.each([
    ['date', undefined, ['2026', '2026-11', '2026-11-23']],
    ['date', 'yyyy-??-XX', ['2026', '2026-11']],
    ['date', 'yyyy-mm-dd', ['2026-11-23']],
    ['time', 'HH:MM:XX', ['14:30']],
    ['datetime', 'yyyy-mm-ddTHH:MM:??', ['2026-11-23T14:30', '2026-11-23T14:30:00']],
  ] as const)('%s %s: with the fewest parts first', (input, pattern, examples) => {
    expect(timeExamples(input, pattern)).toEqual(examples);
  });
});
