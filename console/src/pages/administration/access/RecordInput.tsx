import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi, useMay } from '../../../session/session.js';
import { SuggestInput } from '../../../widgets/SuggestInput.js';
import { findPatients } from '../../patients/patient-queries.js';

const SUGGESTED = 8;

/** The EHR id of a record: typed, or picked by a piece of its subject among those that one sees. */
export function RecordInput({
  label,
  description,
  value,
  onChange,
  onPick = () => undefined,
}: {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly onChange: (ehrId: string) => void;
  /** Told beside `onChange` of one that was picked. */
  readonly onPick?: (ehrId: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const mayRead = useMay('read');
  const [wanted] = useDebouncedValue(value.trim(), 200);
  const { data = [] } = useQuery({
    queryKey: ['picker', wanted],
    queryFn: () => findPatients(api, { find: wanted, offset: 0, fetch: SUGGESTED }),
    placeholderData: keepPreviousData,
    enabled: mayRead,
  });
  return (
    <SuggestInput
      isFound
      onOptionSubmit={onPick}
      label={label}
      description={description}
      placeholder={t('patients.find')}
      suggestions={data.map(({ ehrId, subject, namespace }) => ({
        value: ehrId,
        label: [subject ?? t('patients.noSubject'), namespace ?? '', ehrId.slice(0, 8)]
          .filter((part) => part !== '')
          .join(' · '),
      }))}
      value={value}
      onChange={onChange}
    />
  );
}
