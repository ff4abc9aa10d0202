import { trusted, type ClientSession } from 'mongoose';
import type { JsonObject } from '../openehr/base/json.js';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS, type SealLeaf } from './access/layout.js';
import { ownedBy } from './access/merge-job.js';
import type { RootType } from '../openehr/rm/root-type.js';
import {
  collection,
  date,
  listOf,
  mark,
  opaque,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import type { InsertWrite, RemoveWrite } from './access/write.js';
import { documents } from './access/documents.js';

/** Who sent the request that made a CONTRIBUTION, whatever it says of its committer. */
export interface RequestIdentity {
  /** `sub` of the token or name of the user; absent with `AUTH=none`. */
  readonly sub?: string;
  /** `iss` of the token, `basic` for a user with a password. */
  readonly iss?: string;
  /** The application: `azp` or `client_id` of the token. */
  readonly client_id?: string;
  readonly request_id: string;
}

const CONTRIBUTION = {
  /** HIER_OBJECT_ID, a UUID in lower case. */
  _id: text,
  ehr_id: text,
  time_committed: date,
  /** AUDIT_DETAILS. */
  audit: opaque<JsonObject>(),
  /** Never part of the CONTRIBUTION that clients read; absent when no request made it, and in older data. */
  authenticated: optional(opaque<RequestIdentity>()),
  /** The import that restored it, as it was made elsewhere; absent: it was committed here. */
  batch: optional(text),
  /** In the order of the commit; attested versions are listed too. */
  versions: listOf(opaque<{ readonly uid: string; readonly type: RootType }>()),
  /** Written with every new one; the sealer takes it away. */
  unsealed: optional(mark),
  /** While unsealed: the hashes of itself and of the versions that it made, so that the sealer need not read them. */
  leaves: optional(opaque<readonly SealLeaf[]>()),
};

/** One CONTRIBUTION (fields: docs/spec/storage.md#contributions). */
export type ContributionDoc = DocumentOf<typeof CONTRIBUTION>;

/** Uids of the versions that a stored CONTRIBUTION lists; without what somebody put among them that is none. */
export function listedUids({ versions }: Pick<ContributionDoc, 'versions'>): string[] {
  const listed: unknown = versions;
  const items = Array.isArray(listed)
    ? (listed as (ContributionDoc['versions'][number] | null | undefined)[])
    : [];
  return items.map((item) => item?.uid as unknown).filter((uid) => typeof uid === 'string');
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.contributions]: ContributionDoc;
  }
}

/** Collection `contributions`. */
export const Contribution = collection(COLLECTIONS.contributions, CONTRIBUTION);

/** One CONTRIBUTION of an EHR, null when it is unknown or another EHR's. */
export function contributionOf(ehrId: string, contributionUid: string): Promise<ContributionDoc | null> {
  return Contribution.findOne({ _id: contributionUid, ehr_id: ownedBy(ehrId) }).exec();
}

/** Ids of all CONTRIBUTIONs of an EHR, oldest first. */
export async function contributionIds(ehrId: string): Promise<string[]> {
  const rows = await Contribution.find({ ehr_id: ownedBy(ehrId) }, { _id: 1 })
    .sort({ time_committed: 1, _id: 1 })
    .exec();
  return rows.map((row) => row._id);
}

/** Id of the CONTRIBUTION of an EHR that was committed last, null when it has none. */
export async function newestContributionId(ehrId: string): Promise<string | null> {
  const newest = await Contribution.findOne({ ehr_id: ehrId }, { _id: 1 })
    .sort({ time_committed: -1 })
    .exec();
  return newest?._id ?? null;
}

/** A CONTRIBUTION as an overview shows it. */
export type NewContribution = Pick<
  ContributionDoc,
  '_id' | 'ehr_id' | 'time_committed' | 'audit' | 'versions'
>;

/**
 * The CONTRIBUTIONs that were stored last, newest first. In the order of storage, backwards: no index holds the time of
 * all of them, and one for this alone would cost every commit. `skipped`: how many newer ones are left out.
 */
export function newestContributions(count: number, skipped = 0): Promise<NewContribution[]> {
  return Contribution.find({}, { ehr_id: 1, time_committed: 1, audit: 1, versions: { $slice: 20 } })
    .sort({ $natural: -1 })
    .skip(skipped)
    .limit(count)
    .exec();
}

/** Whether a CONTRIBUTION uid is used, in whatever EHR. */
export async function contributionExists(contributionUid: string): Promise<boolean> {
  return (await Contribution.exists({ _id: contributionUid }).exec()) !== null;
}

/** Whether anything was ever committed to this database. */
export async function hasContributions(): Promise<boolean> {
  return (await Contribution.exists({}).exec()) !== null;
}

/** A CONTRIBUTION by what it lists. */
export type ContributionRefs = Pick<ContributionDoc, '_id' | 'versions'>;

/** CONTRIBUTIONs of an EHR without their audits, in no order, as they are read: there may be many. */
export function contributionRefs(session: ClientSession, ehrId: string): AsyncIterable<ContributionRefs> {
  return Contribution.collection.find<ContributionRefs>(
    { ehr_id: ehrId },
    { session, projection: { _id: 1, versions: 1 } },
  );
}

/** What is validated of a CONTRIBUTION; `authenticated` as it is stored, whatever that may be. */
export type ContributionFacts = ContributionRefs & { readonly authenticated?: unknown };

/** CONTRIBUTIONs of an EHR without their audits, as they are read. */
export function contributionsOf(ehrId: string): AsyncIterable<ContributionFacts> {
  return Contribution.collection.find<ContributionFacts>(
    { ehr_id: ehrId },
    { projection: { versions: 1, authenticated: 1 } },
  );
}

/** The CONTRIBUTIONs with these uids, whoever owns them, without their audits, in no order. */
export function contributionsByUid(contributionUids: readonly string[]): Promise<ContributionRefs[]> {
  return documents(COLLECTIONS.contributions)
    .find<ContributionRefs>(
      { _id: { $in: [...contributionUids] } },
      {
        projection: { _id: 1, versions: 1 },
      },
    )
    .toArray();
}

/**
 * The request that each of these CONTRIBUTIONs is of, whoever owns them; without those that are of none. Joins the caller's
 * transaction.
 */
export async function requestsOf(contributionUids: readonly string[]): Promise<Map<string, string>> {
  const requests = new Map<string, string>();
  for (const part of inSteps([...new Set(contributionUids)])) {
    const found = await Contribution.find({ _id: trusted({ $in: part }) }, { authenticated: 1 }).exec();
    for (const { _id, authenticated } of found)
      if (authenticated !== undefined) requests.set(_id, authenticated.request_id);
  }
  return requests;
}

/** Ids of the EHRs with CONTRIBUTIONs of these imports, as they are found; looks at every CONTRIBUTION. */
export async function* ehrIdsOfBatches(batches: readonly string[]): AsyncGenerator<string> {
  const groups = Contribution.collection.aggregate<{ _id: string }>(
    [{ $match: { batch: { $in: batches } } }, { $group: { _id: '$ehr_id' } }],
    { allowDiskUse: true },
  );
  for await (const { _id } of groups) yield _id;
}

/** Whether an EHR has CONTRIBUTIONs that are of none of these imports. Joins the caller's transaction. */
export async function hasContributionsBeside(ehrId: string, batches: readonly string[]): Promise<boolean> {
  const $and = batches.map((batch) => ({ batch: trusted({ $ne: batch }) }));
  const found = await Contribution.exists({ ehr_id: ehrId, $and }).exec();
  return found !== null;
}

/** CONTRIBUTIONs that an import has brought into an EHR. Joins the caller's transaction. */
export function countOfBatch(ehrId: string, batch: string): Promise<number> {
  return Contribution.countDocuments({ ehr_id: ehrId, batch }).exec();
}

/** The write that adds a CONTRIBUTION. */
export function contributionInsert(insert: ContributionDoc): InsertWrite<'contributions'> {
  return { collection: COLLECTIONS.contributions, insert };
}

/** Removes one CONTRIBUTION, or all of an EHR. */
export function contributionRemoval(ehrId: string, contributionUid?: string): RemoveWrite<'contributions'> {
  const one = contributionUid === undefined ? {} : { _id: contributionUid };
  return { collection: COLLECTIONS.contributions, remove: { ...one, ehr_id: ehrId } };
}
