import { hiddenSince, type HiddenRecord } from '../../models/audit.js';

/** Records that are counted; of more the newest. */
export const COUNTED_HIDDEN = 100_000;
/** People and operations that are listed. */
export const LISTED_HIDDEN = 1_000;

/** Who asked how often by which operation for what policies hide, or would. */
interface HiddenCount extends Omit<HiddenRecord, 'time' | 'policies'> {
  readonly count: number;
  readonly last: Date;
  /** Ids of those that decided. */
  readonly policies: readonly string[];
}

/** What policies hid since a time, or would have, the most frequent first. docs/access.md#observed */
export async function hiddenCounts(
  from: Date,
): Promise<{ readonly isComplete: boolean; readonly counts: readonly HiddenCount[] }> {
  const counts = new Map<string, HiddenCount>();
  let looked = 0;
  for await (const record of hiddenSince(from, COUNTED_HIDDEN + 1)) {
    looked += 1;
    if (looked > COUNTED_HIDDEN) break;
    const { time, policies = [], ...who } = withoutId(record);
    const key = JSON.stringify(who);
    const known = counts.get(key) ?? { ...who, count: 0, last: time, policies: [] };
    const by = [...new Set([...known.policies, ...policies])].sort();
    counts.set(key, { ...known, count: known.count + 1, policies: by });
  }
  const all = [...counts.values()].sort((one, other) => other.count - one.count);
  return {
    isComplete: looked <= COUNTED_HIDDEN && all.length <= LISTED_HIDDEN,
    counts: all.slice(0, LISTED_HIDDEN),
  };
}

/** In one order, so that equal ones have one key. */
function withoutId(record: HiddenRecord): HiddenRecord {
  const { user, sub, issuer, organisation, purpose, operation, time, policies } = record;
  return {
    user,
    ...(sub !== undefined && { sub }),
    ...(issuer !== undefined && { issuer }),
    ...(organisation !== undefined && { organisation }),
    ...(purpose !== undefined && { purpose }),
    operation,
    time,
    ...(policies !== undefined && { policies }),
  };
}
