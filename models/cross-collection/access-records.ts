import { COLLECTIONS } from '../access/layout.js';
import { documents } from '../access/documents.js';
import type { AuditDoc } from '../audit.js';

/** EHRs, and when what was recorded of them counts; null: since ever, until now. */
export interface RecordedSpan {
  readonly ehrIds: readonly string[];
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Which records are asked for. */
interface RecordsWanted {
  readonly from: Date | null;
  readonly to: Date | null;
  /** Id of a record: only those before it; null: from the newest on. */
  readonly before: string | null;
  readonly count: number;
}

/** What of a record names an EHR: of older records of merges `target` the other one. */
const NAMING = ['ehr_id', 'ehr_ids', 'target'] as const;

/** Records of requests that succeeded and that name one of these EHRs in its time, newest first. */
export function successesAbout(spans: readonly RecordedSpan[], wanted: RecordsWanted): Promise<AuditDoc[]> {
  const { from, to, before, count } = wanted;
  const named = spans.flatMap((span) =>
    NAMING.map((field) => ({ [field]: { $in: [...span.ehrIds] }, ...timeBetween(span.from, span.to) })),
  );
  return documents<AuditDoc>(COLLECTIONS.audit)
    .find<AuditDoc>({
      $and: [
        { $or: named },
        { status: { $lt: 400 }, pending: { $exists: false }, ...timeBetween(from, to) },
        ...(before === null ? [] : [{ _id: { $lt: before } }]),
      ],
    })
    .sort({ _id: -1 })
    .limit(count)
    .toArray();
}

function timeBetween(from: Date | null, to: Date | null): object {
  if (from === null && to === null) return {};
  return { time: { ...(from !== null && { $gte: from }), ...(to !== null && { $lte: to }) } };
}
