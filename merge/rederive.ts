import { saveShapesWith } from '../models/aql-shape.js';
import { aqlInsert, aqlRemoval, recomputedDocuments } from '../models/aql-document.js';
import type { LeafIndex } from '../aql/index/document.js';
import { storageSettings } from '../models/settings.js';
import { versionsOfContainer } from '../models/version.js';
import { runWrites, type Session } from '../models/access/write.js';

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
    // runWrites does removals last, so that they are a call of their own before the inserts.
    await runWrites(session, [aqlRemoval(moved.ehrId, versionedObjectUid)]);
    await runWrites(session, documents.map(aqlInsert));
  }
}
