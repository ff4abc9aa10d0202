import { setTimeout } from 'node:timers/promises';
import { inTransaction } from '../database/transaction.js';
import { inSteps } from '../models/access/in-steps.js';
import { hasBaseline, noteStates, STATED, STORAGE_ID } from '../models/cross-collection/state-note.js';
import { ownedRecords } from '../models/cross-collection/owned-documents.js';
import { allIds, leafOf, recordsById } from '../models/cross-collection/seal-record.js';
import type { CollectionName, SealLeaf } from '../models/access/layout.js';
import { blocksAfter, newestBlock } from '../models/cross-collection/seal-block.js';
import { resumeErasures } from './erase.js';
import { sealLeaves, sealNewRecords } from './seal.js';

/** What had been sealed without its owner, or not at all, and is sealed as it was found. */
export interface Baseline {
  /** CONTRIBUTIONs and VERSIONs. */
  readonly owners: number;
  readonly ehrs: number;
  /** Templates, stored queries, records of merges with their archives. */
  readonly states: number;
}

const NONE: Baseline = { owners: 0, ehrs: 0, states: 0 };

/** Leaves of one step. */
const AT_ONCE = 2_000;
/** Between two looks at whether another process has sealed what there was. */
const WAIT_MS = 250;

/**
 * Seals as it is now what releases up to 0.2.0 did not seal: whose each record is, EHRs, and what notes state. What was done to
 * it before nobody can tell. Once for a database: a new one begins with it. Of records in no block, and of content that is
 * not what was sealed, nothing changes: they get the hash that they have in the chain.
 */
export async function sealBaseline(
  onProgress: (done: number, of: number) => void = () => undefined,
): Promise<Baseline> {
  if (await hasBaseline()) return NONE;
  // Of an erasure that an older release began no record says that it goes on in steps.
  await resumeErasures();
  await sealOld();
  const owners = await sealOwners(onProgress);
  const ehrs = await sealEhrs();
  let states = 0;
  for (const collection of STATED) {
    if (collection === 'settings') continue;
    for await (const ids of inParts(collection)) {
      await inTransaction((session) => noteStates(session, { collection, ids, reason: 'baseline' }));
      states += ids.length;
    }
  }
  // The last: from now on what has no note is a violation.
  await inTransaction((session) =>
    noteStates(session, { collection: 'settings', ids: [STORAGE_ID], reason: 'baseline' }),
  );
  return { owners, ehrs, states };
}

/** Seals records of releases without seals, or waits until a server has. */
async function sealOld(): Promise<void> {
  while ((await newestBlock())?.old !== null) if ((await sealNewRecords()) === 0) await setTimeout(WAIT_MS);
}

async function sealOwners(onProgress: (done: number, of: number) => void): Promise<number> {
  const end = await newestBlock();
  if (end === null) return 0;
  let sealed = 0;
  let done = 0;
  for await (const { _id, leaves } of blocksAfter(0)) {
    if (_id > end._id) break;
    done += leaves.length;
    for (const part of inSteps(leaves.filter(lacksOwner), AT_ONCE)) sealed += await sealOwnersOf(part);
    onProgress(Math.min(done, end.total), end.total);
  }
  return sealed;
}

function lacksOwner({ collection, ehr }: SealLeaf): boolean {
  return ehr === undefined && (collection === 'contributions' || collection === 'versions');
}

async function sealOwnersOf(leaves: readonly SealLeaf[]): Promise<number> {
  const owned: SealLeaf[] = [];
  for (const collection of ['contributions', 'versions'] as const) {
    const some = leaves.filter((leaf) => leaf.collection === collection);
    const owners = await ownedRecords(
      collection,
      some.map(({ id }) => id),
    );
    for (const leaf of some) {
      const ehr = owners.get(leaf.id);
      if (ehr !== undefined) owned.push({ ...leaf, ehr });
    }
  }
  if (owned.length > 0) await sealLeaves(owned);
  return owned.length;
}

async function sealEhrs(): Promise<number> {
  let sealed = 0;
  for await (const ids of inParts('ehrs')) {
    const leaves: SealLeaf[] = [];
    for await (const record of recordsById('ehrs', ids)) leaves.push(leafOf(record));
    await sealLeaves(leaves);
    sealed += leaves.length;
  }
  return sealed;
}

async function* inParts(collection: CollectionName): AsyncGenerator<string[]> {
  let part: string[] = [];
  for await (const id of allIds(collection)) {
    part.push(id);
    if (part.length < AT_ONCE) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
