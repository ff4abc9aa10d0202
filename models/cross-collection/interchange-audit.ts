import type { ClientSession } from 'mongoose';
import { documents } from '../access/documents.js';
import { COLLECTIONS } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';
import type { AuditDoc } from '../audit.js';

/** Which records of the audit are exported. */
interface AuditScope {
  /** Only records about these EHRs; null: all. */
  readonly ehrIds: readonly string[] | null;
  /** Only records from then on; null: whenever. */
  readonly since: Date | null;
}

/** Records of the audit, oldest first, without what this database says of them, as they are read. */
export async function* exportedAudit(session: ClientSession, scope: AuditScope): AsyncGenerator<AuditDoc> {
  const { ehrIds, since } = scope;
  const among = { $in: [...(ehrIds ?? [])] };
  const found = documentsIn<AuditDoc>(session, COLLECTIONS.audit)
    .find<AuditDoc>(
      {
        ...(ehrIds !== null && { $or: [{ ehr_id: among }, { ehr_ids: among }, { target: among }] }),
        ...(since !== null && { time: { $gte: since } }),
      },
      { session, projection: OWN_MARKS_OF_AUDIT },
    )
    .sort({ _id: 1 });
  for await (const record of found) yield record;
}

const OWN_MARKS_OF_AUDIT = { unsealed: 0, pending: 0, restored: 0, notes: 0 };

/** Records of the audit with these ids that are there, by id, as they travel. */
export async function storedAudit(ids: readonly string[]): Promise<Map<string, AuditDoc>> {
  const found = await documents<AuditDoc>(COLLECTIONS.audit)
    .find<AuditDoc>({ _id: { $in: [...ids] } }, { projection: OWN_MARKS_OF_AUDIT })
    .toArray();
  return new Map(found.map((record) => [record._id, record]));
}

/** Stores records of the audit of another system, marked with the import that brought them. */
export async function insertRestoredAudit(
  session: ClientSession,
  batch: string,
  records: readonly AuditDoc[],
): Promise<void> {
  const marked = records.map((record) => ({ ...record, restored: batch, unsealed: true as const }));
  if (marked.length > 0) await documents<AuditDoc>(COLLECTIONS.audit).insertMany(marked, { session });
}
