import type { AuditDoc } from '../audit.js';
import { listedUids, type ContributionDoc } from '../contribution.js';
import type { EhrDoc } from '../ehr.js';
import { inSteps } from '../access/in-steps.js';
import { COLLECTIONS, type CollectionName, type SealedCollection, type SealLeaf } from '../access/layout.js';
import type { RemovalDoc } from '../removal.js';
import { blocksAfter, type SealPosition } from './seal-block.js';
import { auditLeaf, contributionLeaf, ehrLeaf, listOf, removalLeaf, versionLeaf } from './seal-hash.js';
import type { VersionDoc } from '../version.js';
import { versionAsFound, type StoredVersion } from '../version-text.js';
import { documents } from '../access/documents.js';

/** What the documents of each sealed collection are. */
export interface SealedRecords {
  readonly contributions: ContributionDoc;
  readonly versions: VersionDoc;
  readonly audit: AuditDoc;
  readonly removals: RemovalDoc;
  readonly ehrs: EhrDoc;
}

/** A record with the collection it is of. */
export type SealedRecord = {
  [Name in SealedCollection]: { readonly collection: Name; readonly doc: SealedRecords[Name] };
}[SealedCollection];

/** Collections whose new records carry the mark `unsealed`; VERSIONs go with their CONTRIBUTION. */
export const MARKED = [COLLECTIONS.contributions, COLLECTIONS.audit, COLLECTIONS.removals] as const;

/** A collection whose new records carry the mark. */
export type MarkedCollection = (typeof MARKED)[number];

/** Documents of one answer of the database: VERSIONs may have megabytes. */
const BATCH = 50;
/** Ids of one question for documents that may be large. */
const STEP = 500;

/** SHA-256 of a record as a block holds it. `attestations`: those of a VERSION that count. */
export function recordHash({ collection, doc }: SealedRecord, attestations: number): Buffer {
  switch (collection) {
    case 'contributions':
      return contributionLeaf(doc);
    case 'versions':
      return versionLeaf(doc, attestations);
    case 'audit':
      return auditLeaf(doc);
    case 'removals':
      return removalLeaf(doc);
    case 'ehrs':
      return ehrLeaf(doc);
  }
}

/** An id as text: what somebody put in by hand may have another one. */
export function idText(id: unknown): string {
  return String(id);
}

/** ATTESTATIONs of a record; 0 for what is no VERSION. */
export function attestationCount({ collection, doc }: SealedRecord): number {
  return collection === 'versions' ? listOf(doc.attestations).length : 0;
}

/** The records of a collection with these ids as they are read, in no order. */
export async function* recordsById(
  collection: SealedCollection,
  ids: readonly string[],
): AsyncGenerator<SealedRecord> {
  for (const part of inSteps(ids, STEP)) {
    const found = documents(collection).find({ _id: { $in: part } }, { batchSize: BATCH });
    for await (const doc of found) yield sealedRecord(collection, doc);
  }
}

function sealedRecord(collection: SealedCollection, doc: object): SealedRecord {
  if (collection === 'versions') return { collection, doc: versionAsFound(doc as StoredVersion) };
  return { collection, doc } as SealedRecord;
}

/** The leaf of a record as it is found. Whose it is stands in the leaf that its commit made. */
export function leafOf(record: SealedRecord): SealLeaf {
  const attestations = attestationCount(record);
  const { collection } = record;
  const hash = recordHash(record, attestations);
  return { collection, id: idText(record.doc._id), ...(attestations > 0 && { attestations }), hash };
}

/**
 * What the sealer needs of a new CONTRIBUTION: that it is new, and the hashes of it, of the versions (`leafOf` each) and of the EHR that
 * it made.
 */
export function sealMarks(
  contribution: ContributionDoc,
  ofVersions: readonly SealLeaf[],
  ehr: EhrDoc | null,
): Pick<ContributionDoc, 'unsealed' | 'leaves'> {
  const ofContribution = leafOf({ collection: COLLECTIONS.contributions, doc: contribution });
  const leaves = [
    ...[ofContribution, ...ofVersions].map((leaf) => ({ ...leaf, ehr: contribution.ehr_id })),
    ...(ehr === null ? [] : [leafOf({ collection: COLLECTIONS.ehrs, doc: ehr })]),
  ];
  return { unsealed: true, leaves };
}

/** The leaves of these records in all blocks, by id, in the order of the chain. */
export async function leavesNaming(
  collection: SealedCollection,
  ids: ReadonlySet<string>,
): Promise<Map<string, SealLeaf[]>> {
  const found = new Map<string, SealLeaf[]>();
  for await (const { leaves } of blocksAfter(0))
    for (const leaf of leaves)
      if (leaf.collection === collection && ids.has(leaf.id))
        found.set(leaf.id, [...(found.get(leaf.id) ?? []), leaf]);
  return found;
}

/** Records that carry the mark, at most `count`; of a CONTRIBUTION only what its commit made for the sealer. */
export function unsealedRecords<Name extends MarkedCollection>(
  collection: Name,
  count: number,
): Promise<SealedRecords[Name][]> {
  return documents(collection)
    .find<SealedRecords[Name]>(
      // A record of a streamed answer is completed when the stream ends, and never changes afterwards.
      { unsealed: true, pending: { $exists: false } },
      {
        promoteBuffers: true,
        ...(collection === 'contributions' && { projection: { versions: 1, leaves: 1 } }),
      },
    )
    .limit(count)
    .toArray();
}

/** Uids of all VERSIONs with an ATTESTATION. */
export async function attestedVersionUids(): Promise<string[]> {
  const found = documents('versions').find<{ _id: string }>(
    { 'attestations.0': { $exists: true } },
    { projection: { _id: 1 } },
  );
  return (await found.toArray()).map(({ _id }) => _id);
}

/** The CONTRIBUTIONs that list one of these VERSIONs and wait for no sealer. */
export function contributionsListing(versionUids: readonly string[]): Promise<ContributionDoc[]> {
  return documents('contributions')
    .find<ContributionDoc>({ 'versions.uid': { $in: [...versionUids] }, unsealed: { $exists: false } })
    .toArray();
}

/** A streamed answer that did not end within this time never will: its server died. */
const PENDING_MS = 3_600_000;

/**
 * Completes records of the audit whose answer never ended, so that they are sealed like others. First of all, and by one
 * command each, since a record never changes once it was read to be sealed.
 */
export async function completeAbandoned(): Promise<void> {
  await documents<AuditDoc>('audit').updateMany(
    {
      unsealed: true,
      pending: { $exists: true },
      time: { $not: { $gte: new Date(Date.now() - PENDING_MS) } },
    },
    { $set: { outcome: 'interrupted' }, $unset: { pending: 1 } },
  );
}

/** Records of the audit whose answer has not ended, so that nothing seals them yet. */
export function pendingCount(): Promise<number> {
  return documents('audit').countDocuments({ unsealed: true, pending: { $exists: true } });
}

/** How many records carry the mark. */
export async function unsealedCount(): Promise<number> {
  let sum = 0;
  for (const name of MARKED) sum += await documents(name).countDocuments({ unsealed: true });
  return sum;
}

/** Takes the mark from records that a block holds. */
export async function removeMarks(collection: MarkedCollection, ids: readonly string[]): Promise<void> {
  for (const part of inSteps(ids)) {
    await documents(collection).updateMany(
      { _id: { $in: part }, unsealed: true },
      {
        $unset: { unsealed: 1, leaves: 1 },
      },
    );
  }
}

/** Old records without mark after a place, by id, at most `count`. */
export function recordsAfter<Name extends MarkedCollection>(
  { after }: SealPosition,
  collection: Name,
  count: number,
): Promise<SealedRecords[Name][]> {
  return documents(collection)
    .find<SealedRecords[Name]>({ _id: { $gt: after }, unsealed: { $exists: false } })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
}

/** Ids of all records of a collection, as they are read; out of the index alone. */
export async function* allIds(collection: CollectionName): AsyncGenerator<string> {
  const found = documents(collection).find({}, { projection: { _id: 1 }, hint: '_id_', batchSize: 10_000 });
  for await (const { _id } of found) yield _id;
}

/** Those of these ids that the sealer has still to look at: marked, or named by something that is. */
export async function idsInTail(collection: SealedCollection, ids: readonly string[]): Promise<Set<string>> {
  const among = { $in: [...ids] };
  const found = new Set<string>();
  if (collection === 'versions') {
    const listing = documents('contributions').find<ContributionDoc>({
      unsealed: true,
      'versions.uid': among,
    });
    for await (const contribution of listing) for (const uid of listedUids(contribution)) found.add(uid);
  } else if (collection === 'ehrs') {
    const making = documents('contributions').find<ContributionDoc>({ unsealed: true, 'leaves.id': among });
    for await (const { leaves } of making) for (const { id } of listOf(leaves)) found.add(id);
  } else {
    const marked = documents(collection).find({ unsealed: true, _id: among });
    for await (const { _id } of marked) found.add(_id);
  }
  const naming = documents('removals').find<RemovalDoc>({ unsealed: true, ids: among, collection });
  for await (const { ids: named } of naming) for (const id of listOf(named)) found.add(id);
  return found;
}
