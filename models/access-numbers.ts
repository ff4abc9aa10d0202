import type { ClientSession } from 'mongoose';
import { documents } from './access/documents.js';
import { COLLECTIONS, type CollectionName } from './access/layout.js';

/** What tells one set of policies from another. */
export interface AccessNumbers {
  /** Of the last change of a policy; 0: there was none. */
  readonly policies: number;
  /** Whether there ever was a mark. */
  readonly hasMarks: boolean;
}

/** One document for both: each request asks for it, and nothing is found faster than one document by its id. */
interface StoredNumbers {
  readonly _id: string;
  /** Raised by every change of a policy: two of them never pass each other unseen. */
  readonly seq?: number;
  /** How often something was stored that asks for a category. */
  readonly held?: number;
  /** There are marks. */
  readonly marks?: true;
}

const ID = 'policies';
const numbers = () => documents<StoredNumbers>(COLLECTIONS.settings);

/** Holds all policies for the caller's transaction, so that a set is judged as it will be. */
export async function holdPolicies(session: ClientSession): Promise<void> {
  await numbers().updateOne({ _id: ID }, { $inc: { seq: 1 } }, { session, upsert: true });
}

/** Holds the map of categories for the caller's transaction, which changes no policy: whoever changes it tries again, or is tried again. */
export async function holdCategories(session: ClientSession): Promise<void> {
  await numbers().updateOne({ _id: ID }, { $inc: { held: 1 } }, { session, upsert: true });
}

/** Notes that there are marks, in the caller's transaction. */
export async function noteMarks(session: ClientSession): Promise<void> {
  await numbers().updateOne({ _id: ID }, { $set: { marks: true } }, { session, upsert: true });
}

/** As they are now. Not for use inside a transaction. */
export async function accessNumbers(): Promise<AccessNumbers> {
  return numbersOf(await numbers().findOne({ _id: ID }));
}

function numbersOf(stored: StoredNumbers | null): AccessNumbers {
  return { policies: stored?.seq ?? 0, hasMarks: stored?.marks === true };
}

/** Documents and the numbers, both of a read that began after they were asked for. */
export interface WithNumbers<T> {
  readonly found: T;
  readonly numbers: AccessNumbers;
}

/**
 * Documents with some ids that fit, and the numbers, in one command: what a command costs is more than what it reads. None of the ids is
 * that of the numbers. Not for use inside a transaction.
 */
export async function withAccessNumbers<D extends { readonly _id: string }>(
  name: CollectionName,
  match: object,
): Promise<WithNumbers<readonly D[]>> {
  const beside = { coll: COLLECTIONS.settings, pipeline: [{ $match: { _id: ID } }] };
  const all = await documents(name)
    .aggregate<D | StoredNumbers>([{ $match: match }, { $unionWith: beside }], { hint: '_id_' })
    .toArray();
  const stored = all.find((each): each is StoredNumbers => each._id === ID) ?? null;
  return { found: all.filter((each): each is D => each._id !== ID), numbers: numbersOf(stored) };
}
