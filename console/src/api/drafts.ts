import { CdrError, type Cdr, type Flat } from '@everchart/client';

/** What the user typed into a form and has not saved as a document. */
export interface Draft {
  readonly draft_id: string;
  readonly ehr_id: string;
  readonly template_id: string;
  /** The version that it is to follow; null: a new document. */
  readonly version_uid: string | null;
  readonly saved_at: string;
}

/** What is kept of a form. */
interface DraftContent {
  readonly template_id: string;
  readonly version_uid: string | null;
  readonly content: Flat;
}

/** Drafts of the user; nobody else has them. */
export interface DraftApi {
  /** Newest first. */
  drafts: () => Promise<readonly Draft[]>;
  draft: (ehrId: string, draftId: string) => Promise<Draft & { readonly content: Flat }>;
  keepDraft: (ehrId: string, draftId: string, content: DraftContent) => Promise<Draft>;
  /** Also where it is gone already. */
  deleteDraft: (ehrId: string, draftId: string) => Promise<void>;
}

/** The part of the API that keeps drafts. */
export function draftApi(cdr: Cdr): DraftApi {
  const path = (ehrId: string, draftId: string): string =>
    `/rest/draft/${encodeURIComponent(ehrId)}/${encodeURIComponent(draftId)}`;
  return {
    drafts: async () => (await cdr.request<readonly Draft[]>('GET', '/rest/draft')).body,
    draft: async (ehrId, draftId) =>
      (await cdr.request<Draft & { readonly content: Flat }>('GET', path(ehrId, draftId))).body,
    keepDraft: async (ehrId, draftId, body) =>
      (await cdr.request<Draft>('PUT', path(ehrId, draftId), { body })).body,
    deleteDraft: async (ehrId, draftId) => {
      try {
        await cdr.request('DELETE', path(ehrId, draftId));
      } catch (error) {
        if (!(error instanceof CdrError) || error.status !== 404) throw error;
      }
    },
  };
}
