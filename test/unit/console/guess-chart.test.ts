import { describe, expect, it } from '@jest/globals';
import { chartColumns } from '../../../console/src/pages/query/result/chart-columns.js';
import { guessChart, seriesOf } from '../../../console/src/pages/query/result/guess-chart.js';
import type { Json, ResultSet } from '../../../console/src/api/types.js';
import { timeExamples } from '../../../console/src/form/time-form.js';

/** What tells whose a row is. */
const PATHS: Readonly<Record<string, string>> = {
  ehr: 'e/ehr_id/value',
  // As a server says it that has looked up the EHR_STATUS.
  who: 's/subject/external_ref/id/value',
};
const result = (names: readonly string[], rows: readonly (readonly Json[])[]): ResultSet => ({
  columns: names.map((name) => ({ name, path: PATHS[name] ?? '' })),
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

  const rows = [
    [day(1), 1],
    [day(2), 2],
    [day(3), 3],
  ];
  const over = (name: string, value: (index: number) => Json) =>
    guessChart(
      result(
        [name, 'time', 'value'],
        rows.map((row, index) => [value(index), ...row]),
      ),
    )!;

  it('is points where nobody is named: no line goes through different people, whatever their times', () => {
    expect(guessChart(result(['time', 'value'], rows))?.kind).toBe('scatter');
    // What a document is called says not whose it is.
    const named = over('document', (index) => `document ${index % 2}`);
    expect([named.kind, named.by?.name]).toEqual(['scatter', 'document']);
  });

  it.each([
    ["SELECT o FROM EHR e[ehr_id/value='8d1d'] CONTAINS OBSERVATION o", 'lines'],
    ['SELECT o FROM EHR [ehr_id/value = $ehr] CONTAINS OBSERVATION o', 'lines'],
    [
      "SELECT o FROM EHR e CONTAINS OBSERVATION o WHERE e/ehr_id/value = 'a' OR e/ehr_id/value = 'b'",
      'scatter',
    ],
    ['SELECT o FROM EHR e CONTAINS OBSERVATION o', 'scatter'],
  ])('is a line of a query of one EHR: %s: %s', (q, kind) => {
    expect(guessChart({ ...result(['time', 'value'], rows), q })?.kind).toBe(kind);
  });

  it('is a line where all rows are of one patient, and split by whose they are rather than by another name', () => {
    expect(over('who', () => 'P-1').kind).toBe('lines');
    const guess = guessChart(
      result(
        ['document', 'who', 'time', 'value'],
        rows.map((row, index) => ['Encounter', `P-${index % 2}`, ...row]),
      ),
    )!;
    expect([guess.kind, guess.by?.name]).toEqual(['lines', 'who']);
  });

  it('is bars of names, steps of numbers alone, points of two numbers, and nothing of texts', () => {
    expect(guessChart(result(['name', 'count'], [['a', 1]]))?.kind).toBe('bars');
    expect(guessChart(result(['value'], [[1], [2]]))?.kind).toBe('histogram');
    expect(guessChart(result(['a', 'b'], [[1, 2]]))?.kind).toBe('scatter');
    expect(guessChart(result(['name'], [['a']]))).toBeNull();
  });
});

describe('what stands where', () => {
  const quantity = (magnitude: number, units: string): Json => ({ _type: 'DV_QUANTITY', magnitude, units });
  const time = (value: string): Json => ({ _type: 'DV_DATE_TIME', value });

  it('is drawn of data values as of their numbers and times', () => {
    const rows = [
      [time('2026-11-02T08:00:00Z'), quantity(2, 'mm')],
      [time('20261101T080000Z'), quantity(1, 'mm')],
      [time('2026-11-03'), null],
    ];
    const answer = result(['at', 'size'], rows);
    const guess = guessChart(answer)!;
    expect([guess.kind, guess.x?.name, guess.y.name, guess.by]).toEqual(['scatter', 'at', 'size', null]);
    expect(seriesOf(answer, guess)).toEqual([
      {
        name: 'size',
        data: [
          [Date.parse('2026-11-01T08:00:00Z'), 1],
          [Date.parse('2026-11-02T08:00:00Z'), 2],
        ],
      },
    ]);
    const proportion = result(['part'], [[{ numerator: 1, denominator: 4, type: 0 }]]);
    expect(seriesOf(proportion, guessChart(proportion)!)[0]?.data[0]).toEqual(['0.25', 1]);
  });

  it('is a series for each unit: numbers of several units are none', () => {
    const answer = result(
      ['ehr', 'at', 'size'],
      [
        ['a', day(1), quantity(1, 'mm')],
        ['a', day(2), quantity(2, 'cm')],
        ['b', day(3), quantity(3, 'mm')],
      ],
    );
    const guess = guessChart(answer)!;
    // Not lines: each would go through the patients who are measured in that unit.
    expect([guess.kind, guess.by?.name]).toEqual(['scatter', 'size unit']);
    expect(seriesOf(answer, guess).map(({ name, data }) => [name, data.length])).toEqual([
      ['mm', 2],
      ['cm', 1],
    ]);
  });

  it.each([
    ['mean', 2],
    ['sum', 4],
    ['least', 1],
    ['most', 3],
    ['count', 2],
  ] as const)('gives one bar for the rows of one name: %s', (aggregate, expected) => {
    const answer = result(
      ['name', 'value'],
      [
        ['b', 5],
        ['a', 1],
        ['a', 3],
      ],
    );
    const guess = { ...guessChart(answer)!, aggregate };
    expect(seriesOf(answer, guess)[0]?.data.find(([name]) => name === 'a')).toEqual(['a', expected]);
    expect(seriesOf(answer, guess)[0]?.data.map(([name]) => name)).toEqual(['a', 'b']);
  });

  it('is any split: points and bars have a series for each value too', () => {
    const rows = Array.from({ length: 30 }, (_, n) => [`ehr${n % 15}`, n, 30 - n]);
    const answer = result(['ehr', 'a', 'b'], rows);
    const [by] = chartColumns(answer);
    const guess = { ...guessChart(answer)!, by: by ?? null };
    expect(guess.kind).toBe('scatter');
    expect(seriesOf(answer, guess)).toHaveLength(15);
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
