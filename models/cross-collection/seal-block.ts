import mongoose from 'mongoose';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { COLLECTIONS, SEALED, type SealedCollection, type SealLeaf } from '../access/layout.js';
import { canonicalText, merkleRoot, NO_BLOCK, sha256 } from './seal-hash.js';

/** How far the sealing of records came that were written by releases without it. */
export interface SealPosition {
  readonly collection: SealedCollection;
  /** The last id, in ascending order. */
  readonly after: string;
}

/** One block of the chain (fields: docs/spec/storage.md#seal_blocks). */
export interface SealBlock {
  /** 1, 2, 3, … */
  readonly _id: number;
  readonly time: Date;
  /** `hash` of the block before. */
  readonly previous: string;
  /** `merkleRoot` of the leaves. */
  readonly root: string;
  /** Leaves of this block and of all before. */
  readonly total: number;
  /** null: all old records are sealed. */
  readonly old: SealPosition | null;
  /** `blockHash` of all of this. */
  readonly hash: string;
  readonly leaves: readonly SealLeaf[];
}

/** A block without its leaves. */
export type SealBlockHead = Omit<SealBlock, 'leaves'>;

/** A place in the chain, as kept elsewhere: `<block>:<hash>` as text. */
export interface SealHead {
  readonly block: number;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** Leaves of one block: its document stays far below the 16 MB of the database, and is quick to look through. */
export const MAX_LEAVES = 4_096;

/** The next block of a chain, with its root and hash. `last`: null begins one. */
export function nextBlock(
  last: SealBlockHead | null,
  content: Pick<SealBlock, 'time' | 'old' | 'leaves'>,
): SealBlock {
  const block = {
    _id: (last?._id ?? 0) + 1,
    previous: last?.hash ?? NO_BLOCK,
    total: (last?.total ?? 0) + content.leaves.length,
    ...content,
    root: rootOf(content.leaves),
  };
  return { ...block, hash: blockHash(block) };
}

/** Merkle root of leaves in hexadecimal: of where each record is, its hash, and its owner where that is sealed. */
export function rootOf(leaves: readonly SealLeaf[]): string {
  return merkleRoot(
    leaves.map(({ collection, id, attestations = 0, hash, ehr }) =>
      JSON.stringify([
        collection,
        id,
        attestations,
        hash.toString('hex'),
        ...(ehr === undefined ? [] : [ehr]),
      ]),
    ),
  );
}

/** SHA-256 of a block in hexadecimal: of its number, time, the block before, root and counts. */
export function blockHash({ _id, time, previous, root, total, old }: Omit<SealBlockHead, 'hash'>): string {
  return sha256(canonicalText({ block: _id, time, previous, root, total, old })).toString('hex');
}

/** The newest block without its leaves, which are many; null: nothing was ever sealed. */
export function newestBlock(): Promise<SealBlockHead | null> {
  return blocks().findOne<SealBlockHead>({}, { sort: { _id: -1 }, projection: { leaves: 0 } });
}

/** Seconds since the newest block was made; NaN: nothing was ever sealed. */
export async function sealAgeSeconds(): Promise<number> {
  const block = await newestBlock();
  return block === null ? NaN : (Date.now() - block.time.getTime()) / 1000;
}

/** The blocks after a number, in their order, as they are read. */
export async function* blocksAfter(number: number): AsyncGenerator<SealBlock> {
  const found = blocks()
    .find<SealBlock>({ _id: { $gt: number } }, { promoteBuffers: true, batchSize: 4 })
    .sort({ _id: 1 });
  for await (const block of found) yield readableBlock(block);
}

/** Somebody may have put anything into it: leaves that are none are left out, and miss in the root then. */
function readableBlock(block: SealBlock): SealBlock {
  const leaves: unknown = block.leaves;
  return { ...block, leaves: Array.isArray(leaves) ? leaves.filter(isLeaf) : [] };
}

/** Whether a stored value is a leaf. */
export function isLeaf(value: unknown): value is SealLeaf {
  const { collection, id, attestations, hash, ehr } = (value ?? {}) as Partial<
    Record<keyof SealLeaf, unknown>
  >;
  return (
    SEALED.some((name) => name === collection) &&
    typeof id === 'string' &&
    (attestations === undefined || Number.isInteger(attestations)) &&
    (ehr === undefined || typeof ehr === 'string') &&
    Buffer.isBuffer(hash)
  );
}

/** Adds a block. False: another process was faster with that number. */
export async function insertBlock(block: SealBlock): Promise<boolean> {
  try {
    await blocks().insertOne(block);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

function blocks(): mongoose.mongo.Collection<{ _id: number }> {
  return mongoose.connection.collection<{ _id: number }>(COLLECTIONS.sealBlocks);
}
