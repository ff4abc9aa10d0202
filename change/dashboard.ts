import { CdrError } from '../openehr/base/errors.js';
import {
  dashboardKey,
  dashboardsOf,
  putDashboard,
  removeDashboard,
  type DashboardDoc,
} from '../models/dashboard.js';
import { holdOwnList } from '../models/own-list.js';
import { inAuditedTransaction } from './commit/audit-draft.js';

/** Dashboards that one owner can have. */
const MOST = 50;

/** Which dashboard of whom. */
export interface DashboardAddress {
  readonly owner: string;
  readonly dashboardId: string;
}

/** The dashboards of an owner, by their names. */
export function listDashboards(owner: string): Promise<DashboardDoc[]> {
  return dashboardsOf(owner, MOST);
}

/**
 * Saves a dashboard, in place of what it was. `content`: JSON. `follows`: `saved_at` of what is changed; null: whatever it is.
 * @throws conflict when the owner has as many as he can have; precondition-failed when it was saved or deleted meanwhile
 */
export function saveDashboard(
  { owner, dashboardId }: DashboardAddress,
  { name, content }: Pick<DashboardDoc, 'name' | 'content'>,
  follows: string | null,
): Promise<DashboardDoc> {
  const _id = dashboardKey(owner, dashboardId);
  return inAuditedTransaction(
    async () => {
      await holdOwnList('dashboards', owner);
      const known = await dashboardsOf(owner, MOST);
      const before = known.find((each) => each._id === _id);
      if (follows !== null && before?.saved_at.toISOString() !== follows)
        throw new CdrError('precondition-failed', `dashboard ${dashboardId} was changed meanwhile`);
      if (before === undefined && known.length === MOST)
        throw new CdrError('conflict', `you have ${MOST} dashboards: delete one of them first`);
      // Two of one millisecond are told apart by it too.
      const savedAt = new Date(Math.max(Date.now(), (before?.saved_at.getTime() ?? 0) + 1));
      const dashboard = { _id, dashboard_id: dashboardId, owner, name, content, saved_at: savedAt };
      await putDashboard(dashboard);
      return dashboard;
    },
    () => ({ objects: [dashboardId] }),
  );
}

/** Removes a dashboard. @throws not-found when the owner has none with this id */
export async function deleteDashboard({ owner, dashboardId }: DashboardAddress): Promise<void> {
  await inAuditedTransaction(
    async () => {
      if (!(await removeDashboard(dashboardKey(owner, dashboardId))))
        throw new CdrError('not-found', `you have no dashboard ${dashboardId}`);
    },
    () => ({ objects: [dashboardId] }),
  );
}
