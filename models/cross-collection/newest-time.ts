import { documents } from '../access/documents.js';

/** Clocks of several servers may differ by that much, ms. */
const TOLERATED_MS = 60_000;

/**
 * The newest time of what is recorded, where the clock of this process is far behind it: what is asked as of now does not find the
 * newest versions then. null: it is not. Looks at the audit, whose times are indexed, and at the CONTRIBUTION that was
 * written last, for an import without a server leaves no record.
 */
export async function timeAheadOfClock(): Promise<Date | null> {
  const [[audited], [written]] = await Promise.all([
    documents<{ _id: string; time: Date }>('audit').find({}).sort({ time: -1 }).limit(1).toArray(),
    documents<{ _id: string; time_committed: Date }>('contributions')
      .find({})
      .sort({ $natural: -1 })
      .limit(1)
      .toArray(),
  ]);
  const newest = Math.max(audited?.time.getTime() ?? 0, written?.time_committed.getTime() ?? 0);
  return newest - Date.now() > TOLERATED_MS ? new Date(newest) : null;
}
