import { setTimeout } from 'node:timers/promises';
import type { LeafIndex } from '../aql/index/document.js';
import { AQL_SCHEMA_VERSION } from '../aql/index/document.js';
import { inTransaction } from '../database/transaction.js';
import { deriveAllIdentities } from './identities.js';
import { saveShapes } from '../models/aql-shape.js';
import { activeEhrCount, ehrIdsAfter, holdActive, type EhrDoc } from '../models/ehr.js';
import { aqlInsert, aqlRemoval, recomputedDocuments, removeOrphans } from '../models/aql-document.js';
import { mergeJobs } from '../models/access/merge-job.js';
import { finishReindex, LEAF_TRUST_MS, reindexPosition, saveReindexPosition } from '../models/settings.js';
import { versionsOfContainer } from '../models/version.js';
import { containersOfEhr } from '../models/versioned-object.js';
import { runWrites, type Session } from '../models/access/write.js';

/** How far a rebuild is. */
export interface ReindexProgress {
  readonly ehrs: number;
  readonly ofEhrs: number;
  readonly documents: number;
}

const EHRS_AT_ONCE = 100;
/** Containers rebuilt in one transaction: writers of the same EHR wait for it. */
const CONTAINERS_AT_ONCE = 50;

/**
 * Rebuilds every derived AQL document from the VERSIONs while the server runs: adds what is missing, replaces
 * what an older derivation wrote, drops orphans. Commits go on; each transaction holds its EHR, so a parallel
 * commit is wholly before or after it. May be stopped at any time: the next run goes on after the last finished
 * EHR. See docs/spec/storage.md#who-writes-what.
 */
export async function reindexStorage(
  leafIndex: LeafIndex,
  onProgress: (progress: ReindexProgress) => void = () => undefined,
): Promise<ReindexProgress> {
  const earlier = await reindexPosition(leafIndex);
  let afterEhr = earlier?.afterEhr ?? '';
  if (earlier === null) {
    // Told before the first EHR: from now on a merge derives anew what it moves past this position.
    await saveReindexPosition({ sv: AQL_SCHEMA_VERSION, leafIndex, afterEhr });
    // Until then a server may still rely on leaves that are about to change.
    await setTimeout(2 * LEAF_TRUST_MS);
    // Those that went on in steps would take documents past it.
    while ((await mergeJobs()).length > 0) await setTimeout(LEAF_TRUST_MS);
  }
  const progress = { ehrs: 0, ofEhrs: await activeEhrCount(), documents: 0 };
  for (;;) {
    const ehrIds = await ehrIdsAfter(afterEhr, EHRS_AT_ONCE);
    const last = ehrIds.at(-1);
    if (last === undefined) break;
    for (const ehrId of ehrIds) {
      progress.documents += await reindexEhr(ehrId, leafIndex);
      progress.ehrs += 1;
      onProgress({ ...progress });
    }
    afterEhr = last;
    await saveReindexPosition({ sv: AQL_SCHEMA_VERSION, leafIndex, afterEhr });
  }
  await deriveAllIdentities();
  await finishReindex(leafIndex);
  return progress;
}

async function reindexEhr(ehrId: string, leafIndex: LeafIndex): Promise<number> {
  const containers = await containersOfEhr(ehrId);
  const versionedObjectUids = containers.map((container) => container._id);
  let documents = 0;
  for (let start = 0; start < versionedObjectUids.length; start += CONTAINERS_AT_ONCE) {
    documents += await reindexContainers(
      ehrId,
      versionedObjectUids.slice(start, start + CONTAINERS_AT_ONCE),
      leafIndex,
    );
  }
  await inTransaction(async (session) => {
    if ((await holdActive(ehrId)) === null) return;
    const present = await containersOfEhr(ehrId);
    await removeOrphans(
      session,
      ehrId,
      present.map((container) => container._id),
    );
  });
  return documents;
}

/** Shapes first and outside: a missing one loses rows, one too many does no harm. */
async function reindexContainers(
  ehrId: string,
  versionedObjectUids: readonly string[],
  leafIndex: LeafIndex,
): Promise<number> {
  for (const versionedObjectUid of versionedObjectUids) {
    const versions = await versionsOfContainer(ehrId, versionedObjectUid);
    await saveShapes(recomputedDocuments(versions, { isQueryable: true, leafIndex }).shapes);
  }
  return inTransaction(async (session) => {
    const ehr = await holdActive(ehrId);
    if (ehr === null) return 0;
    let count = 0;
    for (const versionedObjectUid of versionedObjectUids)
      count += await replaceDerived(session, ehr, versionedObjectUid, leafIndex);
    return count;
  });
}

async function replaceDerived(
  session: Session,
  ehr: EhrDoc,
  versionedObjectUid: string,
  leafIndex: LeafIndex,
): Promise<number> {
  const versions = await versionsOfContainer(ehr._id, versionedObjectUid);
  const { documents } = recomputedDocuments(versions, { isQueryable: ehr.is_queryable, leafIndex });
  // runWrites does removals last, so that they are a call of their own before the inserts.
  await runWrites(session, [aqlRemoval(ehr._id, versionedObjectUid)]);
  await runWrites(session, documents.map(aqlInsert));
  return documents.length;
}
