import type { ClientSession } from 'mongoose';
import { ambient } from '../../database/transaction.js';
import { COLLECTIONS } from '../access/layout.js';
import { documents } from '../access/documents.js';
import { inSteps } from '../access/in-steps.js';
import type { InsertWrite } from '../access/write.js';
import { noteDocs, type NotedState, type RemovalDoc, type RemovalReason } from '../removal.js';
import { canonicalText, listOf, sha256 } from './seal-hash.js';

/** Collections of which notes say what each document is: they may change, and rarely do. */
export const STATED = [
  COLLECTIONS.templates,
  COLLECTIONS.templateRevisions,
  COLLECTIONS.storedQueries,
  COLLECTIONS.policies,
  COLLECTIONS.policyVersions,
  COLLECTIONS.categoryVersions,
  COLLECTIONS.ehrMarks,
  COLLECTIONS.mergeRecords,
  COLLECTIONS.mergeHistory,
  COLLECTIONS.settings,
] as const;

/** A collection of which notes say what each document is. */
export type StatedCollection = (typeof STATED)[number];

/** The one document of `settings` that is stated: by its note everybody knows that all else is. */
export const STORAGE_ID = 'storage';

/** A document as the database gives it. */
interface Stored {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** Archives may be larger than the memory: their documents count by their hashes. */
type Archived = ReadonlyMap<string, Buffer>;

/** SHA-256 of what is stated of a document, in hexadecimal. `archive`: of a merge, what it archived. */
export async function stateHash(
  collection: StatedCollection,
  doc: Stored,
  archive: () => Promise<Archived>,
): Promise<string> {
  const text = canonicalText(await statedPart(collection, doc, archive));
  return sha256(text).toString('hex');
}

async function statedPart(
  collection: StatedCollection,
  doc: Stored,
  archive: () => Promise<Archived>,
): Promise<object> {
  if (collection === 'settings') return { _id: doc._id, system_id: doc['system_id'] };
  // The first commit sets it, at no further cost.
  if (collection === 'templates' || collection === 'template_revisions') return { ...doc, used: undefined };
  if (collection !== 'merge_records') return doc;
  const hashes = [...(await archive())].sort(([one], [other]) => (one < other ? -1 : 1));
  return { doc, archive: hashes.map(([id, hash]) => [id, hash.toString('hex')]) };
}

/** SHA-256 of each document that a merge archived; those of `kind` only. */
export async function archiveHashes(
  mergeId: string,
  among: { readonly session?: ClientSession; readonly kind?: object | string } = {},
): Promise<Map<string, Buffer>> {
  const { session, kind } = among;
  const found = documents<Stored>(COLLECTIONS.mergeArchive).find(
    { merge_id: mergeId, ...(kind !== undefined && { kind }) },
    { batchSize: 20, ...(session !== undefined && { session }) },
  );
  const hashes = new Map<string, Buffer>();
  for await (const doc of found) hashes.set(doc._id, archivedHash(doc));
  return hashes;
}

/** Lists of ids, which may be long, count by their text. */
function archivedHash(doc: Stored): Buffer {
  const body = doc['body'] as { readonly ids?: unknown } | undefined;
  const ids = body?.ids;
  if (!Array.isArray(ids)) return sha256(canonicalText(doc));
  return sha256(
    canonicalText({ ...doc, body: { ...body, ids: sha256(JSON.stringify(ids)).toString('hex') } }),
  );
}

/** What is noted beside the state. */
interface Statement {
  readonly collection: StatedCollection;
  readonly ids: readonly string[];
  readonly reason: RemovalReason;
  /** Of a restore: the import. */
  readonly batch?: string;
  /** Of a merge in steps: the hashes of the moved ids, which were archived before. */
  readonly moved?: Archived;
}

/**
 * Notes what these documents are now, or that they are gone, in the transaction that changed them and after the change: the
 * seals hold the note, and `verify` compares.
 */
export async function noteStates(session: ClientSession, statement: Statement): Promise<void> {
  const { collection, ids, reason, batch } = statement;
  const removals = documents<RemovalDoc>(COLLECTIONS.removals);
  for (const part of inSteps(ids)) {
    const before = removals.find<RemovalDoc>({ ids: { $in: part }, collection }, { session });
    const seqs = new Map<string, number>();
    for await (const note of before)
      for (const id of note.ids) seqs.set(id, Math.max(seqs.get(id) ?? 0, note.seq ?? 0));
    const states = new Map<string, NotedState>();
    for await (const doc of documents<Stored>(collection).find({ _id: { $in: part } }, { session }))
      states.set(doc._id, await statedHash(statement, doc, session));
    const notes = part.map((id) => ({
      ...(states.get(id) ?? { kind: 'removed' as const }),
      reason,
      collection,
      ids: [id],
      ...(batch !== undefined && { batch }),
      // Whatever is noted by others at the same time is newer than what an upgrade found.
      seq: reason === 'baseline' ? 0 : (seqs.get(id) ?? 0) + 1,
    }));
    const docs = notes.flatMap((note) => noteDocs(note));
    if (docs.length > 0) await removals.insertMany(docs, { session });
  }
}

/** Those of these documents of which an import has noted what they are. Joins the caller's transaction. */
export async function notedByBatch(
  collection: StatedCollection,
  batch: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const session = ambient.getStore()?.session;
  const removals = documents<RemovalDoc>(COLLECTIONS.removals);
  const among = { ids: { $in: [...ids] }, collection, batch };
  const noted = new Set<string>();
  for await (const note of removals.find<RemovalDoc>(among, session === undefined ? {} : { session }))
    for (const id of note.ids) noted.add(id);
  return noted;
}

async function statedHash(
  { collection, moved }: Statement,
  doc: Stored,
  session: ClientSession,
): Promise<NotedState> {
  const archive = async (): Promise<Archived> => {
    const rest = moved === undefined ? {} : { kind: { $ne: 'moved' } };
    return new Map([...(moved ?? []), ...(await archiveHashes(doc._id, { session, ...rest }))]);
  };
  const hash = await stateHash(collection, doc, archive);
  return { kind: 'stated', hash, ...edgeOf(collection, doc) };
}

/** Between which EHRs a merge was, for `verify` needs it when the record is gone. */
function edgeOf(collection: StatedCollection, doc: Stored): Pick<NotedState, 'from' | 'to'> {
  if (collection !== 'merge_records' && collection !== 'merge_history') return {};
  return { from: String(doc['source_ehr']), to: String(doc['target_ehr']) };
}

/** Documents that became another EHR's otherwise than with all of it. */
interface OwnerChange {
  /** `move`: a person moved them, one by one. `unmerge`: an undo left them where the merge had brought them. */
  readonly reason: 'move' | 'unmerge';
  readonly from: string;
  readonly to: string;
  readonly objects: readonly string[];
  readonly contributions: readonly string[];
}

/** Notes whose objects and CONTRIBUTIONs, by their ids, are from now on. */
export async function noteOwner(
  session: ClientSession,
  { reason, from, to, objects, contributions }: OwnerChange,
): Promise<void> {
  const removals = documents<RemovalDoc>(COLLECTIONS.removals);
  const parts = [
    ['versioned_objects', objects],
    ['contributions', contributions],
  ] as const;
  for (const [collection, all] of parts)
    for (const ids of inSteps(all)) {
      const before = removals.find<RemovalDoc>({ kind: 'owner', collection, ids: { $in: ids } }, { session });
      let seq = 1;
      for await (const note of before) seq = Math.max(seq, (note.seq ?? 0) + 1);
      const docs = noteDocs({ kind: 'owner', reason, collection, ids, from, to, seq });
      if (docs.length > 0) await removals.insertMany(docs, { session });
    }
}

/** A note that a record is gone for good: no later one can be about the same id. */
export function lastRemoval(collection: StatedCollection, ids: readonly string[]): InsertWrite<'removals'>[] {
  const note = { kind: 'removed', reason: 'erasure', collection, seq: Number.MAX_SAFE_INTEGER } as const;
  return noteDocs({ ...note, ids }).map((insert) => ({ collection: COLLECTIONS.removals, insert }));
}

/** All notes of states, the newest of each document, by `<collection> <id>`. */
export async function newestStates(): Promise<Map<string, RemovalDoc>> {
  const newest = new Map<string, RemovalDoc>();
  const notes = documents<RemovalDoc>(COLLECTIONS.removals).find<RemovalDoc>({
    collection: { $in: [...STATED] },
    kind: { $in: ['stated', 'removed'] },
  });
  for await (const note of notes)
    for (const id of listOf(note.ids)) {
      const key = `${note.collection} ${id}`;
      const known = newest.get(key);
      if (known === undefined || (known.seq ?? 0) < (note.seq ?? 0)) newest.set(key, note);
    }
  return newest;
}

/** Whether what notes state is complete: of older databases it is not before an upgrade. */
export async function hasBaseline(): Promise<boolean> {
  const note = { ids: STORAGE_ID, collection: COLLECTIONS.settings, kind: 'stated' };
  return (await documents(COLLECTIONS.removals).countDocuments(note)) > 0;
}
