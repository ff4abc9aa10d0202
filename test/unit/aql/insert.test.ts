import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { addColumn, addCondition, type Edit } from '../../../packages/aql/src/main.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { treeOf } from '../../support/aql/tree.js';
import { queryTrees } from '../../support/aql/trees.js';

const PATH = "x/data[at0001, 'from']/value";

interface Parts {
  readonly select: { readonly columns: readonly unknown[] };
  readonly where: unknown;
  readonly [other: string]: unknown;
}
const partsOf = (text: string): Parts => treeOf(parseAql(text)) as Parts;
const isQuery = (text: string): boolean => {
  try {
    parseAql(text);
    return true;
  } catch {
    return false;
  }
};
const CASES = aqlCases.map(({ aql }) => aql).filter(isQuery);

/** What a text means with `1` written where one goes on. */
function finished({ text, cursor }: Edit): Parts {
  return partsOf(`${text.slice(0, cursor)}1${text.slice(cursor)}`);
}

function expectColumnAdded(text: string): void {
  const before = partsOf(text);
  const after = partsOf(addColumn(text, PATH)?.text ?? '');
  const [added] = partsOf(`SELECT ${PATH} FROM EHR x`).select.columns;
  const columns = [...before.select.columns, added];
  expect([text, after]).toEqual([text, { ...before, select: { ...before.select, columns } }]);
}

function expectConditionAdded(text: string): void {
  const { where, ...before } = partsOf(text);
  const { where: now, ...after } = finished(addCondition(text, PATH) ?? { text: '', cursor: 0 });
  const { where: added } = partsOf(`SELECT x FROM EHR x WHERE ${PATH} = 1`);
  expect([text, after]).toEqual([text, before]);
  expect([text, conjunctsOf(now)]).toEqual([text, [...(where === null ? [] : conjunctsOf(where)), added]]);
}

function conjunctsOf(condition: unknown): readonly unknown[] {
  const { kind, operands = [] } = condition as {
    readonly kind: string;
    readonly operands?: readonly unknown[];
  };
  return kind === 'and' ? operands.flatMap(conjunctsOf) : [condition];
}

describe('a path that is picked', () => {
  it('is one column more, or one condition more, of each query of the test groups, and nothing else changes', () => {
    expect(CASES.length).toBeGreaterThan(200);
    for (const text of CASES) {
      expectColumnAdded(text);
      expectConditionAdded(text);
    }
  });

  it('is one column more, or one condition more, of any query', () => {
    fc.assert(
      fc.property(queryTrees, (tree) => {
        const text = renderAql(tree);
        expectColumnAdded(text);
        expectConditionAdded(text);
      }),
    );
  });

  it.each([
    ['SELECT ', 'SELECT x/a '],
    ['SELECT FROM EHR e', 'SELECT x/a FROM EHR e'],
    ['SELECT e,  FROM EHR e', 'SELECT e, x/a  FROM EHR e'],
    ['SELECT TOP 5 FORWARD FROM EHR e', 'SELECT TOP 5 FORWARD x/a FROM EHR e'],
    ['SELECT DISTINCT TOP 5\nFROM EHR e', 'SELECT DISTINCT TOP 5 x/a\nFROM EHR e'],
    ['SELECT e -- whose\nFROM EHR e', 'SELECT e, x/a -- whose\nFROM EHR e'],
    ["SELECT e/items['FROM x'], c/from FROM EHR e", "SELECT e/items['FROM x'], c/from, x/a FROM EHR e"],
  ])('is a column of what is written so far: %j', (text, expected) => {
    expect(addColumn(text, 'x/a')?.text).toBe(expected);
  });

  it.each([
    ['SELECT e FROM EHR e', 'SELECT e FROM EHR e\nWHERE x/a = |'],
    ['SELECT e FROM EHR e ORDER BY e LIMIT 1', 'SELECT e FROM EHR e\nWHERE x/a = | ORDER BY e LIMIT 1'],
    ['SELECT e FROM EHR e WHERE ', 'SELECT e FROM EHR e WHERE x/a = | '],
    ['SELECT e FROM EHR e WHERE a = 1 AND', 'SELECT e FROM EHR e WHERE a = 1 AND x/a = |'],
    ['SELECT e FROM EHR e WHERE a = 1 OR b = 2', 'SELECT e FROM EHR e WHERE (a = 1 OR b = 2)\n  AND x/a = |'],
    [
      'SELECT e FROM EHR e WHERE (a = 1 OR b = 2)',
      'SELECT e FROM EHR e WHERE (a = 1 OR b = 2)\n  AND x/a = |',
    ],
    ['SELECT e FROM EHR e[where = 1]', 'SELECT e FROM EHR e[where = 1]\nWHERE x/a = |'],
  ])('is a condition of what is written so far: %j', (text, expected) => {
    const edit = addCondition(text, 'x/a');
    expect(`${edit?.text.slice(0, edit.cursor) ?? ''}|${edit?.text.slice(edit.cursor) ?? ''}`).toBe(expected);
  });

  it('has no place in a text without SELECT, or without FROM', () => {
    expect(addColumn('FROM EHR e', 'x/a')).toBeNull();
    expect(addCondition('SELECT e', 'x/a')).toBeNull();
  });
});
