import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { versionedObjectUidOf } from '@everchart/client';
import type { ReactNode } from 'react';
import type { Draft } from '../../api/drafts.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { formView } from '../../shell/address.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/**
 * What the user typed for a patient and has not saved, to go on with or to delete; nothing where there is none. `of`: only of one
 * document, or of new ones of a template.
 */
export function Drafts({
  ehrId,
  of,
}: {
  readonly ehrId: string;
  readonly of?: { readonly uid?: string; readonly template?: string };
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const mayKeep = useMay('draft');
  const { data = [] } = useQuery({ queryKey: ['drafts'], queryFn: api.drafts, enabled: mayKeep });
  const shown = data.filter((draft) => draft.ehr_id === ehrId && (of === undefined || isOf(draft, of)));
  if (shown.length === 0) return null;
  return (
    <Section title={t('unsaved.title')}>
      <Text size="sm" c="dimmed">
        {t('unsaved.hint')}
      </Text>
      <ul className="drafts">
        {shown.map((draft) => (
          <DraftLine key={draft.draft_id} draft={draft} />
        ))}
      </ul>
    </Section>
  );
}

function isOf(
  draft: Draft,
  { uid, template }: { readonly uid?: string; readonly template?: string },
): boolean {
  if (draft.version_uid === null || uid === undefined)
    return draft.version_uid === null && uid === undefined && draft.template_id === template;
  return versionedObjectUidOf(draft.version_uid) === versionedObjectUidOf(uid);
}

function DraftLine({ draft }: { readonly draft: Draft }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const { draft_id: id, ehr_id: ehrId, template_id: template, version_uid: uid, saved_at: saved } = draft;
  const remove = useMutation({
    mutationFn: () => api.deleteDraft(ehrId, id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['drafts'] }),
  });
  const view = formView(ehrId, { ...(uid === null ? { template } : { uid }), draft: id });
  return (
    <li>
      <Group gap="xs">
        <ViewLink view={view}>{t(uid === null ? 'unsaved.new' : 'unsaved.change', { template })}</ViewLink>
        <Text size="sm" c="dimmed">
          <Time value={saved} isAgo />
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-label={t('unsaved.deleteOf', { template })}
          loading={remove.isPending}
          onClick={() => window.confirm(t('unsaved.sure')) && remove.mutate()}
        >
          {t('unsaved.discard')}
        </Button>
      </Group>
      {remove.error !== null && <Failure error={remove.error} />}
    </li>
  );
}
