import type { Findings, Violation } from './verify-report.js';

/** How often something that is written to all the time is looked at anew. */
export const LOOKS = 20;

/** What one look found. */
export interface Look {
  readonly found: Findings;
  /** Whether nothing was written meanwhile. */
  readonly isStill: boolean;
}

/**
 * Looks until nothing was written meanwhile, or until it is known what every look finds wrong: something that was only
 * half written during one look is whole in the next. Gives what the last look counted.
 */
export async function foundByEveryLook(look: () => Promise<Look>): Promise<Findings> {
  let { found, isStill } = await look();
  for (let looks = 1; !isStill && found.violations.length > 0 && looks < LOOKS; looks += 1) {
    const before = found.violations.map(keyOf);
    ({ found, isStill } = await look());
    if (isStill) break;
    const known = new Set(before);
    found.keepOnly((one) => known.has(keyOf(one)));
    if (found.violations.length === before.length) break;
  }
  return found;
}

const keyOf = ({ kind, id, message }: Violation): string => JSON.stringify([kind, id, message]);
