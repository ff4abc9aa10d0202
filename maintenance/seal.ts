import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';
import type { AuditDoc } from '../models/audit.js';
import { listedUids, type ContributionDoc } from '../models/contribution.js';
import type { RemovalDoc } from '../models/removal.js';
import { SEALED, type SealedCollection, type SealLeaf } from '../models/access/layout.js';
import { withLease } from '../models/access/lease.js';
import { inSteps } from '../models/access/in-steps.js';
import {
  insertBlock,
  isLeaf,
  MAX_LEAVES,
  newestBlock,
  nextBlock,
  type SealBlock,
  type SealBlockHead,
  type SealHead,
  type SealPosition,
} from '../models/cross-collection/seal-block.js';
import { listOf, NO_BLOCK } from '../models/cross-collection/seal-hash.js';
import {
  completeAbandoned,
  leafOf,
  MARKED,
  pendingCount,
  recordsAfter,
  recordsById,
  removeMarks,
  unsealedCount,
  unsealedRecords,
  type MarkedCollection,
  type SealedRecord,
  type SealedRecords,
} from '../models/cross-collection/seal-record.js';

/** Where the chain of seals ends now. */
export interface SealState extends SealHead {
  /** Of the newest block; null before the first. */
  readonly time: Date | null;
  /** Records in all blocks; one that was attested later counts again. */
  readonly records: number;
  /** Records that wait for the sealer; its first run over an old database finds more. */
  readonly unsealed: number;
  /** Those of them that tell of an answer under way; they are sealed when it ends, or after an hour. */
  readonly pending: number;
}

/** Records with the mark looked at together. */
const AT_ONCE = 1_000;
/** How long a sealer that died keeps others away. */
const LEASE_MS = 10_000;
/** Notes that name records which are to be sealed. */
const NAMING: readonly RemovalDoc['kind'][] = ['restored', 'shortened', 'brought'];
/** Where the first sealing of an old database begins; VERSIONs go with their CONTRIBUTIONs. */
const BEGINNING: SealPosition = { collection: 'contributions', after: '' };

/** What one step seals. */
interface Batch {
  /** Marked records, whose mark goes. */
  readonly marked: Readonly<Record<MarkedCollection, readonly string[]>>;
  readonly records: readonly SealedRecord[];
  /** Of CONTRIBUTIONs and VERSIONs that were hashed when they were committed. */
  readonly hashed: readonly SealLeaf[];
  /** Further ids that belong to it: VERSIONs of CONTRIBUTIONs, what came back with an unmerge. */
  readonly named: ReadonlyMap<SealedCollection, ReadonlySet<string>>;
  readonly old: SealPosition | null;
  /** Nothing else was there. */
  readonly isEnd: boolean;
}

/**
 * The newest block of seals, to be kept where nobody who can write to the database can: `verify` checks against it.
 * Block 0 with a hash of zeros while nothing is sealed.
 */
export async function sealHead(): Promise<SealState> {
  const tail = { unsealed: await unsealedCount(), pending: await pendingCount() };
  const block = await newestBlock();
  if (block === null) return { block: 0, hash: NO_BLOCK, time: null, records: 0, ...tail };
  return { block: block._id, hash: block.hash, time: block.time, records: block.total, ...tail };
}

/**
 * Puts all records that no block holds yet into blocks, in bounded memory: CONTRIBUTIONs with their VERSIONs, audit
 * records, removals, and what releases without seals have left. Gives the number of blocks made; 0 too when another
 * process is at it. May end anywhere and be run by several: a record that gets into two blocks does no harm.
 * `isStopped` is asked before each step.
 */
export async function sealNewRecords(isStopped: () => boolean = () => false): Promise<number> {
  if (!(await hasWork())) return 0;
  try {
    return await withLease('seal', 'another process seals', () => sealAll(isStopped), LEASE_MS);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'conflict') return 0;
    throw error;
  }
}

/** How long an upgrade waits for sealers of servers. */
const WAIT_MS = 250;
const ATTEMPTS = 400;

/**
 * Adds leaves to the chain beside what the sealer finds, in blocks of their own. Waits while another process seals.
 * @throws conflict when one seals all the time
 */
export async function sealLeaves(leaves: readonly SealLeaf[]): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      await withLease('seal', 'another process seals', () => appendLeaves(leaves), LEASE_MS);
      return;
    } catch (error) {
      if (!(error instanceof CdrError && error.code === 'conflict') || attempts === ATTEMPTS) throw error;
      await setTimeout(WAIT_MS);
    }
  }
}

async function appendLeaves(leaves: readonly SealLeaf[]): Promise<void> {
  const last = await newestBlock();
  for (const block of blocksOf(last, last === null ? BEGINNING : last.old, leaves))
    if (!(await insertBlock(block))) throw new CdrError('conflict', 'another process seals');
}

/** Spares the lease, which is a write, where nothing is new. */
async function hasWork(): Promise<boolean> {
  const last = await newestBlock();
  return last === null || last.old !== null || (await unsealedCount()) > 0;
}

async function sealAll(isStopped: () => boolean): Promise<number> {
  await completeAbandoned();
  let last = await newestBlock();
  let made = 0;
  while (!isStopped()) {
    const batch = await nextBatch(last);
    if (batch === null) break;
    for (const block of blocksOf(last, batch.old, await leavesOf(batch))) {
      // Another process has taken over: it goes on from what it finds.
      if (!(await insertBlock(block))) return made;
      last = block;
      made += 1;
    }
    for (const name of MARKED) await removeMarks(name, batch.marked[name]);
    if (batch.isEnd) break;
  }
  return made;
}

/** Blocks for these leaves; one without leaves says that there are no more old records. `old` holds after the last. */
function* blocksOf(
  before: SealBlockHead | null,
  old: SealPosition | null,
  leaves: readonly SealLeaf[],
): Generator<SealBlock> {
  const position = before === null ? BEGINNING : before.old;
  const parts = inSteps(leaves, MAX_LEAVES);
  if (parts.length === 0 && old === null && position !== null) parts.push([]);
  let last = before;
  for (const [index, part] of parts.entries()) {
    const isEnd = index === parts.length - 1;
    const block = nextBlock(last, { time: new Date(), old: isEnd ? old : position, leaves: part });
    yield block;
    last = block;
  }
}

/** Marked records, and some of the old ones while there are any. null: nothing is left. */
async function nextBatch(last: SealBlockHead | null): Promise<Batch | null> {
  const contributions = await unsealedRecords('contributions', AT_ONCE);
  const audit = await unsealedRecords('audit', AT_ONCE);
  const removals = await unsealedRecords('removals', AT_ONCE);
  const marked = { contributions: idsOf(contributions), audit: idsOf(audit), removals: idsOf(removals) };
  const position = last === null ? BEGINNING : last.old;
  const old = position === null ? NO_OLD : await oldRecords(position);
  const counts = [contributions.length, audit.length, removals.length];
  if (position === null && counts.every((count) => count === 0)) return null;
  const all = {
    contributions: [...contributions, ...old.contributions],
    audit: [...audit, ...old.audit],
    removals,
  };
  // What is committed meanwhile waits for the next run, or a run would never end.
  const isEnd = old.next === null && counts.every((count) => count < AT_ONCE);
  return { marked, old: old.next, isEnd, ...recordsOf(all) };
}

/** Records of releases without seals, and the position after them. */
interface OldRecords {
  readonly contributions: readonly ContributionDoc[];
  readonly audit: readonly AuditDoc[];
  readonly next: SealPosition | null;
}

const NO_OLD: OldRecords = { contributions: [], audit: [], next: null };

async function oldRecords(position: SealPosition): Promise<OldRecords> {
  const isOfContributions = position.collection === 'contributions';
  const contributions = isOfContributions ? await recordsAfter(position, 'contributions', AT_ONCE) : [];
  const last = contributions.at(-1);
  if (last !== undefined) return { ...NO_OLD, contributions, next: { ...position, after: last._id } };
  const place: SealPosition = isOfContributions ? { collection: 'audit', after: '' } : position;
  const audit = await recordsAfter(place, 'audit', AT_ONCE);
  const end = audit.at(-1);
  return { ...NO_OLD, audit, next: end === undefined ? null : { ...place, after: end._id } };
}

function idsOf(docs: readonly { readonly _id: string }[]): string[] {
  return docs.map(({ _id }) => _id);
}

function isSealed(collection: string): collection is SealedCollection {
  return SEALED.some((name) => name === collection);
}

/** The records of a batch, and what else they bring with them. */
function recordsOf({
  contributions,
  audit,
  removals,
}: {
  readonly [Name in MarkedCollection]: readonly SealedRecords[Name][];
}): Pick<Batch, 'records' | 'hashed' | 'named'> {
  // Somebody may have put anything there.
  const hashed = contributions.flatMap(({ leaves }) => listOf(leaves).filter(isLeaf));
  const known = new Set(hashed.map(({ id }) => id));
  const named = new Map<SealedCollection, Set<string>>([
    ['contributions', new Set(idsOf(contributions).filter((id) => !known.has(id)))],
    ['versions', new Set(contributions.flatMap(versionsToRead))],
  ]);
  for (const { kind, collection, ids } of removals) {
    if (!NAMING.includes(kind) || !isSealed(collection)) continue;
    named.set(collection, new Set([...(named.get(collection) ?? []), ...listOf(ids)]));
  }
  return {
    hashed,
    named,
    records: [
      ...audit.map((doc) => ({ collection: 'audit', doc }) as const),
      ...removals.map((doc) => ({ collection: 'removals', doc }) as const),
    ],
  };
}

/**
 * VERSIONs that a CONTRIBUTION lists and has not hashed itself. An attested one is read again even when the CONTRIBUTION that
 * made it is of the same batch: its leaf was made without the ATTESTATION.
 */
function versionsToRead(contribution: ContributionDoc): string[] {
  const own = new Set(listOf(contribution.leaves).flatMap((leaf) => (isLeaf(leaf) ? [leaf.id] : [])));
  return listedUids(contribution).filter((uid) => !own.has(uid));
}

/** The leaves of a batch by collection, id and ATTESTATIONs: what has to be read and is gone already has none. */
async function leavesOf({ records, hashed, named }: Batch): Promise<SealLeaf[]> {
  const leaves = [...records.map(leafOf), ...hashed];
  for (const [collection, ids] of named)
    for await (const record of recordsById(collection, [...ids])) leaves.push(leafOf(record));
  return leaves.sort(
    (one, other) =>
      inOrder(one.collection, other.collection) ||
      inOrder(one.id, other.id) ||
      (one.attestations ?? 0) - (other.attestations ?? 0),
  );
}

function inOrder(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
