import { randomUUID } from 'node:crypto';
import { AuditDraft, inAuditedTransaction, withAuditDraft } from '../change/commit/audit-draft.js';
import { AUDIT_PRUNE } from '../models/cross-collection/audited-removals.js';
import { eraseAuditBefore } from '../models/cross-collection/erase.js';

/**
 * Removes audit records older than a time. That it was asked for is recorded first: `verify` takes no other removal of audit
 * records for rightful. Gives how many went.
 */
export async function pruneAudit(before: Date, user = 'everchart'): Promise<number> {
  const sender = { user, operation: AUDIT_PRUNE, request_id: randomUUID() };
  await withAuditDraft(new AuditDraft(() => sender, 200), () =>
    inAuditedTransaction(
      () => Promise.resolve(),
      () => ({ options: { before: before.toISOString() } }),
    ),
  );
  return eraseAuditBefore(before);
}
