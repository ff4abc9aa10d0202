import { CdrError } from '../../openehr/base/errors.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { inTransaction } from '../../database/transaction.js';
import { inSteps } from '../../models/access/in-steps.js';
import type { AuditDoc } from '../../models/audit.js';
import { insertRestoredAudit, storedAudit } from '../../models/cross-collection/interchange-audit.js';
import { failed, type LineOutcome } from './import.js';
import { isSameDocument } from './same.js';

/** A record of the audit that was read. */
interface PlacedRecord {
  readonly position: number;
  readonly record: AuditDoc;
}

/** Records that one transaction writes. */
const AT_ONCE = 500;

/** Restores records of the audit; gives what became of each. @throws the errors of the database */
export async function restoreAudit(batch: string, placed: readonly PlacedRecord[]): Promise<LineOutcome[]> {
  const outcomes: LineOutcome[] = [];
  for (const part of inSteps(placed, AT_ONCE)) outcomes.push(...(await restorePart(batch, part)));
  return outcomes;
}

async function restorePart(batch: string, placed: readonly PlacedRecord[]): Promise<LineOutcome[]> {
  const known = await storedAudit(placed.map(({ record }) => record._id));
  const fresh = placed.filter(({ record }) => !known.has(record._id));
  try {
    const records = fresh.map(({ record }) => record);
    if (records.length > 0) await inTransaction((session) => insertRestoredAudit(session, batch, records));
  } catch (error) {
    // Another import brought one of them meanwhile, or one is there twice.
    if (!isDuplicateKey(error) || placed.length === 1) throw error;
    const outcomes: LineOutcome[] = [];
    for (const one of placed) outcomes.push(...(await restorePart(batch, [one])));
    return outcomes;
  }
  return placed.map((one) => {
    const here = known.get(one.record._id);
    if (here === undefined) return { position: one.position, result: 'imported' };
    if (isSameDocument(here, one.record)) return { position: one.position, result: 'unchanged' };
    return failed(one, new CdrError('conflict', `another record ${one.record._id} is in the audit here`));
  });
}
