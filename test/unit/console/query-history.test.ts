import { describe, expect, it } from '@jest/globals';
import { oneLine, withRun, type PastQuery } from '../../../console/src/pages/query/query-history.js';

describe('the history of queries', () => {
  it('has the newest first, each once, and forgets the oldest', () => {
    let history: readonly PastQuery[] = [];
    for (let at = 0; at < 40; at += 1) history = withRun(history, `SELECT ${at}`, at);
    history = withRun(history, 'SELECT 20', 99);
    expect(history.slice(0, 2)).toEqual([
      { q: 'SELECT 20', at: 99 },
      { q: 'SELECT 39', at: 39 },
    ]);
    expect([history.length, new Set(history.map(({ q }) => q)).size]).toEqual([30, 30]);
  });

  it('shows a query in one line of bounded length', () => {
    expect(oneLine('SELECT e\n  FROM EHR e ')).toBe('SELECT e FROM EHR e');
    expect(oneLine('x'.repeat(1_000_000))).toHaveLength(81);
  });
});
