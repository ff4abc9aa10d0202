import type { RemovalDoc } from '../models/removal.js';
import { STORAGE_ID } from '../models/cross-collection/state-note.js';
import type { SealBlock } from '../models/cross-collection/seal-block.js';
import { listOf, removalLeaf } from '../models/cross-collection/seal-hash.js';
import { auditedRemovals, type AuditedRemovals } from '../models/cross-collection/audited-removals.js';
import { idText } from '../models/cross-collection/seal-record.js';
import type { Findings } from './verify-report.js';

/**
 * Compares notes of removals with the records of the audit: each is named, by its hash, by the one record of the transaction that
 * made it, so that no record explains another note. Of notes up to the block that began to seal everything nothing is asked: older
 * releases wrote less.
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

/** Whether one record of the audit names it, or it tells of what leaves no record of its own. */
function isExplained(note: RemovalDoc, sealed: Date, audited: AuditedRemovals | null): boolean {
  if (audited === null) return false;
  if (audited.notes.has(removalLeaf(note).toString('hex'))) return true;
  // The record of it may have gone itself; whatever is sealed after that is none of those.
  if (audited.prunes.some(({ before, asked }) => note.time < before && sealed <= asked)) return true;
  return UNNAMED[`${note.kind} ${note.reason}`]?.(note, audited) === true;
}

/** Notes of what is done in steps outside the transaction of its record, by kind and reason, and what explains them. */
const UNNAMED: Readonly<Partial<Record<string, (note: RemovalDoc, audited: AuditedRemovals) => boolean>>> = {
  'removed retention': isOfPrune,
  'removed erasure': ({ collection, ehr_id: ehrId }, { beingErased }) =>
    isErasedInSteps(collection) && ehrId !== undefined && beingErased.has(ehrId),
  // It only has what is there sealed.
  'brought restore': ({ batch, time }, { restores }) => {
    const begun = restores.get(batch ?? '');
    return begun !== undefined && begun <= time;
  },
};

function isErasedInSteps(collection: string): boolean {
  return collection === 'versions' || collection === 'contributions';
}

/** Only records of the audit end so, and only those that had to go when it was asked for. */
function isOfPrune({ collection, ids, time }: RemovalDoc, { prunes }: AuditedRemovals): boolean {
  return (
    collection === 'audit' &&
    listOf(ids).every((id) => {
      const made = recordTime(id);
      return prunes.some(({ before, asked }) => made !== null && made < before && asked <= time);
    })
  );
}

/** When a record of the audit was made, by its id; null: it has none of ours. */
function recordTime(id: string): Date | null {
  const [, start] = /^([0-9a-z]{9})-[0-9a-f]{16}(?:\.\d{6,}|-more)?$/.exec(id) ?? [];
  return start === undefined ? null : new Date(Number.parseInt(start, 36));
}
