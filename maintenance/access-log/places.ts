import type { RecordedSpan } from '../../models/cross-collection/access-records.js';
import { undoneMergesAmong } from '../../models/merge/history.js';
import { mergesInto, mergesOfSources } from '../../models/merge/record.js';

/** Where records about one person stand. */
export interface Places {
  /** The EHR, and those whose merges into it stand, through others too: all their records are of this person. */
  readonly own: readonly string[];
  /** EHRs that one of these was merged into by mistake, while it was. */
  readonly visited: readonly RecordedSpan[];
}

/** Merges by mistake of mistakes that are followed. */
const MOST_STEPS = 50;

/** A while in which one EHR was in another. */
interface Stay {
  readonly ehrId: string;
  readonly from: Date;
  /** null: it is there still. */
  readonly to: Date | null;
}

/** Where records about the person of an EHR that stands stand. docs/access-log.md#the-patients-report */
export async function placesOf(ehrId: string): Promise<Places> {
  const own = [ehrId];
  for (let sources = [ehrId]; sources.length > 0;) {
    const merges = await mergesInto(sources);
    sources = merges.map(({ source_ehr: source }) => source).filter((source) => !own.includes(source));
    own.push(...sources);
  }
  const visited = await staysOf(own);
  return {
    own,
    visited: visited
      .filter((stay) => !own.includes(stay.ehrId))
      .map((stay) => ({ ehrIds: [stay.ehrId], from: stay.from, to: stay.to })),
  };
}

/** Where these EHRs were by merges that were taken back, and where those took them on to meanwhile. */
async function staysOf(own: readonly string[]): Promise<Stay[]> {
  const stays: Stay[] = [];
  for (const merge of await undoneMergesAmong(own, {}))
    if (own.includes(merge.source_ehr))
      stays.push({ ehrId: merge.target_ehr, from: merge.merge_date, to: merge.undone.date });
  // What is found is looked at too: the list grows behind the place that is read.
  for (let at = 0; at < stays.length && at < MOST_STEPS; at += 1) {
    const stay = stays[at];
    if (stay !== undefined) stays.push(...(await takenOn(stay)));
  }
  return stays;
}

/** Where the EHR of a stay was taken itself while it lasted. */
async function takenOn(stay: Stay): Promise<Stay[]> {
  const undone = (await undoneMergesAmong([stay.ehrId], {})).filter(
    ({ source_ehr: source }) => source === stay.ehrId,
  );
  const all: readonly Stay[] = [
    ...undone.map((merge) => ({ ehrId: merge.target_ehr, from: merge.merge_date, to: merge.undone.date })),
    ...(await mergesOfSources([stay.ehrId])).map((merge) => ({
      ehrId: merge.target_ehr,
      from: merge.merge_date,
      to: null,
    })),
  ];
  return all.flatMap((each) => overlap(stay, each) ?? []);
}

/** The second, as far as it lies in the time of the first. */
function overlap(outer: Stay, inner: Stay): Stay | null {
  const from = outer.from > inner.from ? outer.from : inner.from;
  const ends = [outer.to, inner.to]
    .flatMap((end) => end ?? [])
    .sort((one, other) => Number(one) - Number(other));
  const to = ends[0] ?? null;
  return to !== null && to <= from ? null : { ehrId: inner.ehrId, from, to };
}
