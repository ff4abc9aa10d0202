import { CdrError } from '../../openehr/base/errors.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import {
  draftKey,
  draftOf,
  draftsOf,
  putDraft,
  removeDraft,
  type DraftDoc,
  type ListedDraft,
} from '../../models/draft.js';
import { viewing } from '../access/viewer.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { holdWritable, mergesTookTo, readableEhr } from '../commit/ehr-access.js';

/** How long a draft is there after it was saved last. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** Drafts of one list. */
const LISTED = 200;

/** Which draft of whom, in which EHR. */
export interface DraftAddress {
  readonly owner: string;
  readonly ehrId: string;
  readonly draftId: string;
}

/** What is saved of a form. */
export interface DraftContent {
  readonly templateId: string;
  readonly versionUid: string | null;
  /** FLAT as JSON. */
  readonly content: string;
}

/**
 * The newest drafts of an owner, each in the EHR that merges took its own one to, without those of VERSIONs that he may not read.
 */
export async function listDrafts(owner: string): Promise<ListedDraft[]> {
  const drafts = await draftsOf(owner, new Date(), LISTED);
  viewing.getStore()?.viewer?.narrowed();
  const listed = new Map<string, ListedDraft>();
  for (const before of new Set(drafts.map((draft) => draft.ehr_id))) {
    const ehrId = await mergesTookTo(before);
    if (ehrId === null) continue;
    const ofEhr = drafts.filter((draft) => draft.ehr_id === before);
    for (const draft of await readable(ehrId, ofEhr)) listed.set(draft._id, { ...draft, ehr_id: ehrId });
  }
  return drafts.flatMap(({ _id: key }) => listed.get(key) ?? []);
}

/** A draft of a change has what the VERSION says that it began with: who may not read that is not given it. */
async function readable<D extends ListedDraft>(ehrId: string, drafts: readonly D[]): Promise<D[]> {
  const viewer = viewing.getStore()?.viewer;
  const begunWith = drafts.flatMap(({ version_uid: uid }) => (uid === null ? [] : [uid]));
  if (viewer === undefined || begunWith.length === 0) return [...drafts];
  const seen = await viewer.readableAmong(ehrId, begunWith);
  return drafts.filter(({ version_uid: uid }) => uid === null || seen.has(uid));
}

/**
 * One draft. @throws not-found for an unknown or merged EHR, where the owner has no such draft in it, and where he may not read what it
 * began with
 */
export async function readDraft(address: DraftAddress): Promise<DraftDoc> {
  await readableEhr(address.ehrId);
  const [draft] = await readable(address.ehrId, [await knownDraft(address)]);
  if (draft === undefined) throw noDraft(address);
  return { ...draft, ehr_id: address.ehrId };
}

/**
 * Saves a draft, for 30 days from now on. Holds the EHR: none is left of one that is erased meanwhile.
 * @throws not-found for an unknown EHR; conflict for a merged one
 */
export async function saveDraft(
  { owner, ehrId, draftId }: DraftAddress,
  { templateId, versionUid, content }: DraftContent,
): Promise<DraftDoc> {
  const saved = new Date();
  const objectId = versionUid === null ? undefined : parseObjectVersionId(versionUid)?.versionedObjectUid;
  const draft: DraftDoc = {
    _id: draftKey(owner, draftId),
    draft_id: draftId,
    owner,
    ehr_id: ehrId,
    template_id: templateId,
    version_uid: versionUid,
    ...(objectId !== undefined && { object_id: objectId }),
    content,
    saved_at: saved,
    expires_at: new Date(saved.getTime() + KEPT_MS),
  };
  await inAuditedTransaction(
    async () => {
      await holdWritable(ehrId);
      await putDraft(draft);
    },
    () => ({ ehr_id: ehrId }),
  );
  return draft;
}

/** Removes a draft. @throws as `readDraft` */
export async function deleteDraft(address: DraftAddress): Promise<void> {
  await readableEhr(address.ehrId);
  const { _id: key } = await knownDraft(address);
  await inAuditedTransaction(
    () => removeDraft(key),
    () => ({ ehr_id: address.ehrId }),
  );
}

async function knownDraft({ owner, ehrId, draftId }: DraftAddress): Promise<DraftDoc> {
  const draft = await draftOf(draftKey(owner, draftId), new Date());
  if (draft === null || (await mergesTookTo(draft.ehr_id)) !== ehrId) throw noDraft({ ehrId, draftId });
  return draft;
}

function noDraft({ ehrId, draftId }: Pick<DraftAddress, 'ehrId' | 'draftId'>): CdrError {
  return new CdrError('not-found', `you have no draft ${draftId} in EHR ${ehrId}`);
}
