import { model, Schema, trusted } from 'mongoose';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './access/schema.js';
import type { RemoveWrite } from './access/write.js';

/** What somebody typed and has not committed. Fields: docs/spec/storage.md#other-collections. */
export interface DraftDoc {
  /** Owner and id, from `draftKey`: nobody reaches what is another's. */
  readonly _id: string;
  /** UUID that the client chose. */
  readonly draft_id: string;
  /** `sub` and `iss`, from `draftOwner`. */
  readonly owner: string;
  /** The EHR that it was written for; merges leave it as it is. */
  readonly ehr_id: string;
  readonly template_id: string;
  /** The version that it is to follow; null: a new COMPOSITION. */
  readonly version_uid: string | null;
  /** Container of that version. */
  readonly object_id?: string;
  /** FLAT as JSON. */
  readonly content: string;
  readonly saved_at: Date;
  /** From this time on it is not there any more. */
  readonly expires_at: Date;
}

/** A draft as lists have it. */
export type ListedDraft = Omit<DraftDoc, 'content'>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.drafts]: DraftDoc;
  }
}

const Draft = model(
  'Draft',
  new Schema<DraftDoc>(
    {
      _id: String,
      draft_id: String,
      owner: String,
      ehr_id: String,
      template_id: String,
      version_uid: String,
      object_id: String,
      content: String,
      saved_at: Date,
      expires_at: Date,
    },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.drafts,
);

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
  return Draft.findOne({ _id: key, expires_at: trusted({ $gt: now }) })
    .lean<DraftDoc>()
    .exec();
}

/** The drafts of an owner that are there at `now`, newest first, at most `count`. */
export function draftsOf(owner: string, now: Date, count: number): Promise<ListedDraft[]> {
  return Draft.find({ owner, expires_at: trusted({ $gt: now }) }, { content: 0 })
    .sort({ saved_at: -1, _id: 1 })
    .limit(count)
    .lean<ListedDraft[]>()
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
