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

/** The newest drafts of an owner, each in the EHR that merges took its own one to. */
export async function listDrafts(owner: string): Promise<ListedDraft[]> {
  const drafts = await draftsOf(owner, new Date(), LISTED);
  viewing.getStore()?.viewer?.narrowed();
  const now = new Map<string, string | null>();
  for (const ehrId of new Set(drafts.map((draft) => draft.ehr_id))) now.set(ehrId, await mergesTookTo(ehrId));
  return drafts.flatMap((draft) => {
    const ehrId = now.get(draft.ehr_id) ?? null;
    return ehrId === null ? [] : [{ ...draft, ehr_id: ehrId }];
  });
}

/** One draft. @throws not-found for an unknown or merged EHR, and where the owner has no such draft in it */
export async function readDraft(address: DraftAddress): Promise<DraftDoc> {
  await readableEhr(address.ehrId);
  return { ...(await knownDraft(address)), ehr_id: address.ehrId };
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
  if (draft === null || (await mergesTookTo(draft.ehr_id)) !== ehrId)
    throw new CdrError('not-found', `you have no draft ${draftId} in EHR ${ehrId}`);
  return draft;
}
