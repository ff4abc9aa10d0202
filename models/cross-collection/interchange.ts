import type { ClientSession } from 'mongoose';
import { inSteps } from '../access/in-steps.js';
import { COLLECTIONS } from '../access/layout.js';
import { documents, type StoredDocument } from '../access/documents.js';
import { documentsIn } from '../access/one-snapshot.js';
import type { ContributionDoc } from '../contribution.js';
import type { TemplateDoc } from '../definition/template.js';
import type { EarlierRevision } from '../definition/template-revision.js';
import { isSameToken, sameTokenRange } from '../definition/template-token.js';
import type { EhrDoc } from '../ehr.js';
import { withoutBatch, type ItemTagDoc } from '../item-tag.js';
import type { ArchiveDoc } from '../merge/archive.js';
import type { MergeHistoryDoc } from '../merge/history.js';
import { movesOfContent } from '../merge/moves.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { VersionDoc } from '../version.js';
import { storedVersion, versionOf, type StoredVersion } from '../version-text.js';
import type { VersionedObjectDoc } from '../versioned-object.js';

/*
 * What an export of all versions reads. Every read takes the session of `inReadSession` and reads by `documentsIn`, so that a replica set answers all of
 * them as of one moment; on the embedded engine each read is of a moment of its own (docs/spec/interchange.md#one-moment).
 */

/** Collections whose documents travel as they are stored, in the order in which they are restored. */
export const OWN_COLLECTIONS = [
  COLLECTIONS.archetypes,
  COLLECTIONS.queryOwners,
  COLLECTIONS.categoryVersions,
  COLLECTIONS.policyVersions,
  COLLECTIONS.ehrMarks,
  COLLECTIONS.mergeArchive,
  COLLECTIONS.mergeRecords,
  COLLECTIONS.mergeHistory,
  COLLECTIONS.distinctPersons,
] as const;

/** A collection whose documents travel as they are stored. */
export type OwnCollection = (typeof OWN_COLLECTIONS)[number];

/** A document that travels as it is stored, with its collection. */
export interface OwnDocument {
  readonly collection: OwnCollection;
  readonly document: StoredDocument;
}

/** A merge that was taken back, as far as it is compared with what is here. */
export type UndoneMerge = Pick<MergeHistoryDoc, '_id' | 'source_ehr' | 'target_ehr'>;

/** The merge that was taken back, where a document is one; null: it is something else. What a file says of it may be anything. */
export function undoneMergeIn({ collection, document }: OwnDocument): UndoneMerge | null {
  const { _id, source_ehr: source, target_ehr: target } = document;
  if (collection !== COLLECTIONS.mergeHistory) return null;
  if (typeof source !== 'string' || typeof target !== 'string') return null;
  return { _id, source_ehr: source, target_ehr: target };
}

/** Documents of one answer of the database: they may have megabytes. */
export const LARGE_AT_ONCE = 50;
/** Objects whose versions are read together. */
const OBJECTS_AT_ONCE = 20;

/** An EHR in whatever state, null when there is none. */
export function exportedEhr(session: ClientSession, ehrId: string): Promise<EhrDoc | null> {
  return documentsIn<EhrDoc>(session, COLLECTIONS.ehrs).findOne({ _id: ehrId }, { session });
}

/** The EHRs whose merges, directly or through others, ended in this one, by id. */
export async function tombstonesOf(session: ClientSession, ehrId: string): Promise<EhrDoc[]> {
  const found: EhrDoc[] = [];
  for (let targets = [ehrId]; targets.length > 0;) {
    const docs = await documentsIn<EhrDoc>(session, COLLECTIONS.ehrs)
      .find({ merged_into: { $in: targets } }, { session })
      .toArray();
    targets = docs.map(({ _id }) => _id);
    found.push(...docs);
  }
  return found.sort((one, other) => (one._id < other._id ? -1 : 1));
}

/** The containers that a merged EHR keeps so that their ids stay taken, as they are stored. */
export function endedObjects(session: ClientSession, ehrId: string): Promise<StoredDocument[]> {
  return documentsIn(session, COLLECTIONS.versionedObjects)
    .find({ ehr_id: ehrId }, { session })
    .sort({ _id: 1 })
    .toArray();
}

/** Object ids of one kind in an EHR, in the order of their creation, some at a time. */
export async function* objectIds(
  session: ClientSession,
  ehrId: string,
  type: RootType,
): AsyncGenerator<string[]> {
  const found = documentsIn(session, COLLECTIONS.versionedObjects)
    .find<{ _id: string }>({ ehr_id: ehrId, type }, { session, projection: { _id: 1 } })
    .sort({ time_created: 1, _id: 1 });
  yield* inBatches(found, ({ _id }) => _id, OBJECTS_AT_ONCE);
}

/** Those CONTRIBUTIONs with these uids that an EHR has, oldest first. */
export async function contributionsNamed(
  session: ClientSession,
  ehrId: string,
  uids: readonly string[],
): Promise<ContributionDoc[]> {
  if (uids.length === 0) return [];
  return documentsIn<ContributionDoc>(session, COLLECTIONS.contributions)
    .find<ContributionDoc>({ _id: { $in: [...uids] }, ehr_id: ehrId }, { session })
    .sort({ time_committed: 1, _id: 1 })
    .toArray();
}

/** All CONTRIBUTIONs of an EHR, oldest first, as they are read. */
export function exportedContributions(session: ClientSession, ehrId: string): AsyncIterable<ContributionDoc> {
  return documentsIn<ContributionDoc>(session, COLLECTIONS.contributions)
    .find<ContributionDoc>({ ehr_id: ehrId }, { session })
    .sort({ time_committed: 1, _id: 1 });
}

/** Which EHRs have these CONTRIBUTIONs; those that are gone are missing. */
export async function contributionOwners(
  session: ClientSession,
  uids: readonly string[],
): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const part of inSteps(uids)) {
    const found = documentsIn<ContributionDoc>(session, COLLECTIONS.contributions).find<
      Pick<ContributionDoc, '_id' | 'ehr_id'>
    >({ _id: { $in: part } }, { session, projection: { ehr_id: 1 } });
    for await (const { _id, ehr_id: ehrId } of found) owners.set(_id, ehrId);
  }
  return owners;
}

/** Item tags of an EHR, by what they are on, as they are read. */
export function exportedTags(session: ClientSession, ehrId: string): AsyncIterable<ItemTagDoc> {
  return documentsIn<ItemTagDoc>(session, COLLECTIONS.itemTags)
    .find<ItemTagDoc>({ owner_id: ehrId }, { session })
    .sort({ target: 1, target_version: 1, key: 1, target_path: 1, _id: 1 });
}

/** The merges that dissolved these EHRs, each behind what it archived. */
export async function* mergesOf(
  session: ClientSession,
  sources: readonly string[],
): AsyncGenerator<OwnDocument> {
  const records = await documentsIn(session, COLLECTIONS.mergeRecords)
    .find({ source_ehr: { $in: [...sources] } }, { session })
    .sort({ _id: 1 })
    .toArray();
  for (const document of records) {
    const archived = documentsIn(session, COLLECTIONS.mergeArchive)
      .find({ merge_id: document._id }, { session, batchSize: LARGE_AT_ONCE })
      .sort({ _id: 1 });
    for await (const each of archived)
      yield { collection: COLLECTIONS.mergeArchive, document: unpacked(each) };
    yield { collection: COLLECTIONS.mergeRecords, document };
  }
}

/** Merges with one of these EHRs that were taken back, and what is said of pairs with one of them. */
export async function* historyOf(
  session: ClientSession,
  ehrIds: readonly string[],
): AsyncGenerator<OwnDocument> {
  const among = { $in: [...ehrIds] };
  const sides = {
    [COLLECTIONS.mergeHistory]: [{ source_ehr: among }, { target_ehr: among }],
    [COLLECTIONS.distinctPersons]: [{ ehr_id: among }, { other_ehr: among }],
  };
  for (const collection of [COLLECTIONS.mergeHistory, COLLECTIONS.distinctPersons] as const) {
    const found = documentsIn(session, collection)
      .find({ $or: sides[collection] }, { session })
      .sort({ _id: 1 });
    for await (const document of found) yield { collection, document };
  }
}

/** Documents of a small collection, by id. */
export async function* definitionsIn<T extends { readonly _id: string } = StoredDocument>(
  session: ClientSession,
  collection: 'templates' | 'archetypes' | 'stored_queries' | 'query_owners',
): AsyncGenerator<T> {
  const found = documentsIn(session, collection)
    .find<T>({}, { session, batchSize: LARGE_AT_ONCE })
    .sort({ _id: 1 });
  for await (const document of found) yield document;
}

/** Every version of the policies of access by their ids, the oldest first. */
export function exportedPolicyVersions(session: ClientSession): AsyncIterable<StoredDocument> {
  return documentsIn(session, COLLECTIONS.policyVersions)
    .find({}, { session })
    .sort({ policy_id: 1, version: 1 });
}

/** Every version of the map of categories, the oldest first. */
export function exportedCategoryVersions(session: ClientSession): AsyncIterable<StoredDocument> {
  return documentsIn(session, COLLECTIONS.categoryVersions).find({}, { session }).sort({ version: 1 });
}

/** Marks that were ever set on these EHRs, by the time when they were. */
export function exportedMarks(
  session: ClientSession,
  ehrIds: readonly string[],
): AsyncIterable<StoredDocument> {
  return documentsIn(session, COLLECTIONS.ehrMarks)
    .find({ ehr_id: { $in: [...ehrIds] } }, { session })
    .sort({ 'placed.time': 1, _id: 1 });
}

/** A template, however the white space of its id is stored; null: there is none. */
export async function exportedTemplate(
  session: ClientSession,
  templateId: string,
): Promise<TemplateDoc | null> {
  const templates = documentsIn<TemplateDoc>(session, COLLECTIONS.templates);
  const found = await templates.findOne({ _id: templateId }, { session });
  const range = sameTokenRange(templateId);
  if (found !== null || range === null) return found;
  for await (const template of templates.find({ _id: range }, { session }))
    if (isSameToken(template._id, templateId)) return template;
  return null;
}

/** The revisions of a template that are not the newest any more, oldest first. */
export function exportedRevisions(session: ClientSession, storedId: string): Promise<EarlierRevision[]> {
  return documentsIn<EarlierRevision>(session, COLLECTIONS.templateRevisions)
    .find<EarlierRevision>({ template_id: storedId }, { session })
    .sort({ created_timestamp: 1, _id: 1 })
    .toArray();
}

/** What is restored to an EHR, by collection. */
interface Restored {
  readonly ehrs: EhrDoc;
  readonly contributions: ContributionDoc;
  readonly versions: VersionDoc;
  readonly versioned_objects: VersionedObjectDoc;
  readonly item_tags: ItemTagDoc;
}

/** Documents with these ids that are there, whoever owns them, by id; of CONTRIBUTIONs without what the sealer needs. */
export async function storedBeside<Name extends keyof Restored>(
  collection: Name,
  ids: readonly string[],
): Promise<Map<string, Restored[Name]>> {
  const found = new Map<string, Restored[Name]>();
  for (const part of inSteps([...new Set(ids)])) {
    const docs = documents(collection).find(
      { _id: { $in: part } },
      { projection: { unsealed: 0, leaves: 0 } },
    );
    for await (const doc of docs) {
      const read: object = collection === 'versions' ? versionOf(doc as unknown as StoredVersion) : doc;
      found.set(doc._id, read as Restored[Name]);
    }
  }
  return found;
}

/** Documents with these ids that are there already, by id, as they travel. */
export async function storedOwn(
  collection: OwnCollection,
  ids: readonly string[],
): Promise<Map<string, StoredDocument>> {
  const found = await documents(collection)
    .find({ _id: { $in: [...ids] } })
    .toArray();
  return new Map(found.map((document) => [document._id, unpacked(document)]));
}

/** Stores documents as they were elsewhere, in the session's transaction. */
export async function insertOwn(
  session: ClientSession,
  collection: OwnCollection,
  travelled: readonly StoredDocument[],
): Promise<void> {
  if (travelled.length > 0) await documents(collection).insertMany(travelled.map(packed), { session });
}

/** A text that every merge, unmerge and move changes; null while one goes in steps. */
export async function movesSoFar(session: ClientSession): Promise<string | null> {
  const job = await documentsIn(session, COLLECTIONS.mergeJobs).findOne({}, { session });
  return job === null ? movesOfContent({ session }) : null;
}

/** With the text of an archived VERSION instead of its compressed form, and of an item tag without the import that brought it here. */
function unpacked(document: StoredDocument): StoredDocument {
  const { kind, body } = document as unknown as ArchiveDoc;
  if (kind === 'version') return { ...document, body: versionOf(body as StoredVersion) };
  if (kind !== 'tag') return document;
  return { ...document, body: withoutBatch(body as ItemTagDoc) };
}

/** The contrary of `unpacked`. */
function packed(document: StoredDocument): StoredDocument {
  const { kind, body } = document as unknown as ArchiveDoc;
  return kind === 'version' ? { ...document, body: storedVersion(body as VersionDoc) } : document;
}

async function* inBatches<D, T>(
  source: AsyncIterable<D>,
  take: (document: D) => T,
  size: number,
): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const document of source) {
    batch.push(take(document));
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
