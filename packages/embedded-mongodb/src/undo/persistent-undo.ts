/**
 * Undo records in the engine itself, in `config.embedded_undo`. The engine has one journal in the order of the
 * writes, so whatever change survives a crash has its record with it. The header document is the open
 * transaction: when it is gone, the transaction is committed. Records share documents, the first ones that of the
 * header: most transactions have one document here, written and deleted by its `_id`.
 */
import {
  asDocument,
  asDocuments,
  asNumber,
  asText,
  BSON,
  fieldOf,
  fields,
  valueBytes,
} from '../protocol/bson-slice.js';
import { binary, encode, newObjectId, rawValue, type BsonValue } from '../protocol/bson-write.js';
import type { Engine } from '../engine/engine.js';
import { batches, restore } from './restore.js';
import type { UndoRecord, UndoStore } from './undo-log.js';

const COLLECTION = { name: 'embedded_undo', $db: 'config' } as const;
/** Where the records are, `database.collection`. */
export const UNDO_NAMESPACE = `${COLLECTION.$db}.${COLLECTION.name}`;
const JOURNALED = { writeConcern: { w: 1, j: true }, $db: COLLECTION.$db } as const;
const PIECE_BYTES = 8 * 1024 * 1024;
/** Records of so many bytes share a document; one that is larger by itself has its own, in pieces. */
const LIST_BYTES = 1024 * 1024;

/** Records of one transaction in the engine. */
export class PersistentUndo implements UndoStore {
  readonly #engine: Engine;
  readonly #transaction = newObjectId();
  #hasHeader = false;
  /** Documents behind the header. */
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

  /** Documents with the records, that of the header in front of the others. */
  documents(records: readonly UndoRecord[]): readonly Buffer[] {
    const documents: Buffer[] = [];
    let list: Buffer[] = [];
    let bytes = 0;
    const close = (): void => {
      if (list.length > 0 || !this.#hasHeader) documents.push(this.#listed(list));
      list = [];
      bytes = 0;
    };
    for (const record of records) {
      if (record.kind === 'image' && record.document.length > LIST_BYTES) {
        close();
        documents.push(...this.#inPieces(record));
        continue;
      }
      const content = encode(contentOf(record));
      if (bytes + content.length > LIST_BYTES) close();
      list.push(content);
      bytes += content.length;
    }
    close();
    return documents;
  }

  /** Deletes the header, then the documents behind it. @throws EngineError */
  clear(isDurable: boolean): Promise<void> {
    return clearUndo(this.#engine, isDurable ? JOURNALED : null, this.#count > 0);
  }

  /** Waits for the journal, by a write that changes nothing. @throws EngineError */
  async durable(): Promise<void> {
    const updates = [encode({ q: { _id: -1 }, u: { $set: { x: 1 } } })];
    await this.#engine.run({ update: COLLECTION.name, ...JOURNALED }, [
      { name: 'updates', documents: updates },
    ]);
  }

  #listed(list: readonly Buffer[]): Buffer {
    const txn = this.#transaction;
    if (this.#hasHeader) return encode({ _id: this.#next(), txn, kind: 'list', list });
    this.#hasHeader = true;
    return encode({ _id: 0, txn, at: new Date(), list });
  }

  #inPieces(record: Image): Buffer[] {
    const [first, ...rest] = pieces(record.document);
    const txn = this.#transaction;
    return [
      encode({ _id: this.#next(), txn, ...contentOf(record), pre: binary(first ?? record.document) }),
      ...rest.map((pre) => encode({ _id: this.#next(), txn, kind: 'piece', pre: binary(pre) })),
    ];
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

type Image = Extract<UndoRecord, { kind: 'image' }>;

/** What a record says, a whole image with it. */
function contentOf(record: UndoRecord): Record<string, BsonValue> {
  const common = { kind: record.kind, ns: record.namespace };
  switch (record.kind) {
    case 'collection':
      return common;
    case 'indexes':
      return { ...common, names: record.names };
    case 'absent':
      return { ...common, id: record.id };
    case 'image': {
      const { id, document } = record;
      return { ...common, id, size: document.length, pre: binary(document) };
    }
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
    if (left !== undefined) await clearUndo(engine, null, true);
    return 0;
  }
  const transaction = fieldOf(header, 'txn');
  const filter = { _id: { $gt: 0 }, txn: transaction === undefined ? null : rawValue(transaction) };
  const stored = await engine.documents({ ...find, filter, sort: { _id: 1 } });
  const records = [...listedRecords(header), ...readRecords(stored)];
  await restore(engine, records);
  await clearUndo(engine, JOURNALED, true);
  return records.length;
}

/** `hasOthers`: there may be documents beside the header, which are looked for. */
async function clearUndo(
  engine: Engine,
  options: typeof JOURNALED | null,
  hasOthers: boolean,
): Promise<void> {
  const header = encode({ q: { _id: 0 }, limit: 1 });
  const documents = hasOthers ? [header, encode({ q: {}, limit: 0 })] : [header];
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
    if (document === undefined) continue;
    const record = readRecord(document, stored.slice(at + 1, at + 4));
    if (record === null) records.push(...listedRecords(document));
    else records.push(record);
  }
  return records;
}

/** Records that share a document; none in one of a release that gave each its own. */
function listedRecords(document: Buffer): UndoRecord[] {
  return asDocuments(fieldOf(document, 'list'))
    .map((content) => readRecord(content, []))
    .filter((record) => record !== null);
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
