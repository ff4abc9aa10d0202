import { collection, date, text, type DocumentOf } from './access/collection.js';
import { COLLECTIONS } from './access/layout.js';

const DASHBOARD = {
  /** Owner and id, from `dashboardKey`: nobody reaches what is another's. */
  _id: text,
  /** UUID that the client chose. */
  dashboard_id: text,
  /** As of `draftOwner`. */
  owner: text,
  name: text,
  /** Queries and values of their parameters, as JSON. */
  content: text,
  saved_at: date,
};

/** Queries that a user wants to see together. Fields: docs/spec/storage.md#other-collections. */
export type DashboardDoc = DocumentOf<typeof DASHBOARD>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.dashboards]: DashboardDoc;
  }
}

const Dashboard = collection(COLLECTIONS.dashboards, DASHBOARD);

/** `_id` of a dashboard. */
export function dashboardKey(owner: string, dashboardId: string): string {
  return JSON.stringify([owner, dashboardId]);
}

/** The dashboards of an owner by their names, at most `count`. */
export function dashboardsOf(owner: string, count: number): Promise<DashboardDoc[]> {
  return Dashboard.find({ owner }).sort({ name: 1, _id: 1 }).limit(count).exec();
}

/** Stores a dashboard in place of the one with its key. Joins the caller's transaction. */
export async function putDashboard({ _id, ...fields }: DashboardDoc): Promise<void> {
  await Dashboard.replaceOne({ _id }, fields, { upsert: true }).exec();
}

/** Removes a dashboard; whether there was one. Joins the caller's transaction. */
export async function removeDashboard(key: string): Promise<boolean> {
  return (await Dashboard.deleteOne({ _id: key }).exec()).deletedCount > 0;
}
