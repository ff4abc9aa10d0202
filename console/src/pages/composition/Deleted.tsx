import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { Section } from '../../widgets/Page.js';
import { Empty } from '../../widgets/states.js';
import { History } from './History.js';
import { Restore } from './Restore.js';
import { useRevisions } from './revisions.js';

/** A document that was deleted: its versions, and the last of them restored as a new one. */
export function Deleted({ ehrId, uid }: { readonly ehrId: string; readonly uid: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const mayWrite = useMay('write');
  const revisions = useRevisions(ehrId, uid);
  const [latest] = revisions;
  const last = revisions.find(({ change }) => change !== 'deleted');
  const { data: content } = useQuery({
    queryKey: ['composition', ehrId, last?.uid],
    queryFn: () => api.composition(ehrId, last?.uid ?? ''),
    enabled: last !== undefined,
  });
  const isDeletedNow = latest?.change === 'deleted';
  return (
    <div className="split document-split">
      <Empty
        title={t('composition.deleted')}
        action={
          mayWrite &&
          isDeletedNow &&
          content && <Restore key={latest.uid} ehrId={ehrId} composition={content} latest={latest.uid} />
        }
      >
        {t('composition.deletedHint')}
      </Empty>
      <Section title={t('history.title')}>
        <History ehrId={ehrId} revisions={revisions} shown={latest?.uid ?? uid} />
      </Section>
    </div>
  );
}
