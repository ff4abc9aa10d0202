import { randomUUID } from 'node:crypto';
import type { ContributionDoc } from './contribution.js';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import type { InsertWrite } from './access/write.js';
import { documents } from './access/documents.js';
import { ambient } from '../database/transaction.js';

/** What happened to records that are sealed, or will be. */
type RemovalKind =
  /** They are gone. */
  | 'removed'
  /** They were gone and are there again, as they were. */
  | 'restored'
  /** As 0.2.0 wrote it at an unmerge: a CONTRIBUTION lists fewer versions; `versions` is what it listed before. */
  | 'shortened'
  /** They are now what `hash` says. */
  | 'stated'
  /** They were moved to the EHR `to`, one by one. */
  | 'owner'
  /** An import restored them, and no CONTRIBUTION of the same transaction holds their hashes. */
  | 'brought';

/** Why. */
export type RemovalReason =
  | 'erasure'
  | 'retention'
  | 'merge'
  | 'unmerge'
  | 'move'
  /** It was stored, replaced or removed as such. */
  | 'definition'
  /** An upgrade found it so. */
  | 'baseline'
  /** An import restored it as it was made elsewhere. */
  | 'restore';

/** Collections out of which sealed records can go. */
export type RemovalCollection =
  | 'contributions'
  | 'versions'
  | 'audit'
  | 'ehrs'
  | 'versioned_objects'
  | 'templates'
  | 'template_revisions'
  | 'stored_queries'
  | 'policies'
  | 'policy_versions'
  | 'category_versions'
  | 'ehr_marks'
  | 'merge_records'
  | 'merge_history'
  | 'settings';

/** What a note of a state says. */
export interface NotedState {
  readonly kind: 'stated';
  /** SHA-256 of the document, in hexadecimal. */
  readonly hash: string;
  /** Of a merge: the EHR that was dissolved, and its direct target. */
  readonly from?: string;
  readonly to?: string;
}

/**
 * Tells that sealed records went, in the transaction in which they go: without it a missing record is a violation.
 * Is sealed itself (fields: docs/spec/storage.md#removals).
 */
export interface RemovalDoc {
  /** UUID. */
  readonly _id: string;
  readonly time: Date;
  readonly kind: RemovalKind;
  readonly reason: RemovalReason;
  readonly collection: RemovalCollection;
  /** At most `IDS`. */
  readonly ids: readonly string[];
  readonly versions?: ContributionDoc['versions'];
  /** Of records of an EHR: which one was erased, or lost them; the audit has a record of it. */
  readonly ehr_id?: string;
  /** Of a restore: the import, of which the audit has a record. */
  readonly batch?: string;
  /** Of notes about the same id the one with the highest is the newest. */
  readonly seq?: number;
  readonly hash?: string;
  readonly from?: string;
  /** Of an owner: the EHR that has it from now on. */
  readonly to?: string;
  /** Of the last note of an erasure in steps: the hashes of all others of it, as an audit record has those of its transaction. */
  readonly notes?: readonly string[];
  readonly unsealed?: true;
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.removals]: RemovalDoc;
  }
}

/** Ids in one document, so that it stays small. */
const IDS = 1_000;

/** What is noted. */
type Removal = Omit<RemovalDoc, '_id' | 'time' | 'unsealed'>;

/** The records of a removal, or of another note, that are to be written with it; none for no ids. */
export function noteDocs(removal: Removal): RemovalDoc[] {
  const docs: RemovalDoc[] = inSteps(removal.ids, IDS).map((ids) => ({
    _id: randomUUID(),
    time: new Date(),
    ...removal,
    ids,
    unsealed: true,
  }));
  const { attempt } = ambient.getStore() ?? {};
  if (attempt !== undefined) notesMade.set(attempt, [...(notesMade.get(attempt) ?? []), ...docs]);
  return docs;
}

/** The notes of each attempt of a transaction, for who calls nothing where there are none. */
export const notesMade = new WeakMap<object, readonly RemovalDoc[]>();

/** The notes that the transaction under way has made so far, for its audit record names them. */
export function notesOfTransaction(): readonly RemovalDoc[] {
  const { attempt } = ambient.getStore() ?? {};
  return attempt === undefined ? [] : (notesMade.get(attempt) ?? []);
}

/** The same as writes of a transaction. */
export function removalWrites(removal: Removal): InsertWrite<'removals'>[] {
  return noteDocs(removal).map((insert) => ({ collection: COLLECTIONS.removals, insert }));
}

/** Notes that versions of an EHR went. */
export function versionsRemoved(
  reason: RemovalReason,
  ehrId: string,
  ids: readonly string[],
): InsertWrite<'removals'>[] {
  return removalWrites({ kind: 'removed', reason, collection: COLLECTIONS.versions, ehr_id: ehrId, ids });
}

/** Notes that versions are there again. */
export function versionsRestored(reason: RemovalReason, ids: readonly string[]): InsertWrite<'removals'>[] {
  return removalWrites({ kind: 'restored', reason, collection: COLLECTIONS.versions, ids });
}

/** Notes a removal that is done outside a transaction: before it, so that a crash in between does no harm. */
export async function insertRemoval(removal: Removal): Promise<void> {
  const docs = noteDocs(removal);
  const removals = documents<RemovalDoc>(COLLECTIONS.removals);
  if (docs.length > 0) await removals.insertMany(docs);
}

/** The removals that name one of these ids, in no order. */
export function removalsOf(collection: RemovalCollection, ids: readonly string[]): Promise<RemovalDoc[]> {
  return documents<RemovalDoc>(COLLECTIONS.removals)
    .find<RemovalDoc>({ ids: { $in: [...ids] }, collection })
    .toArray();
}
