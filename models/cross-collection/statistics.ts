import { COLLECTIONS } from '../access/layout.js';
import { documents } from '../access/documents.js';

/** What is counted, and listed on demand. SM: I_ADMIN_SERVICE. */
export const COUNTED_KINDS = ['contributions', 'versioned_compositions', 'versions'] as const;

/** A kind of thing that is counted: CONTRIBUTIONs, VERSIONED_COMPOSITIONs, VERSIONs of COMPOSITIONs. */
type CountedKind = (typeof COUNTED_KINDS)[number];

/** What is counted: whatever came to be from `from` to `to`, both included, in an EHR or in all. */
export interface Span {
  readonly from: Date | null;
  readonly to: Date | null;
  readonly ehrId: string | null;
}

/** One of what is counted. */
interface CountedRecord {
  readonly uid: string;
  readonly ehr_id: string;
  readonly time: Date;
}

const SOURCES = {
  contributions: { collection: COLLECTIONS.contributions, time: 'time_committed', only: {} },
  versioned_compositions: {
    collection: COLLECTIONS.versionedObjects,
    time: 'time_created',
    only: { type: 'COMPOSITION' },
  },
  versions: { collection: COLLECTIONS.versions, time: 'time_committed', only: { type: 'COMPOSITION' } },
} as const;

/** How many there are of a kind. */
export function countWithin(kind: CountedKind, span: Span): Promise<number> {
  return documents(SOURCES[kind].collection).countDocuments(filterOf(kind, span));
}

/** Those of a kind, oldest first and of one moment by id. */
export async function listWithin(
  kind: CountedKind,
  span: Span,
  page: { readonly offset: number; readonly fetch: number },
): Promise<CountedRecord[]> {
  const { collection, time } = SOURCES[kind];
  const found = await documents(collection)
    .find(filterOf(kind, span), { projection: { ehr_id: 1, [time]: 1 } })
    .sort({ [time]: 1, _id: 1 })
    .skip(page.offset)
    .limit(page.fetch)
    .toArray();
  return found.map((doc) => ({ uid: doc._id, ehr_id: String(doc.ehr_id), time: doc[time] as Date }));
}

function filterOf(kind: CountedKind, { from, to, ehrId }: Span): Record<string, unknown> {
  const { time, only } = SOURCES[kind];
  const within = { ...(from !== null && { $gte: from }), ...(to !== null && { $lte: to }) };
  return {
    ...only,
    ...(ehrId !== null && { ehr_id: ehrId }),
    ...((from !== null || to !== null) && { [time]: within }),
  };
}
