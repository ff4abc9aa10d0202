import { inNotedTransaction } from '../../change/commit/audit-draft.js';
import { RESTORE } from '../../models/cross-collection/audited-removals.js';
import type { Session } from '../../models/access/write.js';

/** A transaction of an import that restores what notes state: the audit has a record of each, which names its notes. */
export function inRestore<T>(batch: string, work: (session: Session) => Promise<T>): Promise<T> {
  return inNotedTransaction(RESTORE, work, { target: batch });
}
