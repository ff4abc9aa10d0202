import { Button, Group, Text, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { AuditTable } from '../../widgets/AuditTable.js';
import { Failure, Loading } from '../../widgets/states.js';
import { download } from '../query/result/download.js';
import { auditFilter, type AuditFields } from './audit-filter.js';

const FIELDS = [
  { field: 'from', label: 'audit.since', input: { type: 'datetime-local' } },
  { field: 'to', label: 'audit.until', input: { type: 'datetime-local' } },
  { field: 'user', label: 'audit.who', input: { w: 130 } },
  { field: 'operation', label: 'audit.what', input: { placeholder: 'mergeEhrs', w: 150 } },
  { field: 'status', label: 'audit.status', input: { placeholder: '403', inputMode: 'numeric', w: 80 } },
  { field: 'ehrId', label: 'audit.record', input: { w: 150 } },
] as const satisfies readonly { field: keyof AuditFields; label: string; input: TextInputProps }[];
/** Records that a page shows. */
const SHOWN = 200;
/** The most that the server gives at once. */
const MOST_RECORDS = 1_000;

/** Who did what, narrowed by time, user, operation, status and record. */
export function AuditTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [texts, setTexts] = useState<AuditFields>({});
  const [wanted] = useDebouncedValue(texts, 250);
  const filter = auditFilter(wanted);
  const { data, error } = useQuery({
    queryKey: ['audit', filter],
    queryFn: () => api.audit({ ...filter, fetch: SHOWN }),
    placeholderData: keepPreviousData,
  });
  const csv = useMutation({
    mutationFn: () => api.auditCsv({ ...filter, fetch: MOST_RECORDS }),
    onSuccess: (text) => download('audit.csv', 'text/csv', text),
  });
  const failure = error ?? csv.error;
  return (
    <>
      <Group align="flex-end" mb="md" gap="sm">
        {FIELDS.map(({ field, label, input }) => (
          <TextInput
            key={field}
            {...input}
            label={t(label)}
            value={texts[field] ?? ''}
            onChange={(event) => setTexts({ ...texts, [field]: event.currentTarget.value.trim() })}
          />
        ))}
        <Button variant="default" loading={csv.isPending} onClick={() => csv.mutate()}>
          CSV
        </Button>
      </Group>
      {failure !== null && <Failure error={failure} />}
      {data === undefined && error === null && <Loading rows={8} />}
      {data !== undefined && error === null && <AuditTable records={data} />}
      {data?.length === SHOWN && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('audit.more', { count: SHOWN, most: MOST_RECORDS })}
        </Text>
      )}
    </>
  );
}
