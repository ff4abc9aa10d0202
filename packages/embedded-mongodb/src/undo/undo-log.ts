/** What a transaction has to put back when it is aborted: the first state of everything it touched. */
import type { RawValue } from '../protocol/bson-write.js';
import { CommandError } from '../protocol/replies.js';

/** One thing to put back. */
export type UndoRecord =
  | { readonly kind: 'collection'; readonly namespace: string }
  | { readonly kind: 'indexes'; readonly namespace: string; readonly names: readonly string[] }
  | { readonly kind: 'absent'; readonly namespace: string; readonly id: RawValue }
  | {
      readonly kind: 'image';
      readonly namespace: string;
      readonly id: RawValue;
      readonly document: Buffer;
    };

/** Where records survive a crash. */
export interface UndoStore {
  /** Stores records before the write they belong to. */
  append(records: readonly UndoRecord[]): Promise<void>;
  /** What `append` would insert, in this order, for a caller that does so itself. */
  documents(records: readonly UndoRecord[]): readonly Buffer[];
  /** Ends the transaction: from its first effect on, nothing is put back any more. `isDurable`: and waits as `durable`. */
  clear(isDurable: boolean): Promise<void>;
  /** Resolves when what `clear` did survives a crash. */
  durable(): Promise<void>;
}

const RECORD_OVERHEAD_BYTES = 100;
/** Bytes of records that go with the writes they belong to; more go before them. */
const CARRIED_BYTES = 1024 * 1024;

/** First-touch records of one transaction. */
export class UndoLog {
  readonly #store: UndoStore | null;
  readonly #limitBytes: number;
  readonly #records: UndoRecord[] = [];
  readonly #touched = new Map<string, Set<string>>();
  readonly #created = new Set<string>();
  readonly #seen = new Set<string>();
  #bytes = 0;
  #isStored = false;

  /** `store`: null keeps the records in memory only. `limitBytes`: of all records together. */
  constructor(store: UndoStore | null, limitBytes: number) {
    this.#store = store;
    this.#limitBytes = limitBytes;
  }

  /** All records, in the order they were made. */
  get records(): readonly UndoRecord[] {
    return this.#records;
  }

  /** Bytes that are still free. */
  get freeBytes(): number {
    return this.#limitBytes - this.#bytes;
  }

  /** Whether what `id` names is recorded, or its whole collection is new. */
  isTouched(namespace: string, id: RawValue): boolean {
    return this.#created.has(namespace) || this.#touched.get(namespace)?.has(id.key()) === true;
  }

  /** Whether the collection itself has been looked at. */
  isSeen(namespace: string): boolean {
    return this.#seen.has(namespace);
  }

  /** Notes that a collection exists. */
  see(namespace: string): void {
    this.#seen.add(namespace);
  }

  /** Whether the transaction made the collection. */
  isCreated(namespace: string): boolean {
    return this.#created.has(namespace);
  }

  /** Adds records; they are stored when this resolves. @throws CommandError 257 above the limit. */
  async add(records: readonly UndoRecord[]): Promise<void> {
    if (records.length === 0) return;
    this.#count(records);
    if (this.#store !== null) {
      this.#isStored = true;
      await this.#store.append(records);
    }
    for (const record of records) this.#keep(record);
  }

  /**
   * Adds records for writes of one ordered command and gives the documents that this command has to insert before them, to
   * be spared a command; none when they are stored already. @throws CommandError 257 above the limit.
   */
  async addCarried(records: readonly UndoRecord[]): Promise<readonly Buffer[]> {
    const isFew = records.reduce((sum, record) => sum + sizeOf(record), 0) <= CARRIED_BYTES;
    if (this.#store === null || records.length === 0 || !isFew) {
      await this.add(records);
      return [];
    }
    this.#count(records);
    this.#isStored = true;
    for (const record of records) this.#keep(record);
    return this.#store.documents(records);
  }

  /** Forgets everything: committed, or put back. `isDurable`: and waits as `durable`. */
  async clear(isDurable = false): Promise<void> {
    if (this.#isStored) await this.#store?.clear(isDurable);
  }

  /** Resolves when what `clear` did, and all writes before it, survive a crash. */
  async durable(): Promise<void> {
    if (this.#isStored) await this.#store?.durable();
  }

  #count(records: readonly UndoRecord[]): void {
    for (const record of records) this.#bytes += sizeOf(record);
    if (this.#bytes > this.#limitBytes) throw tooLarge();
  }

  #keep(record: UndoRecord): void {
    this.#records.push(record);
    if (record.kind === 'collection') {
      this.#created.add(record.namespace);
      this.#seen.add(record.namespace);
    } else if (record.kind !== 'indexes') {
      const keys = this.#touched.get(record.namespace);
      if (keys === undefined) this.#touched.set(record.namespace, new Set([record.id.key()]));
      else keys.add(record.id.key());
    }
  }
}

/** The failure of a transaction that changes too much. */
export function tooLarge(): CommandError {
  return new CommandError(257, 'the transaction changes more than can be undone');
}

function sizeOf(record: UndoRecord): number {
  switch (record.kind) {
    case 'image':
      return record.document.length + record.id.bytes.length + RECORD_OVERHEAD_BYTES;
    case 'absent':
      return record.id.bytes.length + RECORD_OVERHEAD_BYTES;
    default:
      return RECORD_OVERHEAD_BYTES;
  }
}
