import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { findPatients } from '../patients/patient-queries.js';

/** Chooses a patient by a piece of subject or EHR id. */
export function PatientPicker({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (ehrId: string | undefined) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [text, setText] = useState('');
  const asked = text.split(' · ')[0]?.trim() ?? '';
  const [wanted] = useDebouncedValue(asked, 150);
  const { data = [], isPlaceholderData } = useQuery({
    queryKey: ['picker', wanted],
    queryFn: () => findPatients(api, { find: wanted, offset: 0, fetch: 8 }),
    placeholderData: keepPreviousData,
  });
  // Of those who were found for other words they alone are offered whom these fit: Enter takes the first.
  const isOfOthers = isPlaceholderData || wanted !== asked;
  const found = data
    .map(({ ehrId, subject, namespace }) => ({
      value: ehrId,
      // Two of one number may be of two hospitals.
      label: [subject ?? t('patients.noSubject'), namespace ?? '', ehrId.slice(0, 8)]
        .filter((part) => part !== '')
        .join(' · '),
    }))
    .filter(
      (each) => !isOfOthers || `${each.label} ${each.value}`.toLowerCase().includes(asked.toLowerCase()),
    );
  const isMissing = value !== '' && !found.some((one) => one.value === value);
  return (
    <Select
      label={label}
      description={hint}
      placeholder={t('patients.find')}
      searchable
      clearable
      // The server has searched already.
      filter={({ options }) => options}
      nothingFoundMessage={t(isOfOthers ? 'state.loading' : 'patients.none')}
      data={isMissing ? [{ value, label: value }, ...found] : found}
      value={value === '' ? null : value}
      onChange={(ehrId) => onChange(ehrId ?? undefined)}
      onSearchChange={setText}
    />
  );
}
