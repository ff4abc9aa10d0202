import { saveShapesWith } from '../models/aql-shape.js';
import { COLLECTIONS } from '../models/layout.js';
import type { LeafIndex } from '../aql/index/document.js';
import { recomputedDocuments } from '../models/recompute.js';
import { derivedReplacement, versionsOfContainer } from '../models/reindex.js';
import { storageSettings } from '../models/settings.js';
import { runWrites, type Write } from '../models/write-batch.js';
import type { Session } from './transaction.js';

/** Containers that changed their owner. */
export interface MovedContainers {
  readonly ehrId: string;
  readonly isQueryable: boolean;
  readonly versionedObjectUids: readonly string[];
}

/**
 * Derives the AQL documents of moved containers anew while a reindex is under way: it may be past their new owner
 * already, and the old one is none any more when it comes there. Does nothing at other times.
 */
export async function rederiveDuringReindex(
  session: Session,
  moved: MovedContainers,
  leafIndex: LeafIndex,
): Promise<void> {
  if ((await storageSettings())?.reindex === undefined) return;
  for (const versionedObjectUid of moved.versionedObjectUids) {
    const versions = await versionsOfContainer(moved.ehrId, versionedObjectUid);
    const { documents, shapes } = recomputedDocuments(versions, {
      isQueryable: moved.isQueryable,
      leafIndex,
    });
    await saveShapesWith(session, shapes);
    const isRemoval = (write: Write): boolean => 'remove' in write && write.collection === COLLECTIONS.aql;
    const writes = derivedReplacement(moved.ehrId, versionedObjectUid, documents);
    await runWrites(session, writes.filter(isRemoval));
    await runWrites(
      session,
      writes.filter((write) => !isRemoval(write)),
    );
  }
}
