import { Button, Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
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
  const first = starts.length * pageSize;
  return (
    <div data-stale={isPlaceholderData}>
      <PatientTable patients={ehrs.map(listedPatient)} />
      <Group justify="flex-end" gap="xs" mt="sm" className="number">
        {t('patients.range', { from: first + 1, to: first + ehrs.length })}
        <Button
          variant="default"
          size="xs"
          disabled={starts.length === 0}
          onClick={() => setStarts(starts.slice(0, -1))}
        >
          {t('patients.previous')}
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={next === undefined}
          onClick={() => next !== undefined && setStarts([...starts, next])}
        >
          {t('patients.next')}
        </Button>
      </Group>
    </div>
  );
}
