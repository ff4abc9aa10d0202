import { trusted } from 'mongoose';
import { COLLECTIONS } from './access/layout.js';
import { collection, date, nullable, optional, text, type DocumentOf } from './access/collection.js';
import type { RemoveWrite } from './access/write.js';

const DRAFT = {
  /** Owner and id, from `draftKey`: nobody reaches what is another's. */
  _id: text,
  /** UUID that the client chose. */
  draft_id: text,
  /** `sub` and `iss`, from `draftOwner`. */
  owner: text,
  /** The EHR that it was written for; merges leave it as it is. */
  ehr_id: text,
  template_id: text,
  /** The version that it is to follow; null: a new COMPOSITION. */
  version_uid: nullable(text),
  /** Container of that version. */
  object_id: optional(text),
  /** FLAT as JSON. */
  content: text,
  saved_at: date,
  /** From this time on it is not there any more. */
  expires_at: date,
};

/** What somebody typed and has not committed. Fields: docs/spec/storage.md#other-collections. */
export type DraftDoc = DocumentOf<typeof DRAFT>;

/** A draft as lists have it. */
export type ListedDraft = Omit<DraftDoc, 'content'>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.drafts]: DraftDoc;
  }
}

const Draft = collection(COLLECTIONS.drafts, DRAFT);

/** Whose drafts these are: a `sub` is unique only beside its `iss`. Without a user all have them together. */
export function draftOwner(
  user: { readonly subject: string; readonly issuer: string | null } | null,
): string {
  return JSON.stringify(user === null ? [] : [user.subject, user.issuer]);
}

/** `_id` of a draft. */
export function draftKey(owner: string, draftId: string): string {
  return JSON.stringify([owner, draftId]);
}

/** The draft with this key that is there at `now`, null when there is none. */
export function draftOf(key: string, now: Date): Promise<DraftDoc | null> {
  return Draft.findOne({ _id: key, expires_at: trusted({ $gt: now }) }).exec();
}

/** The drafts of an owner that are there at `now`, newest first, at most `count`. */
export function draftsOf(owner: string, now: Date, count: number): Promise<ListedDraft[]> {
  return Draft.find({ owner, expires_at: trusted({ $gt: now }) }, { content: 0 })
    .sort({ saved_at: -1, _id: 1 })
    .limit(count)
    .exec();
}

/** Stores a draft in place of the one with its key. Joins the caller's transaction. */
export async function putDraft({ _id, ...fields }: DraftDoc): Promise<void> {
  await Draft.replaceOne({ _id }, fields, { upsert: true }).exec();
}

/** Removes a draft. Joins the caller's transaction. */
export async function removeDraft(key: string): Promise<void> {
  await Draft.deleteOne({ _id: key }).exec();
}

/** Removes the drafts of EHRs. */
export function draftRemoval(ehrIds: readonly string[]): RemoveWrite<'drafts'> {
  return { collection: COLLECTIONS.drafts, remove: { ehr_id: { $in: ehrIds } } };
}

/** Removes the drafts of new versions of an object. */
export function draftRemovalOf(objectId: string): RemoveWrite<'drafts'> {
  return { collection: COLLECTIONS.drafts, remove: { object_id: objectId } };
}

/** Removes drafts that expired before `now`, for databases without a TTL monitor. Gives how many. */
export async function removeExpiredDrafts(now: Date): Promise<number> {
  const { deletedCount } = await Draft.deleteMany({ expires_at: trusted({ $lte: now }) }).exec();
  return deletedCount;
}
