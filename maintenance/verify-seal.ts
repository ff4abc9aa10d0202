import { randomBytes } from 'node:crypto';
import { SEALED, type SealedCollection } from '../models/access/layout.js';
import {
  blockHash,
  blocksAfter,
  rootOf,
  type SealBlock,
  type SealHead,
} from '../models/cross-collection/seal-block.js';
import { NO_BLOCK, sha256 } from '../models/cross-collection/seal-hash.js';
import { allIds, idsInTail, idText, recordsById } from '../models/cross-collection/seal-record.js';
import { hasBaseline } from '../models/cross-collection/state-note.js';
import { LeafCheck } from './verify-leaf.js';
import { Findings } from './verify-report.js';

/** Ids memoized at once; more are looked at in several passes over the blocks. */
const IDS_AT_ONCE = 4_000_000;
/** Suspected records validated together. */
const SUSPECTS = 500;

/** What the walk along the chain came to. */
interface Walk {
  /** Number of the last block. */
  last: number;
  leaves: number;
  /** false: blocks are missing, so nobody knows which records they held. */
  isWhole: boolean;
  /** Whether the records of releases without seals are all sealed. */
  isOldSealed: boolean;
}

/**
 * Walks along the chain of seals in bounded memory while others write, and validates blocks and the records in them,
 * then looks for records in no block. `since`: heads that must be in the chain. Without any block and head there is
 * nothing to validate.
 */
export async function checkSeals(since: readonly SealHead[]): Promise<Findings> {
  const found = new Findings();
  const leaves = new LeafCheck(found);
  const walk: Walk = { last: 0, leaves: 0, isWhole: true, isOldSealed: false };
  let previous = NO_BLOCK;
  let blocks = 0;
  for await (const block of blocksAfter(0)) {
    checkBlock(found, walk, block, previous);
    const isOther = ({ block: number, hash }: SealHead): boolean =>
      number === block._id && hash !== blockHash(block);
    if (since.some(isOther)) addBroken(found, block._id, 'it has another hash than the head that was kept');
    await leaves.check(block);
    previous = block.hash;
    walk.last = block._id;
    walk.leaves += block.leaves.length;
    walk.isOldSealed = block.old === null;
    blocks += 1;
  }
  const last = Math.max(0, ...since.map(({ block }) => block));
  if (last > walk.last) addMissing(found, walk, walk.last + 1, last);
  if (blocks === 0) return found;
  found.count('seal_blocks', blocks);
  await leaves.finish(walk.last);
  if (walk.isWhole && walk.isOldSealed) await checkInserted(found, walk);
  return found;
}

/** A block is what it says, and names the one before. */
function checkBlock(found: Findings, walk: Walk, block: SealBlock, previous: string): void {
  const number = block._id;
  if (Number.isInteger(number) && number > walk.last + 1) addMissing(found, walk, walk.last + 1, number - 1);
  else if (number !== walk.last + 1) addBroken(found, number, 'it has no number of a block');
  else if (block.previous !== previous) addBroken(found, number, 'it does not name the block before');
  if (blockHash(block) !== block.hash) addBroken(found, number, 'its hash is not that of the block');
  if (rootOf(block.leaves) !== block.root) addBroken(found, number, 'its records are not those of its hash');
}

function addMissing(found: Findings, walk: Walk, first: number, last: number): void {
  walk.isWhole = false;
  addBroken(found, first, first === last ? 'the block is missing' : `the blocks up to ${last} are missing`);
}

function addBroken(found: Findings, block: number, message: string): void {
  found.add('chain-broken', String(block), `seal_blocks: ${message}`);
}

/** Records that no block holds although the sealer is done with them. */
async function checkInserted(found: Findings, walk: Walk): Promise<void> {
  const passes = Math.ceil(walk.leaves / IDS_AT_ONCE) || 1;
  for (let pass = 0; pass < passes; pass += 1) {
    const sealed = new IdSet(Math.ceil(walk.leaves / passes) + 1, { pass, passes });
    for await (const { _id, leaves } of blocksAfter(0)) {
      if (_id > walk.last) break;
      for (const { collection, id } of leaves) sealed.add(`${collection} ${id}`);
    }
    // Of older databases EHRs are sealed by an upgrade.
    const isComplete = await hasBaseline();
    for (const collection of SEALED)
      if (collection !== 'ehrs' || isComplete) await checkCollection(found, { collection, sealed, walk });
  }
}

interface Search {
  readonly collection: SealedCollection;
  readonly sealed: IdSet;
  readonly walk: Walk;
}

async function checkCollection(found: Findings, search: Search): Promise<void> {
  const { collection, sealed } = search;
  let suspects: string[] = [];
  const validate = async (): Promise<void> => {
    for (const id of await unsealedIds(search, suspects))
      found.add('inserted', idText(id), `${collection}: it is in no block`);
    suspects = [];
  };
  for await (const id of allIds(collection)) {
    if (sealed.mayHold(`${collection} ${id}`)) continue;
    suspects.push(id);
    if (suspects.length === SUSPECTS) await validate();
  }
  await validate();
}

/**
 * Of records that the walk did not meet, those that are there, without mark and in no block. In this order: what had
 * no mark when it was asked is in a block by then.
 */
async function unsealedIds(
  { collection, walk }: Pick<Search, 'collection' | 'walk'>,
  suspects: readonly string[],
): Promise<string[]> {
  if (suspects.length === 0) return [];
  const waiting = await idsInTail(collection, suspects);
  const left = new Set(suspects.filter((id) => !waiting.has(id)));
  if (left.size === 0) return [];
  for await (const { leaves } of blocksAfter(walk.last)) for (const { id } of leaves) left.delete(id);
  const present: string[] = [];
  for await (const { doc } of recordsById(collection, [...left])) present.push(doc._id);
  return present;
}

const BYTES = 6;

/**
 * Ids by 48 bits of a salted hash, 16 bytes each, so that millions fit. An id that was never added is taken for one
 * with a chance of one in ten million or less, which nobody can work towards, for the salt is made anew each time.
 * With several passes each set keeps its share of the ids and takes the others for held.
 */
class IdSet {
  readonly #slots: Float64Array;
  readonly #salt = randomBytes(16).toString('hex');
  readonly #share: { readonly pass: number; readonly passes: number };

  /** `size`: ids that the share holds, about. */
  constructor(size: number, share: { readonly pass: number; readonly passes: number }) {
    // With room for shares that are uneven.
    this.#slots = new Float64Array(Math.ceil(size * 2.2) + 16);
    this.#share = share;
  }

  /** Adds an id of the share; others are left out. */
  add(id: string): void {
    const mark = this.#mark(id);
    if (mark !== null) this.#slots[this.#slot(mark)] = mark;
  }

  /** false: it is of the share and was not added. */
  mayHold(id: string): boolean {
    const mark = this.#mark(id);
    return mark === null || this.#slots[this.#slot(mark)] === mark;
  }

  /** Never 0, which stands for an empty slot. */
  #mark(id: string): number | null {
    const mark = sha256(this.#salt + id).readUIntBE(0, BYTES) + 1;
    return mark % this.#share.passes === this.#share.pass ? mark : null;
  }

  /** The place of a mark, or the free one where it would be. */
  #slot(mark: number): number {
    let slot = Math.floor(mark / this.#share.passes) % this.#slots.length;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== mark) slot = (slot + 1) % this.#slots.length;
    return slot;
  }
}
