import { describe, expect, it } from '@jest/globals';
import { csvOf } from '../../../console/src/pages/query/result/result-columns.js';

const csv = (names: readonly string[], rows: Parameters<typeof csvOf>[0]['rows']): string[] =>
  csvOf({ columns: names.map((name) => ({ name })), rows }).split('\r\n');

describe('the CSV of an answer', () => {
  const weight = (magnitude: number, units: string) => ({ _type: 'DV_QUANTITY', magnitude, units });

  it('has the unit of each quantity in a column of its own', () => {
    const rows = [
      ['a', weight(72.5, 'kg')],
      ['b', null],
      ['c', weight(160, '[lb_av]')],
    ];
    expect(csv(['patient', 'weight'], rows)).toEqual([
      'patient,weight,weight unit',
      'a,72.5,kg',
      'b,,',
      'c,160,[lb_av]',
      '',
    ]);
  });

  it('loses nothing of a quantity that says more than a number and a unit', () => {
    const [head, first] = csv(['weight'], [[{ ...weight(72.5, 'kg'), magnitude_status: '~' }]]);
    expect(head).toBe('weight');
    expect(first).toContain('""magnitude_status"":""~""');
  });

  it('quotes what holds a comma, and disarms what looks like a formula, but no negative number', () => {
    expect(
      csv(
        ['n', 't'],
        [
          [-1, '=1+1'],
          [2, 'a,"b"'],
        ],
      ),
    ).toEqual(['n,t', "-1,'=1+1", '2,"a,""b"""', '']);
  });

  it.each(['x;=1+1', 'x\t=1+1', 'x|=1+1'])(
    'begins no cell whatever a sheet separates cells by: %j',
    (text) => {
      expect(csv(['t'], [[text]])).toEqual(['t', `"${text}"`, '']);
    },
  );
});
