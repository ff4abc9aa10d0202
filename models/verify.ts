import mongoose from 'mongoose';
import type { ContributionDoc } from './contribution.js';
import type { EhrDoc } from './ehr.js';
import type { ItemTagDoc } from './item-tag.js';
import { COLLECTIONS, type CollectionName } from './layout.js';
import type { AqlDocument } from '../aql/index/document.js';
import { inSteps } from './merge-content.js';
import type { VersionDoc } from './version.js';

/** The EHRs after an id, whatever their state, ascending, at most `count`. */
export function ehrsAfter(ehrId: string, count: number): Promise<EhrDoc[]> {
  return mongoose.connection
    .collection<EhrDoc>(COLLECTIONS.ehrs)
    .find({ _id: { $gt: ehrId } })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
}

/** About how many EHRs there are. */
export function ehrCount(): Promise<number> {
  return mongoose.connection.collection(COLLECTIONS.ehrs).estimatedDocumentCount();
}

/** All versions of these containers with their content, oldest first. */
export function versionsOf(ehrId: string, versionedObjectUids: readonly string[]): Promise<VersionDoc[]> {
  return mongoose.connection
    .collection<VersionDoc>(COLLECTIONS.versions)
    .find<VersionDoc>({ ehr_id: ehrId, object_id: { $in: [...versionedObjectUids] } })
    .sort({ object_id: 1, version: 1 })
    .toArray();
}

/** All derived documents of these containers. */
export function aqlDocumentsOf(
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<AqlDocument[]> {
  return mongoose.connection
    .collection<AqlDocument>(COLLECTIONS.aql)
    .find<AqlDocument>({ ehr: ehrId, vo: { $in: [...versionedObjectUids] } })
    .toArray();
}

/** What is validated of a CONTRIBUTION; `authenticated` as it is stored, whatever that may be. */
export type ContributionFacts = Pick<ContributionDoc, '_id' | 'versions'> & {
  readonly authenticated?: unknown;
};

/** CONTRIBUTIONs of an EHR without their audits, as they are read. */
export function contributionsOf(ehrId: string): AsyncIterable<ContributionFacts> {
  return mongoose.connection
    .collection<ContributionDoc>(COLLECTIONS.contributions)
    .find<ContributionFacts>({ ehr_id: ehrId }, { projection: { versions: 1, authenticated: 1 } });
}

/** Item tags of an EHR, as they are read. */
export function itemTagsOf(ehrId: string): AsyncIterable<ItemTagDoc> {
  return mongoose.connection
    .collection<ItemTagDoc>(COLLECTIONS.itemTags)
    .find<ItemTagDoc>({ owner_id: ehrId });
}

/** Field that holds the owner of the documents of a collection. */
const OWNER = {
  [COLLECTIONS.versionedObjects]: 'ehr_id',
  [COLLECTIONS.versions]: 'ehr_id',
  [COLLECTIONS.contributions]: 'ehr_id',
  [COLLECTIONS.aql]: 'ehr',
  [COLLECTIONS.itemTags]: 'owner_id',
} as const satisfies Partial<Record<CollectionName, string>>;

/** A collection whose documents belong to an EHR. */
export type OwnedCollection = keyof typeof OWNER;

/** Collections whose documents belong to an EHR. */
export const OWNED_COLLECTIONS = Object.keys(OWNER) as OwnedCollection[];

/** How many documents of a collection an EHR owns. */
export function ownedCount(name: OwnedCollection, ehrId: string): Promise<number> {
  return mongoose.connection.collection(name).countDocuments({ [OWNER[name]]: ehrId });
}

/** Object ids that the versions or derived documents of an EHR name. */
export async function versionedObjectUidsIn(name: 'versions' | 'aql', ehrId: string): Promise<string[]> {
  const [owner, object] = name === 'versions' ? ['ehr_id', 'object_id'] : ['ehr', 'vo'];
  const groups = await mongoose.connection
    .collection(name)
    .aggregate<{ _id: string }>([{ $match: { [owner]: ehrId } }, { $group: { _id: `$${object}` } }])
    .toArray();
  return groups.map(({ _id }) => _id);
}

/** Owners that documents of a collection name although no EHR has that id. */
export async function unknownOwners(name: OwnedCollection): Promise<string[]> {
  const ehrs = mongoose.connection.collection<EhrDoc>(COLLECTIONS.ehrs);
  const owners = mongoose.connection
    .collection(name)
    .aggregate<{ _id: string }>([{ $group: { _id: `$${OWNER[name]}` } }], { allowDiskUse: true });
  const unknown: string[] = [];
  const validate = async (ids: readonly string[]): Promise<void> => {
    const known = await ehrs.distinct('_id', { _id: { $in: [...ids] } } as object);
    const found = new Set<unknown>(known);
    unknown.push(...ids.filter((id) => !found.has(id)));
  };
  let batch: string[] = [];
  for await (const { _id } of owners) {
    batch.push(_id);
    if (batch.length < 1_000) continue;
    await validate(batch);
    batch = [];
  }
  await validate(batch);
  return unknown;
}

/** Subjects that more than one EHR has, as `<namespace> <number of EHRs>`; never the subject's id. */
export async function sharedSubjects(): Promise<{ readonly ehrIds: readonly string[] }[]> {
  return mongoose.connection
    .collection(COLLECTIONS.ehrs)
    .aggregate<{ ehrIds: string[] }>(
      [
        { $match: { 'subject.id': { $exists: true } } },
        { $group: { _id: '$subject', ehrIds: { $push: '$_id' } } },
        { $match: { 'ehrIds.1': { $exists: true } } },
        { $project: { _id: 0, ehrIds: 1 } },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}

/** Who owns these containers, by object id; unknown ones are missing. */
export async function ownersOf(versionedObjectUids: readonly string[]): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  const containers = mongoose.connection.collection<{ _id: string; ehr_id: string }>(
    COLLECTIONS.versionedObjects,
  );
  for (const part of inSteps(versionedObjectUids)) {
    const found = containers.find({ _id: { $in: part } }, { projection: { ehr_id: 1 } });
    for await (const { _id, ehr_id: ehrId } of found) owners.set(_id, ehrId);
  }
  return owners;
}

/** Those of these ids that a collection does not hold. */
export async function missingIds(name: CollectionName, ids: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const part of inSteps(ids)) {
    const known = await mongoose.connection
      .collection<{ _id: string }>(name)
      .distinct('_id', { _id: { $in: part } } as object);
    const found = new Set<unknown>(known);
    missing.push(...part.filter((id) => !found.has(id)));
  }
  return missing;
}

/** Ids of the templates that are noted as used. */
export async function usedTemplateIds(): Promise<Set<string>> {
  const ids = await mongoose.connection
    .collection<{ _id: string; used: boolean }>(COLLECTIONS.templates)
    .distinct('_id', { used: true });
  return new Set(ids);
}

/** How many documents of each kind the archives of merges hold, by merge id. */
export async function archivedKinds(): Promise<Map<string, Readonly<Record<string, number>>>> {
  const groups = await mongoose.connection
    .collection(COLLECTIONS.mergeArchive)
    .aggregate<{ _id: { merge: string; kind: string }; count: number }>(
      [{ $group: { _id: { merge: '$merge_id', kind: '$kind' }, count: { $sum: 1 } } }],
      { allowDiskUse: true },
    )
    .toArray();
  const kinds = new Map<string, Record<string, number>>();
  for (const { _id, count } of groups) {
    kinds.set(_id.merge, { ...kinds.get(_id.merge), [_id.kind]: count });
  }
  return kinds;
}
