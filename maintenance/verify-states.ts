import { documents } from '../models/access/documents.js';
import {
  archiveHashes,
  newestStates,
  STATED,
  stateHash,
  STORAGE_ID,
  type StatedCollection,
} from '../models/cross-collection/state-note.js';
import { idText } from '../models/cross-collection/seal-record.js';
import type { RemovalDoc } from '../models/removal.js';
import { foundByEveryLook } from './verify-looks.js';
import { Findings } from './verify-report.js';

/**
 * Compares templates, stored queries, records and archives of merges and the system id with what the newest note says of
 * each. Databases that no upgrade has reached have no notes, and of them nothing is said. Beside writers some document
 * is always younger than the notes that were read before it.
 */
export async function checkStates(): Promise<Findings> {
  return foundByEveryLook(async () => ({ found: await checkOnce(), isStill: false }));
}

async function checkOnce(): Promise<Findings> {
  const found = new Findings();
  const notes = await newestStates();
  if (!notes.has(`settings ${STORAGE_ID}`)) return found;
  for (const collection of STATED) {
    const among = collection === 'settings' ? { _id: STORAGE_ID } : {};
    for await (const doc of documents(collection).find(among, { batchSize: 20 })) {
      const key = `${collection} ${doc._id}`;
      await checkDocument(found, collection, { doc, note: notes.get(key) });
      notes.delete(key);
    }
  }
  for (const [key, { kind, collection }] of notes)
    if (kind === 'stated')
      found.add('missing', key.slice(collection.length + 1), `${collection}: a sealed note has it`);
  return found;
}

async function checkDocument(
  found: Findings,
  collection: StatedCollection,
  { doc, note }: { readonly doc: { readonly _id: string }; readonly note: RemovalDoc | undefined },
): Promise<void> {
  const id = idText(doc._id);
  if (note?.kind !== 'stated') found.add('inserted', id, `${collection}: no sealed note has it`);
  else if (note.hash !== (await stateHash(collection, doc, () => archiveHashes(id))))
    found.add('changed', id, `${collection}: it is not what its sealed note says`);
}
