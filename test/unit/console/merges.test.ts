import { describe, expect, it } from '@jest/globals';
import { outcomeParts } from '../../../console/src/pages/administration/merge/outcome.js';
import { mergeGraph } from '../../../console/src/pages/administration/merge/merge-graph.js';

const arrow = (source: string, target: string) => ({ source_ehr: source, target_ehr: target });

describe('merges as a graph', () => {
  it('stand to the left of the EHR in which all ends, a chain in one row', () => {
    const graph = mergeGraph([arrow('a', 'b'), arrow('b', 'c'), arrow('d', 'c')]);
    expect([graph.columns, graph.rows]).toEqual([3, 2]);
    expect(graph.nodes).toEqual([
      { ehrId: 'c', column: 2, row: 0, target: null },
      { ehrId: 'b', column: 1, row: 0, target: 'c' },
      { ehrId: 'a', column: 0, row: 0, target: 'b' },
      { ehrId: 'd', column: 1, row: 1, target: 'c' },
    ]);
  });

  it('give every EHR a place of its own, however many and however long the chain', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => arrow(`e${index}`, `e${index + 1}`));
    const star = Array.from({ length: 500 }, (_, index) => arrow(`s${index}`, 't'));
    const { nodes, columns, rows } = mergeGraph([...chain, ...star]);
    expect(new Set(nodes.map(({ column, row }) => `${column} ${row}`)).size).toBe(nodes.length);
    expect([nodes.length, columns, rows]).toEqual([20_502, 20_001, 501]);
  });

  it('are nothing where nothing was merged', () => {
    expect(mergeGraph([])).toEqual({ nodes: [], columns: 0, rows: 0 });
  });
});

describe('what a merge did, from its summary', () => {
  it('is counted, without what is none', () => {
    const summary =
      '12 compositions moved, 0 joined, 1 folder copied, 15 contributions moved, 0 item tags moved';
    expect(outcomeParts(summary)).toEqual({
      isPlan: false,
      counted: [
        { key: 'outcome.moved', count: 12 },
        { key: 'outcome.folderCopied', count: 1 },
        { key: 'outcome.contributions', count: 15 },
      ],
      rest: '',
    });
  });

  it.each(['DRY RUN: ', 'PENDING: '])('is no more than a plan after %s', (prefix) => {
    const { isPlan, counted } = outcomeParts(`${prefix}3 compositions moved back, 2 separated`);
    expect(isPlan).toBe(true);
    expect(counted.map(({ count }) => count)).toEqual([3, 2]);
  });

  it('keeps what it does not know as the server says it, whatever a name there looks like', () => {
    const rest = 'not joined: a, 3 joined (both stay), constructor, 5 constructor';
    expect(outcomeParts(`1 joined, ${rest}`)).toMatchObject({ counted: [{ count: 1 }], rest });
    expect(outcomeParts('9 constructor')).toMatchObject({ counted: [], rest: '9 constructor' });
    expect(outcomeParts('')).toEqual({ isPlan: false, counted: [], rest: '' });
  });
});
