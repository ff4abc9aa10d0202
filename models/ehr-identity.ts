import type mongoose from 'mongoose';
import { FIELD, LEAF_FIELD, type AqlLeaf } from '../aql/index/document.js';
import { ehrMatch } from '../aql/mongo/document/permitted-match.js';
import type { Condition } from '../policy/condition.js';
import type { EhrDoc } from './ehr.js';
import { identityKey, type Identity } from './identity.js';
import { COLLECTIONS } from './access/layout.js';
import type { UpdateWrite } from './access/write.js';
import { documents } from './access/documents.js';

/** What the search for EHRs of one person reads of an EHR. */
export type IdentifiedEhr = Pick<
  EhrDoc,
  '_id' | 'state' | 'subject' | 'identities' | 'merging' | 'write_seq'
> &
  Pick<EhrDoc, 'ehr_status_id'>;

/** What a list says of an EHR. */
export type ListedEhr = Pick<EhrDoc, '_id' | 'time_created' | 'subject' | 'is_queryable' | 'is_modifiable'>;

/** COMPOSITIONs of one EHR, and of all with one value, that are looked at for a configured path. */
const COMPOSITIONS_OF_EHR = 20;
const COMPOSITIONS_WITH_VALUE = 500;

const FIELDS = { state: 1, subject: 1, identities: 1, merging: 1, write_seq: 1, ehr_status_id: 1 } as const;

const LISTED_FIELDS = { time_created: 1, subject: 1, is_queryable: 1, is_modifiable: 1 } as const;

/** Active EHRs with this id, id of the subject or identifier, ascending by id; of more than `most` any. */
export async function activeEhrsNamed(name: string, most: number): Promise<ListedEhr[]> {
  const [byId, byIdentity] = await Promise.all([activeEhrNamed(name), activeEhrsIdentified(name, most)]);
  const found = new Map([...byId, ...byIdentity].map((ehr) => [ehr._id, ehr]));
  return [...found.values()].sort((a, b) => (a._id < b._id ? -1 : 1)).slice(0, most);
}

/** The active EHR with this id, or none. `seen`: what those are that are there for who asks; absent: all are. */
export function activeEhrNamed(name: string, seen?: Condition): Promise<ListedEhr[]> {
  return activeEhrs({ _id: name.toLowerCase() }, seen).toArray();
}

/**
 * Active EHRs with this id of the subject or identifier, at most `most`, in the order of the index: a value that a million share costs no
 * more than one that few do. `seen`: as for `activeEhrNamed`.
 */
export function activeEhrsIdentified(name: string, most: number, seen?: Condition): Promise<ListedEhr[]> {
  return ehrsIdentified(name, seen).limit(most).toArray();
}

/** All of them, at most `size` at a time, as long as somebody reads on. */
export async function* identifiedInParts(
  name: string,
  size: number,
  seen: Condition,
): AsyncGenerator<readonly ListedEhr[]> {
  const found = ehrsIdentified(name, seen).batchSize(size);
  try {
    while (await found.hasNext()) yield found.readBufferedDocuments(size);
  } finally {
    await found.close();
  }
}

function ehrsIdentified(name: string, seen?: Condition): mongoose.mongo.FindCursor<ListedEhr> {
  const keys = [identityKey('subject', name), identityKey('identifier', name)];
  return activeEhrs({ 'identities.key': { $in: keys } }, seen);
}

/** Active EHRs after an id, ascending, at most `count`. `seen`: as for `activeEhrNamed`. */
export function activeEhrsAfter(ehrId: string, count: number, seen?: Condition): Promise<ListedEhr[]> {
  return activeEhrs({ _id: { $gt: ehrId } }, seen)
    .sort({ _id: 1 })
    .hint('_id_')
    .limit(count)
    .toArray();
}

/** Those of these EHRs that are active, in no order. */
export function activeEhrsAmong(ehrIds: readonly string[]): Promise<ListedEhr[]> {
  return activeEhrs({ _id: { $in: [...ehrIds] } }).toArray();
}

/** Of these EHRs those that queries show. */
export async function queryableAmong(ehrIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (ehrIds.length === 0) return new Set();
  const shown = await activeEhrs({ _id: { $in: [...new Set(ehrIds)] }, is_queryable: true }).toArray();
  return new Set(shown.map(({ _id }) => _id));
}

function activeEhrs(
  filter: mongoose.mongo.Filter<EhrDoc>,
  seen?: Condition,
): mongoose.mongo.FindCursor<ListedEhr> {
  const narrowed = seen !== undefined && { $and: [ehrMatch(seen, '') as mongoose.mongo.Filter<EhrDoc>] };
  return ehrDocuments().find<ListedEhr>(
    { ...filter, state: 'active', ...narrowed },
    { projection: LISTED_FIELDS },
  );
}

/** EHRs after an id, ascending, at most `count`, whatever their state. */
export function identifiedEhrsAfter(ehrId: string, count: number): Promise<IdentifiedEhr[]> {
  return ehrDocuments()
    .find<IdentifiedEhr>({ _id: { $gt: ehrId } }, { projection: FIELDS, hint: '_id_' })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
}

/** The EHRs with these ids that are there, in no order. */
export function identifiedEhrs(ehrIds: readonly string[]): Promise<IdentifiedEhr[]> {
  return ehrDocuments()
    .find<IdentifiedEhr>({ _id: { $in: [...ehrIds] } }, { projection: FIELDS, hint: '_id_' })
    .toArray();
}

/** EHRs with an identity of this key, at most `most`. Tombstones have none. */
export function ehrsWithIdentity(key: string, most: number): Promise<IdentifiedEhr[]> {
  return ehrDocuments()
    .find<IdentifiedEhr>({ 'identities.key': key }, { projection: FIELDS })
    .limit(most)
    .toArray();
}

/** The different leaves with one of these keys in the live COMPOSITIONs of an EHR that hold the archetype. */
export async function leavesOfEhr(
  ehrId: string,
  archetypeId: string,
  leafKeys: readonly string[],
): Promise<AqlLeaf[]> {
  const filter = { [FIELD.keys]: archetypeId, [FIELD.ehrId]: ehrId, [FIELD.isLatest]: true };
  const wanted = { $in: [`$$this.${LEAF_FIELD.key}`, [...leafKeys]] };
  const leaves = { $filter: { input: `$${FIELD.leaves}`, cond: wanted } };
  const docs = await aqlDocuments()
    .find<{ lv: readonly AqlLeaf[] }>(filter, { projection: { _id: 0, [FIELD.leaves]: leaves } })
    .limit(COMPOSITIONS_OF_EHR)
    .toArray();
  const different = new Map(docs.flatMap(({ lv }) => lv.map((leaf) => [JSON.stringify(leaf), leaf])));
  return [...different.values()];
}

/** Ids of EHRs in which a live COMPOSITION has this leaf, each once, in no order. */
export async function ehrIdsWithLeaf(leaf: AqlLeaf): Promise<string[]> {
  const filter = {
    [FIELD.isLatest]: true,
    [FIELD.leaves]: { $elemMatch: { [LEAF_FIELD.key]: leaf.k, [LEAF_FIELD.value]: leaf.v } },
  };
  const docs = await aqlDocuments()
    .find<{ ehr: string }>(filter, { projection: { _id: 0, [FIELD.ehrId]: 1 } })
    .limit(COMPOSITIONS_WITH_VALUE)
    .toArray();
  return [...new Set(docs.map(({ ehr }) => ehr))];
}

/** Stores what was derived while nothing else was written to the EHR; gives how many of them it was stored for. */
export async function saveIdentities(
  derived: readonly { readonly ehr: IdentifiedEhr; readonly identities: readonly Identity[] }[],
): Promise<number> {
  if (derived.length === 0) return 0;
  const { matchedCount } = await ehrDocuments().bulkWrite(
    derived.map(({ ehr, identities }) => ({
      updateOne: {
        filter: { _id: ehr._id, state: 'active', write_seq: ehr.write_seq },
        update: { $set: { identities } },
      },
    })),
    { ordered: false },
  );
  return matchedCount;
}

/** What the EHR_STATUS of an EHR that comes back says of its patient: an older release may have archived the EHR. */
export function identifyEhr(ehrId: string, identities: readonly Identity[]): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId, state: 'active' },
    update: { $set: { identities } },
    matching: 'one',
  };
}

function ehrDocuments(): mongoose.mongo.Collection<EhrDoc> {
  return documents<EhrDoc>(COLLECTIONS.ehrs);
}

function aqlDocuments(): mongoose.mongo.Collection<{ _id: string }> {
  return documents<{ _id: string }>(COLLECTIONS.aql);
}
