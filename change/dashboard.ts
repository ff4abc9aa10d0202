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

/** Saves a dashboard, in place of what it was. `content`: JSON. @throws conflict when the owner has as many as he can have */
export async function saveDashboard(
  { owner, dashboardId }: DashboardAddress,
  { name, content }: Pick<DashboardDoc, 'name' | 'content'>,
): Promise<DashboardDoc> {
  const _id = dashboardKey(owner, dashboardId);
  const dashboard = { _id, dashboard_id: dashboardId, owner, name, content, saved_at: new Date() };
  await inAuditedTransaction(
    async () => {
      await holdOwnList('dashboards', owner);
      const known = await dashboardsOf(owner, MOST);
      if (known.length === MOST && known.every((each) => each._id !== _id))
        throw new CdrError('conflict', `you have ${MOST} dashboards: delete one of them first`);
      await putDashboard(dashboard);
    },
    () => ({ objects: [dashboardId] }),
  );
  return dashboard;
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
