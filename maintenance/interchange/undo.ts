import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { mindingRestrictions } from '../../change/mark/restriction.js';
import { ehrIdsOfBatches, hasContributionsBeside } from '../../models/contribution.js';
import { UNDO_RESTORE } from '../../models/cross-collection/audited-removals.js';
import { taggedBeside } from '../../models/item-tag.js';
import { eraseEhr } from '../erase.js';

/** What taking an import back came to. */
interface UndoneRestore {
  /** EHRs that were erased. */
  readonly ehrs: number;
  /** Those that stay, each with the reason. */
  readonly kept: readonly { readonly ehrId: string; readonly reason: string }[];
}

/** Who takes imports back, and whether restrictions of processing hold here. */
interface UndoOptions {
  readonly user?: string | undefined;
  readonly accessMode?: string | undefined;
}

/**
 * Erases the EHRs that imports made, such as the passes of one migration, with all they hold, as long as nothing else was committed to them or tagged in them. Templates,
 * stored queries and what they added to EHRs that were here stay. docs/spec/interchange.md#taking-back
 * @throws not-found when no CONTRIBUTION is of these imports
 */
export async function undoRestore(
  batches: readonly string[],
  { user = 'everchart', accessMode = '' }: UndoOptions = {},
): Promise<UndoneRestore> {
  const kept: { ehrId: string; reason: string }[] = [];
  let [ehrs, found] = [0, 0];
  for await (const ehrId of ehrIdsOfBatches(batches)) {
    found += 1;
    const reason = await mindingRestrictions(accessMode, () => refusalOf(ehrId, batches, user));
    if (reason === null) ehrs += 1;
    else kept.push({ ehrId, reason });
  }
  if (found === 0)
    throw new CdrError('not-found', `nothing here was restored by the import ${batches.join(', ')}`);
  return { ehrs, kept };
}

/** Why an EHR stays; null: it was erased. */
async function refusalOf(ehrId: string, batches: readonly string[], user: string): Promise<string | null> {
  const sender = { user, operation: UNDO_RESTORE, request_id: randomUUID(), target: batches.join(',') };
  const gate = {
    opens: true,
    // In the transaction that erases: whoever commits meanwhile is before it, or finds no EHR.
    pass: async (): Promise<void> => {
      if (await hasContributionsBeside(ehrId, batches))
        throw new CdrError('conflict', 'it has CONTRIBUTIONs that the import did not restore');
      if ((await taggedBeside(ehrId, batches)).length > 0)
        throw new CdrError('conflict', 'it has item tags that the import did not restore');
    },
  };
  try {
    await withAuditDraft(new AuditDraft(() => sender, 200), () => eraseEhr(ehrId, { cascade: true, gate }));
    return null;
  } catch (error) {
    if (error instanceof CdrError && ['conflict', 'not-found', 'restricted'].includes(error.code))
      return error.message;
    throw error;
  }
}
