import { model, Schema } from 'mongoose';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './access/schema.js';

/** Queries that a user wants to see together. Fields: docs/spec/storage.md#other-collections. */
export interface DashboardDoc {
  /** Owner and id, from `dashboardKey`: nobody reaches what is another's. */
  readonly _id: string;
  /** UUID that the client chose. */
  readonly dashboard_id: string;
  /** As of `draftOwner`. */
  readonly owner: string;
  readonly name: string;
  /** Queries and values of their parameters, as JSON. */
  readonly content: string;
  readonly saved_at: Date;
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.dashboards]: DashboardDoc;
  }
}

const Dashboard = model(
  'Dashboard',
  new Schema<DashboardDoc>(
    { _id: String, dashboard_id: String, owner: String, name: String, content: String, saved_at: Date },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.dashboards,
);

/** `_id` of a dashboard. */
export function dashboardKey(owner: string, dashboardId: string): string {
  return JSON.stringify([owner, dashboardId]);
}

/** The dashboards of an owner by their names, at most `count`. */
export function dashboardsOf(owner: string, count: number): Promise<DashboardDoc[]> {
  return Dashboard.find({ owner }).sort({ name: 1, _id: 1 }).limit(count).lean<DashboardDoc[]>().exec();
}

/** Stores a dashboard in place of the one with its key. Joins the caller's transaction. */
export async function putDashboard({ _id, ...fields }: DashboardDoc): Promise<void> {
  await Dashboard.replaceOne({ _id }, fields, { upsert: true }).exec();
}

/** Removes a dashboard; whether there was one. Joins the caller's transaction. */
export async function removeDashboard(key: string): Promise<boolean> {
  return (await Dashboard.deleteOne({ _id: key }).exec()).deletedCount > 0;
}
