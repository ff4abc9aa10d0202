/**
 * Undo records in the engine itself, in `config.embedded_undo`. The engine has one journal in the order of the
 * writes, so whatever change survives a crash has its record with it. The header document is the open
 * transaction: when it is gone, the transaction is committed.
 */
import { asDocument, asNumber, asText, BSON, fieldOf, fields, valueBytes } from '../protocol/bson-slice.js';
import { binary, encode, newObjectId, rawValue } from '../protocol/bson-write.js';
import type { Engine } from '../engine/engine.js';
import { batches, restore } from './restore.js';
import type { UndoRecord, UndoStore } from './undo-log.js';

const COLLECTION = { name: 'embedded_undo', $db: 'config' } as const;
/** Where the records are, `database.collection`. */
export const UNDO_NAMESPACE = `${COLLECTION.$db}.${COLLECTION.name}`;
const JOURNALED = { writeConcern: { w: 1, j: true }, $db: COLLECTION.$db } as const;
const PIECE_BYTES = 8 * 1024 * 1024;

/** Records of one transaction in the engine. */
export class PersistentUndo implements UndoStore {
  readonly #engine: Engine;
  readonly #transaction = newObjectId();
  #count = 0;

  /** The caller owns the lock from the first `append` to the end of `clear`. */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Inserts the records, the header in front of the first ones. @throws EngineError */
  async append(records: readonly UndoRecord[]): Promise<void> {
    for (const documents of batches(this.documents(records))) {
      await this.#engine.run({ insert: COLLECTION.name, $db: COLLECTION.$db }, [
        { name: 'documents', documents },
      ]);
    }
  }

  /** The records, and the header in front of the first ones. */
  documents(records: readonly UndoRecord[]): readonly Buffer[] {
    const isFirst = this.#count === 0;
    const stored = records.flatMap((record) => this.#stored(record));
    return isFirst ? [encode({ _id: 0, txn: this.#transaction, at: new Date() }), ...stored] : stored;
  }

  /** Deletes the header, then the records. @throws EngineError */
  clear(isDurable: boolean): Promise<void> {
    return clearUndo(this.#engine, isDurable ? JOURNALED : null);
  }

  /** Waits for the journal, by a write that changes nothing. @throws EngineError */
  async durable(): Promise<void> {
    const updates = [encode({ q: { _id: -1 }, u: { $set: { x: 1 } } })];
    await this.#engine.run({ update: COLLECTION.name, ...JOURNALED }, [
      { name: 'updates', documents: updates },
    ]);
  }

  #stored(record: UndoRecord): Buffer[] {
    const common = { txn: this.#transaction, kind: record.kind, ns: record.namespace };
    switch (record.kind) {
      case 'collection':
        return [encode({ _id: this.#next(), ...common })];
      case 'indexes':
        return [encode({ _id: this.#next(), ...common, names: record.names })];
      case 'absent':
        return [encode({ _id: this.#next(), ...common, id: record.id })];
      case 'image': {
        const [first, ...rest] = pieces(record.document);
        const size = record.document.length;
        return [
          encode({
            _id: this.#next(),
            ...common,
            id: record.id,
            size,
            pre: binary(first ?? record.document),
          }),
          ...rest.map((pre) =>
            encode({ _id: this.#next(), txn: this.#transaction, kind: 'piece', pre: binary(pre) }),
          ),
        ];
      }
    }
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

/**
 * Puts back what a transaction had changed when the process was killed; to be done before anything else uses
 * the engine. Answers the number of records. @throws EngineError
 */
export async function recover(engine: Engine): Promise<number> {
  const find = { find: COLLECTION.name, $db: COLLECTION.$db };
  const [header] = await engine.documents({ ...find, filter: { _id: 0 } });
  if (header === undefined) {
    const [left] = await engine.documents({ ...find, limit: 1 });
    if (left !== undefined) await clearUndo(engine);
    return 0;
  }
  const transaction = fieldOf(header, 'txn');
  const filter = { _id: { $gt: 0 }, txn: transaction === undefined ? null : rawValue(transaction) };
  const stored = await engine.documents({ ...find, filter, sort: { _id: 1 } });
  const records = readRecords(stored);
  await restore(engine, records);
  await clearUndo(engine, JOURNALED);
  return records.length;
}

async function clearUndo(engine: Engine, options: typeof JOURNALED | null = null): Promise<void> {
  const documents = [encode({ q: { _id: 0 }, limit: 1 }), encode({ q: {}, limit: 0 })];
  await engine.run({ delete: COLLECTION.name, $db: COLLECTION.$db, ...options }, [
    { name: 'deletes', documents },
  ]);
}

function pieces(document: Buffer): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0; at < document.length; at += PIECE_BYTES) all.push(document.subarray(at, at + PIECE_BYTES));
  return all;
}

/** Records out of stored documents; one whose pieces are not all there never had its write. */
function readRecords(stored: readonly Buffer[]): UndoRecord[] {
  const records: UndoRecord[] = [];
  for (let at = 0; at < stored.length; at += 1) {
    const document = stored[at];
    const record = document === undefined ? null : readRecord(document, stored.slice(at + 1, at + 4));
    if (record !== null) records.push(record);
  }
  return records;
}

function readRecord(document: Buffer, following: readonly Buffer[]): UndoRecord | null {
  const namespace = asText(fieldOf(document, 'ns')) ?? '';
  const id = fieldOf(document, 'id');
  switch (asText(fieldOf(document, 'kind'))) {
    case 'collection':
      return { kind: 'collection', namespace };
    case 'indexes': {
      const names = fields(asDocument(fieldOf(document, 'names')) ?? document);
      return { kind: 'indexes', namespace, names: names.map((name) => asText(name) ?? '') };
    }
    case 'absent':
      return id === undefined ? null : { kind: 'absent', namespace, id: rawValue(id) };
    case 'image': {
      const image = joined([document, ...following], asNumber(fieldOf(document, 'size')) ?? 0);
      return id === undefined || image === null
        ? null
        : { kind: 'image', namespace, id: rawValue(id), document: image };
    }
    default:
      return null;
  }
}

/** The first `size` bytes of the pieces; null when they are fewer. */
function joined(pieceDocuments: readonly Buffer[], size: number): Buffer | null {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieceDocuments) {
    const pre = fieldOf(piece, 'pre');
    const isOwn = parts.length === 0 || asText(fieldOf(piece, 'kind')) === 'piece';
    if (bytes >= size || !isOwn || pre?.type !== BSON.binary) break;
    parts.push(valueBytes(pre).subarray(5));
    bytes += valueBytes(pre).length - 5;
  }
  return bytes === size ? Buffer.concat(parts) : null;
}
