import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { AuditDraft, inAuditedTransaction, withAuditDraft } from '../change/commit/audit-draft.js';
import { AUDIT_PRUNE } from '../models/cross-collection/audited-removals.js';
import { eraseAuditBefore } from '../models/cross-collection/erase.js';
import { sealHead, sealNewRecords } from './seal.js';
import { CdrError } from '../openehr/base/errors.js';

/** Until when records of the audit may be removed. `years`: `AUDIT_RETENTION_YEARS`. */
export function retentionEnd(years: number, now: Date): Date {
  const end = new Date(now);
  end.setUTCFullYear(end.getUTCFullYear() - years);
  return end;
}

/**
 * Removes audit records older than a time, or where none is given than they have to be kept. That it was asked for is recorded
 * first: `verify` takes no other removal of audit records for rightful. `years`: `AUDIT_RETENTION_YEARS`, null: not set. Gives how many went.
 * @throws invalid where neither is given; conflict for records that have to be kept
 */
export async function pruneAudit(
  given: Date | null,
  years: number | null,
  user = 'everchart',
): Promise<number> {
  const end = years === null ? null : retentionEnd(years, new Date());
  const before = given ?? end;
  if (before === null) throw new CdrError('invalid', 'say --before which time, or set AUDIT_RETENTION_YEARS');
  if (end !== null && before > end)
    throw new CdrError(
      'conflict',
      `AUDIT_RETENTION_YEARS=${years} keeps records since ${end.toISOString()}: nothing was removed`,
    );
  await sealAll();
  const sender = { user, operation: AUDIT_PRUNE, request_id: randomUUID() };
  await withAuditDraft(new AuditDraft(() => sender, 200), () =>
    inAuditedTransaction(
      () => Promise.resolve(),
      () => ({ options: { before: before.toISOString() } }),
    ),
  );
  return eraseAuditBefore(before);
}

/** Between two looks at whether another process has sealed what there was. */
const WAIT_MS = 100;
const ATTEMPTS = 50;

/** Notes of what records that go now asked for are sealed before they go: of those sealed later `verify` wants the record. */
async function sealAll(): Promise<void> {
  for (let attempts = 0; attempts < ATTEMPTS; attempts += 1) {
    await sealNewRecords();
    const { unsealed, pending } = await sealHead();
    if (unsealed <= pending) return;
    await setTimeout(WAIT_MS);
  }
}
