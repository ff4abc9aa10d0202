import type { RemovalDoc } from '../models/removal.js';
import { STORAGE_ID } from '../models/cross-collection/state-note.js';
import { rootOfUid } from '../openehr/base/object-version-id.js';
import type { SealBlock } from '../models/cross-collection/seal-block.js';
import { listOf } from '../models/cross-collection/seal-hash.js';
import { auditedRemovals, type AuditedRemovals } from '../models/cross-collection/audited-removals.js';
import { idText } from '../models/cross-collection/seal-record.js';
import type { Findings } from './verify-report.js';

/**
 * Compares notes of removals with the records of the audit, which tell who asked for them. Of notes up to the block that
 * began to seal everything nothing is asked: older releases wrote less.
 */
export class NoteCheck {
  readonly #found: Findings;
  #complete: number | null = null;
  #audited: AuditedRemovals | null = null;

  constructor(found: Findings) {
    this.#found = found;
  }

  /** Compares the notes of a block. */
  async check(block: Pick<SealBlock, '_id' | 'time'>, notes: readonly RemovalDoc[]): Promise<void> {
    if (notes.some(isBeginning)) this.#complete ??= block._id;
    if (this.#complete === null || this.#complete >= block._id) return;
    const isOpen = (note: RemovalDoc): boolean => !isExplained(note, block.time, this.#audited);
    let open = notes.filter(isOpen);
    if (open.length > 0) {
      // Somebody may have asked for it since.
      this.#audited = await auditedRemovals();
      open = open.filter(isOpen);
    }
    for (const { _id } of open)
      this.#found.add('inserted', idText(_id), 'removals: the audit has no record of what it notes');
  }
}

function isBeginning({ kind, collection, ids }: RemovalDoc): boolean {
  return kind === 'stated' && collection === 'settings' && listOf(ids).includes(STORAGE_ID);
}

function isExplained(note: RemovalDoc, sealed: Date, audited: AuditedRemovals | null): boolean {
  if (note.kind === 'restored' || note.kind === 'shortened') return true;
  if (audited === null) return false;
  // The record of it may have gone itself.
  const isPruned = audited.prunedBefore !== null && sealed <= audited.prunedBefore;
  return isPruned || EXPLANATIONS[note.reason]?.(note, listOf(note.ids), audited) === true;
}

type Explanation = (note: RemovalDoc, ids: readonly string[], audited: AuditedRemovals) => boolean;

const isOfMerge: Explanation = ({ ehr_id: ehrId }, ids, { merges, mergedFrom }) =>
  ehrId === undefined ? ids.every((id) => merges.has(id)) : mergedFrom.has(ehrId);

/** By its reason, what must be in the audit, or in other notes. */
const EXPLANATIONS: Readonly<Partial<Record<string, Explanation>>> = {
  erasure: isErased,
  retention: (_, ids, { prunedBefore }) => ids.every((id) => recordTime(id) < (prunedBefore?.getTime() ?? 0)),
  definition: (_, ids, { hasAllTemplates, defined }) => hasAllTemplates || ids.every((id) => defined.has(id)),
  merge: isOfMerge,
  unmerge: isOfMerge,
  move: ({ collection }, ids, { moved }) =>
    collection === 'contributions' || ids.every((id) => moved.has(id)),
  restore: ({ batch }, _, { restores }) => batch !== undefined && restores.has(batch),
};

function isErased(
  { collection, ehr_id: ehrId }: RemovalDoc,
  ids: readonly string[],
  audited: AuditedRemovals,
): boolean {
  // Merges go with an EHR in which they ended; that one is noted beside them.
  if (collection === 'merge_records' || collection === 'merge_history') return audited.ehrs.size > 0;
  if (ehrId === undefined) return false;
  return (
    audited.ehrs.has(ehrId) ||
    (collection === 'versions' && ids.every((id) => audited.objects.has(rootOfUid(id))))
  );
}

/** When a record of the audit was made, by its id. */
function recordTime(id: string): number {
  return Number.parseInt(id.slice(0, 9), 36);
}
