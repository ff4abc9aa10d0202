/** Putting back the state from before a transaction. Doing it twice does no harm. */
import { asText, fieldOf } from '../protocol/bson-slice.js';
import { encode, type BsonValue, type RawValue } from '../protocol/bson-write.js';
import type { Engine } from '../engine/engine.js';
import { byNamespace, splitNamespace } from '../engine/namespaces.js';
import { failureOf, isSuccess } from '../protocol/replies.js';
import type { UndoRecord } from './undo-log.js';

const BATCH_BYTES = 20_000_000;
const BATCH_COUNT = 10_000;
const NAMESPACE_NOT_FOUND = 26;

type Image = Extract<UndoRecord, { kind: 'image' }>;

/** Puts everything back that `records` name. @throws EngineError */
export async function restore(engine: Engine, records: readonly UndoRecord[]): Promise<void> {
  const created = new Set(ofKind(records, 'collection').map((record) => record.namespace));
  for (const namespace of created) await dropCollection(engine, namespace);
  for (const { namespace, names } of ofKind(records, 'indexes')) {
    if (!created.has(namespace)) await dropNewIndexes(engine, namespace, names);
  }
  const absent = byNamespace(ofKind(records, 'absent'));
  const images = byNamespace(ofKind(records, 'image'));
  for (const namespace of new Set([...absent.keys(), ...images.keys()])) {
    if (created.has(namespace)) continue;
    const before = images.get(namespace) ?? [];
    await deleteIds(engine, namespace, absent.get(namespace) ?? []);
    if (!(await replaceAll(engine, namespace, before))) await reinsertAll(engine, namespace, before);
  }
}

type Kind = UndoRecord['kind'];

function ofKind<K extends Kind>(records: readonly UndoRecord[], kind: K): Extract<UndoRecord, { kind: K }>[] {
  return records.filter((record): record is Extract<UndoRecord, { kind: K }> => record.kind === kind);
}

async function dropCollection(engine: Engine, namespace: string): Promise<void> {
  const { database, collection } = splitNamespace(namespace);
  const reply = await engine.attempt({ drop: collection, $db: database });
  if (!isSuccess(reply) && failureOf(reply).code !== NAMESPACE_NOT_FOUND) {
    throw new Error(`cannot drop ${namespace}: ${failureOf(reply).message}`);
  }
}

async function dropNewIndexes(engine: Engine, namespace: string, before: readonly string[]): Promise<void> {
  const { database, collection } = splitNamespace(namespace);
  const listed = await engine.documents({ listIndexes: collection, $db: database });
  const added = listed
    .map((index) => asText(fieldOf(index, 'name')) ?? '')
    .filter((name) => !before.includes(name));
  if (added.length > 0) await engine.run({ dropIndexes: collection, index: added, $db: database });
}

async function deleteIds(
  engine: Engine,
  namespace: string,
  records: readonly { readonly id: RawValue }[],
): Promise<void> {
  const { database, collection } = splitNamespace(namespace);
  const deletes = records.map(({ id }) => encode({ q: { _id: { $eq: id } }, limit: 1 }));
  for (const documents of batches(deletes)) {
    await engine.run({ delete: collection, $db: database }, [{ name: 'deletes', documents }]);
  }
}

/** Replaces documents in place; false when a unique value stands in the way. */
async function replaceAll(engine: Engine, namespace: string, images: readonly Image[]): Promise<boolean> {
  const { database, collection } = splitNamespace(namespace);
  const updates = images.map(({ id, document }) =>
    encode({ q: { _id: { $eq: id } }, u: document, upsert: true }),
  );
  let isComplete = true;
  for (const documents of batches(updates)) {
    const options: Record<string, BsonValue> = { ordered: false, bypassDocumentValidation: true };
    const command = { update: collection, ...options, $db: database };
    const reply = await engine.attempt(command, [{ name: 'updates', documents }]);
    isComplete &&= isSuccess(reply);
  }
  return isComplete;
}

/** When unique values were exchanged between documents, all have to go before the first can come back. */
async function reinsertAll(engine: Engine, namespace: string, images: readonly Image[]): Promise<void> {
  const { database, collection } = splitNamespace(namespace);
  await deleteIds(engine, namespace, images);
  for (const documents of batches(images.map((image) => image.document))) {
    const command = { insert: collection, bypassDocumentValidation: true, $db: database };
    await engine.run(command, [{ name: 'documents', documents }]);
  }
}

/** Parts that one command can carry. */
export function* batches(documents: readonly Buffer[]): Generator<Buffer[]> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const document of documents) {
    if (batch.length > 0 && (batch.length === BATCH_COUNT || bytes + document.length > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(document);
    bytes += document.length;
  }
  if (batch.length > 0) yield batch;
}
