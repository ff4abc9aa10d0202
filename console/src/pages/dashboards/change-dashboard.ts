import { CdrError } from '@everchart/client';
import type { Dashboard, OwnApi, Panel } from '../../api/own.js';

/** What somebody does to a dashboard, whatever it is by then. */
export type DashboardEdit = (dashboard: Dashboard) => Dashboard;

/** Saves a dashboard with a change; one that another tab changed meanwhile is read, and changed as it is now, once. @throws CdrError */
export async function changeDashboard(
  api: Pick<OwnApi, 'dashboards' | 'saveDashboard'>,
  dashboard: Dashboard,
  edit: DashboardEdit,
): Promise<void> {
  try {
    await api.saveDashboard(edit(dashboard));
  } catch (error) {
    if (!(error instanceof CdrError) || error.status !== 412) throw error;
    const latest = (await api.dashboards()).find((each) => each.dashboard_id === dashboard.dashboard_id);
    // Deleted elsewhere, it does not come back by what is done to it here.
    if (latest === undefined) throw error;
    await api.saveDashboard(edit(latest));
  }
}

/** With a panel at its end, and the values that its query was tried with. */
export function pinned(panel: Panel, values: Dashboard['parameters']): DashboardEdit {
  return (dashboard) => ({
    ...dashboard,
    panels: [...dashboard.panels, panel],
    parameters: { ...dashboard.parameters, ...values },
  });
}

/** Without a panel. */
export function unpinned(panel: Panel): DashboardEdit {
  return (dashboard) => {
    const at = placeOf(dashboard, panel);
    return { ...dashboard, panels: dashboard.panels.filter((_, index) => index !== at) };
  };
}

/** With a panel that was taken away where it was, or at the end of a shorter list. */
export function putBack(panel: Panel, index: number): DashboardEdit {
  return (dashboard) => ({ ...dashboard, panels: dashboard.panels.toSpliced(index, 0, panel) });
}

/** With a panel before the one that stood before it. */
export function earlier(panel: Panel): DashboardEdit {
  return (dashboard) => {
    const at = placeOf(dashboard, panel);
    if (at < 1) return dashboard;
    return { ...dashboard, panels: dashboard.panels.toSpliced(at, 1).toSpliced(at - 1, 0, panel) };
  };
}

function placeOf({ panels }: Dashboard, { title, q, show }: Panel): number {
  return panels.findIndex((each) => each.title === title && each.q === q && each.show === show);
}
