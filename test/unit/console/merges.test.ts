import { describe, expect, it } from '@jest/globals';
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
