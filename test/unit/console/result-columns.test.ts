import { describe, expect, it } from '@jest/globals';
import type { Json, ResultSet } from '../../../console/src/api/types.js';
import {
  columnsOf,
  ehrColumn,
  MOST_PX,
  targetOf,
} from '../../../console/src/pages/query/result/result-columns.js';

const EHR = '7d44b88c-4199-4bad-97dc-d78268e01398';
const UID = '8849182c-82ad-4088-a07f-48ead4180515::local.cdr::1';
const result = (paths: Readonly<Record<string, string>>, rows: readonly (readonly Json[])[]): ResultSet => ({
  columns: Object.entries(paths).map(([name, path]) => ({ name, path })),
  rows,
});

describe('the columns of an answer', () => {
  it('are as wide as their values: an id is not cut, a long text is', () => {
    const columns = columnsOf(
      result({ n: '', id: '', text: '' }, [
        [1, UID, 'word '.repeat(100)],
        [22, EHR, null],
      ]),
    );
    const [number, id, text] = columns.map(({ width }) => width);
    expect(number).toBeLessThan(90);
    expect(id).toBeGreaterThan(UID.length * 7);
    expect(text).toBe(MOST_PX);
  });
});

describe('a cell', () => {
  const row = [EHR, UID, EHR, 'x'];
  const columns = columnsOf(
    result(
      {
        ehr: 'e/ehr_id/value',
        uid: 'c/uid/value',
        other: 'o/items[at0001]/value/value',
        name: 'c/name/value',
      },
      [row],
    ),
  );
  const ehr = ehrColumn(columns);
  const targets = columns.map((column) => targetOf(row, column, ehr));

  it('leads to the EHR or the COMPOSITION that it is the id of, and nowhere else', () => {
    expect(targets).toEqual([{ ehrId: EHR }, { ehrId: EHR, uid: UID }, null, null]);
  });

  it('leads to no COMPOSITION where the answer does not say of which EHR it is', () => {
    expect(columns.slice(1).map((column) => targetOf(row, column, undefined))).toEqual([null, null, null]);
    const [, uid] = columns;
    expect(uid && targetOf([null, UID], uid, ehr)).toBeNull();
    expect(uid && targetOf([EHR, 'not a uid'], uid, ehr)).toBeNull();
  });
});
