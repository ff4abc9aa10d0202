import { describe, expect, it } from '@jest/globals';
import { CdrError } from '../../../packages/client/src/main.js';
import type { Dashboard, Panel } from '../../../console/src/api/own.js';
import {
  changeDashboard,
  earlier,
  pinned,
  putBack,
  unpinned,
} from '../../../console/src/pages/dashboards/change-dashboard.js';

const panel = (title: string): Panel => ({ title, q: 'SELECT e FROM EHR e', show: 'table' });
const [a, b, c] = [panel('a'), panel('b'), panel('c')] as const;
const START: Dashboard = { dashboard_id: 'one', name: 'Ward', panels: [a, b], parameters: {}, saved_at: '0' };

/** A server that keeps one dashboard, of which each save has a time of its own. */
function server(stored: Dashboard | null) {
  const kept = { stored, saves: 0 };
  return {
    kept,
    dashboards: () => Promise.resolve(kept.stored === null ? [] : [kept.stored]),
    saveDashboard: (next: Dashboard) => {
      if (next.saved_at !== undefined && next.saved_at !== kept.stored?.saved_at)
        return Promise.reject(
          new CdrError('changed meanwhile', { status: 412, code: 'precondition-failed' }),
        );
      kept.saves += 1;
      kept.stored = { ...next, saved_at: String(kept.saves) };
      return Promise.resolve();
    },
  };
}

describe('a change of a dashboard', () => {
  it('made in two tabs keeps what both did', async () => {
    const api = server(START);
    await changeDashboard(api, START, pinned(c, { x: '1' }));
    // The other tab still has what it read first.
    await changeDashboard(api, START, unpinned(a));
    await changeDashboard(api, START, earlier(c));
    expect(api.kept.stored).toMatchObject({ panels: [c, b], parameters: { x: '1' } });
    await changeDashboard(api, START, putBack(a, 0));
    expect(api.kept.stored?.panels).toEqual([a, c, b]);
    await changeDashboard(api, START, earlier(a));
    expect(api.kept.stored?.panels).toEqual([a, c, b]);
  });

  it('brings none back that was deleted', async () => {
    const api = server(null);
    await expect(changeDashboard(api, START, unpinned(a))).rejects.toMatchObject({ status: 412 });
    expect(api.kept.saves).toBe(0);
  });
});
