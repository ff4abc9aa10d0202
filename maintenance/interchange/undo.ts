import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { ehrIdsOfBatch, hasContributionsBeside } from '../../models/contribution.js';
import { UNDO_RESTORE } from '../../models/cross-collection/audited-removals.js';
import { eraseEhr } from '../erase.js';

/** What taking an import back came to. */
interface UndoneRestore {
  /** EHRs that were erased. */
  readonly ehrs: number;
  /** Those that stay, each with the reason. */
  readonly kept: readonly { readonly ehrId: string; readonly reason: string }[];
}

/**
 * Erases the EHRs that an import made, with all they hold, as long as nothing was committed to them since. Templates, stored
 * queries and what it added to EHRs that were here stay. docs/spec/interchange.md#taking-back
 * @throws not-found when no CONTRIBUTION is of that import
 */
export async function undoRestore(batch: string, user = 'everchart'): Promise<UndoneRestore> {
  const kept: { ehrId: string; reason: string }[] = [];
  let [ehrs, found] = [0, 0];
  for await (const ehrId of ehrIdsOfBatch(batch)) {
    found += 1;
    const reason = await refusalOf(ehrId, batch, user);
    if (reason === null) ehrs += 1;
    else kept.push({ ehrId, reason });
  }
  if (found === 0) throw new CdrError('not-found', `nothing here was restored by the import ${batch}`);
  return { ehrs, kept };
}

/** Why an EHR stays; null: it was erased. */
async function refusalOf(ehrId: string, batch: string, user: string): Promise<string | null> {
  const sender = { user, operation: UNDO_RESTORE, request_id: randomUUID(), target: batch };
  const gate = {
    opens: true,
    // In the transaction that erases: whoever commits meanwhile is before it, or finds no EHR.
    pass: async (): Promise<void> => {
      if (await hasContributionsBeside(ehrId, batch))
        throw new CdrError('conflict', 'it has CONTRIBUTIONs that the import did not restore');
    },
  };
  try {
    await withAuditDraft(new AuditDraft(() => sender, 200), () => eraseEhr(ehrId, { cascade: true, gate }));
    return null;
  } catch (error) {
    if (error instanceof CdrError && ['conflict', 'not-found'].includes(error.code)) return error.message;
    throw error;
  }
}
