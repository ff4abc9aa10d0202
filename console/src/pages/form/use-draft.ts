import type { Flat, WebTemplate } from '@everchart/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { DraftKeeper } from '../../form/draft-keeper.js';
import type { FlatValues } from '../../form/values.js';
import { expiry } from '../../session/expiry.js';
import { useApi } from '../../session/session.js';
import { holdsUnsaved } from '../../session/unsaved.js';
import { randomUuid } from '../../api/uuid.js';
import type { FormState } from './form-state.js';

/** A draft that a form goes on with. */
export interface OpenDraft {
  readonly id: string;
  readonly values: FlatValues;
}

/** The draft of an open form. */
export interface DraftOfForm {
  readonly keeper: DraftKeeper;
  /** Ends it: what it held is saved, or wanted by nobody. */
  readonly remove: () => Promise<void>;
}

/** Keeps what is typed into a form as a draft of the user, as often as it changes and whenever the form is left. */
export function useDraft({
  ehrId,
  template,
  latestUid,
  state,
  draft,
}: {
  readonly ehrId: string;
  readonly template: WebTemplate;
  readonly latestUid: string | null;
  readonly state: FormState;
  readonly draft: OpenDraft | null;
}): DraftOfForm {
  const api = useApi();
  const queries = useQueryClient();
  const [id] = useState(() => draft?.id ?? randomUuid());
  // Asked with the credentials and of the version of now, not of when the form was opened.
  const put = useRef<(values: FlatValues) => Promise<unknown>>(null);
  useEffect(() => {
    put.current = async (values) => {
      const content = { template_id: template.templateId, version_uid: latestUid, content: values as Flat };
      try {
        await api.keepDraft(ehrId, id, content);
      } catch (error) {
        if (error instanceof Error) expiry.see(error);
        throw error;
      }
      void queries.invalidateQueries({ queryKey: ['drafts'] });
    };
  });
  const [keeper] = useState(
    () => new DraftKeeper(state, async (values) => put.current?.(values), draft?.values ?? null),
  );
  useEffect(() => keeper.start(), [keeper]);
  useEffect(() => holdsUnsaved({ holds: () => state.isChanged, keep: keeper.keep }), [state, keeper]);
  useEffect(() => {
    const hidden = (): void => void (document.visibilityState === 'hidden' && keeper.keep());
    document.addEventListener('visibilitychange', hidden);
    return () => document.removeEventListener('visibilitychange', hidden);
  }, [keeper]);
  return {
    keeper,
    remove: async () => {
      await keeper.end();
      if (keeper.isThere) await api.deleteDraft(ehrId, id);
      await queries.invalidateQueries({ queryKey: ['drafts'] });
    },
  };
}
