import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Pager } from './Pager.js';
import { listedPatient } from './patient-queries.js';
import { PatientTable } from './PatientTable.js';

/** Every EHR, those that queries leave out too, by their ids: for administrators. */
export function AllPatients({ pageSize }: { readonly pageSize: number }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  /** Ids after which the pages begin that were turned to. */
  const [starts, setStarts] = useState<readonly string[]>([]);
  const after = starts.at(-1);
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['all-patients', after],
    queryFn: () => api.allEhrs({ fetch: pageSize, ...(after !== undefined && { after }) }),
    placeholderData: keepPreviousData,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={10} height={22} />;
  const { ehrs, next } = data;
  if (ehrs.length === 0) return <Empty title={t('patients.noneYet')}>{t('patients.noneYetHint')}</Empty>;
  return (
    <div data-stale={isPlaceholderData}>
      <PatientTable patients={ehrs.map(listedPatient)} />
      <Pager
        first={starts.length * pageSize}
        count={ehrs.length}
        onPrevious={starts.length === 0 ? null : () => setStarts(starts.slice(0, -1))}
        onNext={next === undefined ? null : () => setStarts([...starts, next])}
      />
    </div>
  );
}
