import { inSteps } from '../models/access/in-steps.js';
import { blocksAfter } from '../models/cross-collection/seal-block.js';
import { contributionLeaf, listOf } from '../models/cross-collection/seal-hash.js';
import {
  idsInTail,
  recordHash,
  recordsById,
  type SealedRecord,
} from '../models/cross-collection/seal-record.js';
import { removalsOf, type RemovalDoc } from '../models/removal.js';
import type { Findings } from './verify-report.js';

/** Records that are looked at closely in one pass over the blocks. */
const AT_ONCE = 20_000;
/** Records asked for together. */
const STEP = 500;

/** Of which collections records may be gone and there again as others than they were. */
type Returning = 'contributions' | 'ehrs';

/** Whether records of the collection may come back as others than they were. */
export function mayReturn(record: SealedRecord): record is SealedRecord & { readonly collection: Returning } {
  return record.collection === 'contributions' || record.collection === 'ehrs';
}

/**
 * Looks closely at records that are not what some block sealed: one that was erased and restored, or made anew with its id, is another
 * one than it was before. It has to be what every block sealed since it was erased, and what the last one did.
 */
export class ReturnedCheck {
  readonly #found: Findings;
  readonly #suspects = new Map<string, Set<string>>();
  #count = 0;

  constructor(found: Findings) {
    this.#found = found;
  }

  /** Notes a record that is not what some block sealed. */
  async suspect({ collection, doc }: SealedRecord & { readonly collection: Returning }): Promise<void> {
    const known = this.#suspects.get(collection) ?? new Set<string>();
    this.#suspects.set(collection, known);
    if (known.has(doc._id)) return;
    known.add(doc._id);
    this.#count += 1;
    if (this.#count >= AT_ONCE) await this.finish();
  }

  /** Reports those that are not what they have to be. */
  async finish(): Promise<void> {
    const suspects = [...this.#suspects];
    this.#suspects.clear();
    this.#count = 0;
    for (const [collection, ids] of suspects) await this.#finish(collection as Returning, [...ids]);
  }

  async #finish(collection: Returning, ids: readonly string[]): Promise<void> {
    // Asked first: what no longer waits is in a block that is read below.
    const waiting = new Set<string>();
    for (const part of inSteps(ids, STEP))
      for (const id of await idsInTail(collection, part)) waiting.add(id);
    const traces = await tracesOf(collection, ids);
    for (const id of await followed(collection, traces, waiting))
      this.#found.add('changed', id, `${collection}: it is not what was sealed since it came back`);
  }
}

/** What the chain says of a record, as it is walked along. */
interface Trace {
  readonly record: SealedRecord;
  readonly notes: readonly RemovalDoc[];
  /** Ids of notes of its removal that wait for the sealer. */
  readonly waiting: Set<string>;
  /** The block of the last one that does not. */
  removed: number;
  /** The first block that has it. */
  first: number;
  /** The last block of which it is not what was sealed. */
  lastOther: number;
  /** Whether it is what the newest block that has it sealed. */
  isNewest: boolean;
}

async function tracesOf(collection: Returning, ids: readonly string[]): Promise<Map<string, Trace>> {
  const traces = new Map<string, Trace>();
  for (const part of inSteps(ids, STEP)) {
    const notes = await removalsOf(collection, part);
    for await (const record of recordsById(collection, part)) {
      const { _id } = record.doc;
      const own = notes.filter((note) => listOf(note.ids).includes(_id));
      const waiting = new Set(own.filter(isRemoval).map((note) => note._id));
      traces.set(_id, { record, notes: own, waiting, removed: 0, first: 0, lastOther: 0, isNewest: false });
    }
  }
  return traces;
}

/** Ids of those that are not what they have to be. */
async function followed(
  collection: Returning,
  traces: ReadonlyMap<string, Trace>,
  waiting: ReadonlySet<string>,
): Promise<string[]> {
  const byNote = new Map<string, Trace[]>();
  for (const trace of traces.values())
    for (const id of trace.waiting) byNote.set(id, [...(byNote.get(id) ?? []), trace]);
  for await (const { _id: block, leaves } of blocksAfter(0))
    for (const leaf of leaves) {
      if (leaf.collection === 'removals') noteRemoval(byNote.get(leaf.id), leaf.id, block);
      if (leaf.collection === collection) noteLeaf(traces.get(leaf.id), leaf.hash, block);
    }
  return [...traces].filter(([id, trace]) => !isRight(trace, waiting.has(id))).map(([id]) => id);
}

function noteRemoval(traces: readonly Trace[] | undefined, noteId: string, block: number): void {
  for (const trace of traces ?? []) if (trace.waiting.delete(noteId)) trace.removed = block;
}

function noteLeaf(trace: Trace | undefined, hash: Buffer, block: number): void {
  if (trace === undefined) return;
  if (trace.first === 0) trace.first = block;
  trace.isNewest = isWhatWasSealed(trace, hash);
  if (!trace.isNewest) trace.lastOther = block;
}

function isRemoval({ kind }: RemovalDoc): boolean {
  return kind === 'removed';
}

function isRight(trace: Trace, isWaiting: boolean): boolean {
  const { record, notes, lastOther, isNewest } = trace;
  if (lastOther === 0) return true;
  const isGoneOnce = notes.some(isRemoval);
  // A CONTRIBUTION comes back by an import alone, which it names.
  if (!isGoneOnce || (record.collection === 'contributions' && record.doc.batch === undefined)) return false;
  return isOfBefore(trace) && (isNewest || isWaiting);
}

/** Whether all that it is not any more was sealed before it was removed, or with that, when it had not been sealed before. */
function isOfBefore({ waiting, removed, first, lastOther }: Trace): boolean {
  return waiting.size > 0 || lastOther < removed || (lastOther === removed && first === removed);
}

/** A CONTRIBUTION that an unmerge of an older release shortened is the one that was sealed but for what it listed. */
function isWhatWasSealed({ record, notes }: Trace, hash: Buffer): boolean {
  if (recordHash(record, 0).equals(hash)) return true;
  if (record.collection !== 'contributions') return false;
  const { doc } = record;
  return notes.some(
    ({ kind, versions }) =>
      kind === 'shortened' && versions !== undefined && contributionLeaf({ ...doc, versions }).equals(hash),
  );
}
