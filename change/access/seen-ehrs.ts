import type { ListedEhr } from '../../models/ehr-identity.js';
import { ehrObject } from '../../policy/attributes.js';
import { asksBeside, FALSE, holds, withoutBeside, type Condition } from '../../policy/condition.js';
import type { KnownFacts } from './known-facts.js';

/** An id that nothing has. */
const NOTHING = '00000000-0000-0000-0000-000000000000';

/** The EHRs that are there for somebody, as lists find them: by what documents say first, by their tags and marks then. */
export interface SeenEhrs {
  /** What all of them fit. */
  readonly candidates: Condition;
  /** Of some that fit it, those that are there for him, in their order. */
  readonly among: (found: readonly ListedEhr[]) => Promise<readonly ListedEhr[]>;
}

/**
 * The EHRs that fit a condition. `isNamed`: EHRs are named by their tags and marks, as far as these are not too many, so that they are found among a
 * million; else each that is found is looked at, of which there should be few.
 */
export async function seenEhrs(facts: KnownFacts, ehr: Condition, isNamed: boolean): Promise<SeenEhrs> {
  const permitted = { ehr, version: FALSE };
  const asked = isNamed ? (await facts.narrowed(permitted, null, { byMerges: false })).ehr : ehr;
  const candidates = withoutBeside(asked);
  if (!asksBeside(asked)) return { candidates, among: (found) => Promise.resolve(found) };
  return {
    candidates,
    among: async (found) => {
      const ehrIds = found.map(({ _id: ehrId }) => ehrId);
      // Where there is nothing it is looked for all the same: time is not to tell which it was.
      const seen = (await facts.narrowed(permitted, ehrIds.length === 0 ? [NOTHING] : ehrIds)).ehr;
      return found.filter(({ _id: ehrId, subject }) =>
        holds(seen, ehrObject({ ehrId, namespace: subject?.namespace, tags: {} })),
      );
    },
  };
}
