import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { Section } from '../../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../../widgets/states.js';
import { MergeGraph } from './MergeGraph.js';
import { MergeItem, UndoneMerge } from './MergeItem.js';
import { WaitingAct } from './WaitingAct.js';
import { WaitingMerge } from './WaitingMerge.js';

/** Merges that are listed before more are asked for. */
const PAGE = 50;

/** Merges that wait, a picture of those that stand, and each of them, newest first, with what would take it back. */
export function MergesTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [shown, setShown] = useState(PAGE);
  const merges = useQuery({ queryKey: ['merges'], queryFn: () => api.merges() });
  const waiting = useQuery({ queryKey: ['merges', 'waiting'], queryFn: () => api.merges({ pending: true }) });
  const approvals = useQuery({ queryKey: ['merges', 'approvals'], queryFn: () => api.approvals() });
  const error = merges.error ?? waiting.error ?? approvals.error;
  if (error !== null) return <Failure error={error} />;
  if (merges.data === undefined || waiting.data === undefined || approvals.data === undefined)
    return <Loading rows={4} />;
  const acts = approvals.data.filter(({ kind }) => kind !== 'merge');
  const isEmpty = merges.data.length + waiting.data.length + acts.length === 0;
  return (
    <>
      {isEmpty && <Empty title={t('merge.none')}>{t('merge.noneHint')}</Empty>}
      {waiting.data.length + acts.length > 0 && (
        <Section title={t('merge.waiting')}>
          <ul className="lines">
            {acts.map((approval) => (
              <WaitingAct key={approval.approval_id} approval={approval} />
            ))}
            {waiting.data.map((merge) => (
              <WaitingMerge key={merge.merge_id} merge={merge} />
            ))}
          </ul>
        </Section>
      )}
      {merges.data.length > 1 && (
        <Section title={t('merge.graph')}>
          <MergeGraph merges={merges.data} />
        </Section>
      )}
      <ul className="lines">
        {merges.data
          .toReversed()
          .slice(0, shown)
          .map((merge) => (
            <MergeItem key={merge.source_ehr} merge={merge} />
          ))}
      </ul>
      {merges.data.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + PAGE)}>
          {t('merge.more', { count: merges.data.length - shown })}
        </Button>
      )}
      <TakenBack />
    </>
  );
}

/** Merges that were taken back: what happened to a record is not forgotten with them. */
function TakenBack(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['merges', 'undone'],
    queryFn: () => api.merges({ undone: true }),
  });
  if (data.length === 0) return null;
  return (
    <Section title={t('merge.takenBack')}>
      <ul className="lines">
        {data.toReversed().map((merge) => (
          <UndoneMerge key={merge.merge_id} merge={merge} />
        ))}
      </ul>
    </Section>
  );
}
