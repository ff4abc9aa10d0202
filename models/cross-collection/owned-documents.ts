import mongoose, { type ClientSession } from 'mongoose';
import { memoizedAnswer } from '../../openehr/base/maps.js';
import { inSteps } from '../access/in-steps.js';
import { COLLECTIONS, type CollectionName } from '../access/layout.js';
import type { Documents } from '../access/write.js';
import { documents } from '../access/documents.js';

/** Field that holds the owner of the documents of a collection: the ehr_id. On a sharded cluster the shard key. */
export const OWNER = {
  [COLLECTIONS.versionedObjects]: 'ehr_id',
  [COLLECTIONS.versions]: 'ehr_id',
  [COLLECTIONS.contributions]: 'ehr_id',
  [COLLECTIONS.aql]: 'ehr',
  [COLLECTIONS.itemTags]: 'owner_id',
} as const satisfies { readonly [Name in CollectionName & keyof Documents]?: keyof Documents[Name] };

/** A collection whose documents belong to an EHR. */
export type OwnedCollection = keyof typeof OWNER;

/** Collections whose documents belong to an EHR. */
export const OWNED_COLLECTIONS = Object.keys(OWNER) as OwnedCollection[];

/** How many documents of a collection an EHR owns. */
export function ownedCount(name: OwnedCollection, ehrId: string): Promise<number> {
  return documents(name).countDocuments({ [OWNER[name]]: ehrId });
}

/** Owners that documents of a collection name although no EHR has that id, each with the id of one of the documents. */
export async function unknownOwners(name: OwnedCollection): Promise<Map<string, string>> {
  const ehrs = documents(COLLECTIONS.ehrs);
  const owners = documents(name).aggregate<{ _id: string; one: string }>(
    [{ $group: { _id: `$${OWNER[name]}`, one: { $min: '$_id' } } }],
    { allowDiskUse: true },
  );
  const unknown = new Map<string, string>();
  const validate = async (some: ReadonlyMap<string, string>): Promise<void> => {
    const known = await ehrs.distinct('_id', { _id: { $in: [...some.keys()] } });
    const found = new Set<unknown>(known);
    for (const [id, one] of some) if (!found.has(id)) unknown.set(id, one);
  };
  let batch = new Map<string, string>();
  for await (const { _id, one } of owners) {
    batch.set(_id, one);
    if (batch.size < 1_000) continue;
    await validate(batch);
    batch = new Map();
  }
  await validate(batch);
  return unknown;
}

/** Whose these documents are, by id, as they say themselves. */
export async function ownedRecords(
  name: 'contributions' | 'versions',
  ids: readonly string[],
): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const part of inSteps(ids)) {
    const found = documents<{ _id: string; ehr_id: string }>(name).find(
      { _id: { $in: part } },
      { projection: { ehr_id: 1 } },
    );
    for await (const { _id, ehr_id: ehrId } of found) owners.set(_id, ehrId);
  }
  return owners;
}

/** Two EHRs: documents of the one become the other's. */
export interface Owners {
  readonly from: string;
  readonly to: string;
}

/** Documents that get another owner. */
export interface Move<C extends OwnedCollection = OwnedCollection> extends Owners {
  readonly collection: C;
  /** Which of the owner's documents, by values of a field; absent: all. */
  readonly among?: { readonly field: keyof Documents[C] & string; readonly ids: readonly string[] };
  /** Further fields to set. */
  readonly set?: Partial<Documents[C]>;
}

/** Whether the database is a sharded cluster. */
export const behindRouter = memoizedAnswer(async () => {
  const hello = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  return hello.msg === 'isdbgrid';
});

/**
 * Gives documents another owner inside the session's transaction and returns how many. The value of a shard key only
 * changes document by document (docs/spec/storage.md#shards).
 */
export async function moveDocuments<C extends OwnedCollection>(
  session: ClientSession,
  move: Move<C>,
  isSharded: Promise<boolean> = behindRouter(),
): Promise<number> {
  const byDocument = await isSharded;
  const { among } = move;
  if (among === undefined) return moveMatching(session, move, {}, byDocument);
  let moved = 0;
  for (const part of inSteps(among.ids)) {
    moved += await moveMatching(session, move, { [among.field]: { $in: part } }, byDocument);
  }
  return moved;
}

async function moveMatching(
  session: ClientSession,
  { collection, from, to, set }: Pick<Move, 'collection' | 'from' | 'to'> & { readonly set?: object },
  condition: object,
  byDocument: boolean,
): Promise<number> {
  const target = documents<{ _id: string }>(collection);
  const owner = OWNER[collection];
  const filter = { [owner]: from, ...condition };
  const update = { $set: { [owner]: to, ...set } };
  if (!byDocument) return (await target.updateMany(filter, update, { session })).matchedCount;
  const docs = await target.find(filter, { session, projection: { _id: 1 } }).toArray();
  let moved = 0;
  for (const { _id } of docs) {
    moved += (await target.updateOne({ _id, [owner]: from }, update, { session })).matchedCount;
  }
  return moved;
}

/** Gives CONTRIBUTIONs another owner: all, or these. Returns how many. */
export function moveContributions(
  session: ClientSession,
  owners: Owners,
  ids?: readonly string[],
): Promise<number> {
  return moveDocuments(session, { collection: COLLECTIONS.contributions, ...owners, ...among('_id', ids) });
}

/** Gives item tags another owner: all, or those on these containers. Returns how many. */
export function moveItemTags(
  session: ClientSession,
  owners: Owners,
  versionedObjectUids?: readonly string[],
): Promise<number> {
  const on = among('target', versionedObjectUids);
  return moveDocuments(session, { collection: COLLECTIONS.itemTags, ...owners, ...on });
}

/**
 * Gives containers with their versions and derived documents another owner: all of COMPOSITIONs, or these. Returns how many containers.
 * `isQueryable`: of the new owner.
 */
export async function moveContainers(
  session: ClientSession,
  owners: Owners & { readonly isQueryable: boolean },
  versionedObjectUids?: readonly string[],
): Promise<number> {
  const { isQueryable, ...pair } = owners;
  const { versionedObjects, versions, aql } = COLLECTIONS;
  const moved = await moveDocuments(session, {
    collection: versionedObjects,
    ...pair,
    ...(versionedObjectUids === undefined
      ? { among: { field: 'type', ids: ['COMPOSITION'] } }
      : among('_id', versionedObjectUids)),
  });
  await moveDocuments(session, { collection: versions, ...pair, ...among('object_id', versionedObjectUids) });
  const set = { q: isQueryable };
  await moveDocuments(session, { collection: aql, ...pair, ...among('vo', versionedObjectUids), set });
  return moved;
}

function among<F extends string>(
  field: F,
  ids: readonly string[] | undefined,
): { readonly among?: { readonly field: F; readonly ids: readonly string[] } } {
  return ids === undefined ? {} : { among: { field, ids } };
}
