import { Button, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { AuditFilter } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { AuditTable } from '../../widgets/AuditTable.js';
import { Failure, Loading } from '../../widgets/states.js';
import { download } from '../query/download.js';

const FIELDS = ['user', 'operation', 'ehrId'] as const;
const LABELS = { user: 'audit.who', operation: 'audit.what', ehrId: 'audit.record' } as const;
/** The most that the server gives at once. */
const MOST_RECORDS = 1_000;

/** Who did what, narrowed by user, operation and record. */
export function AuditTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [wanted] = useDebouncedValue(texts, 250);
  const filter: AuditFilter = Object.fromEntries(Object.entries(wanted).filter(([, text]) => text !== ''));
  const { data, error } = useQuery({
    queryKey: ['audit', filter],
    queryFn: () => api.audit(filter),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Group align="flex-end" mb="md">
        {FIELDS.map((field) => (
          <TextInput
            key={field}
            label={t(LABELS[field])}
            value={texts[field] ?? ''}
            onChange={(event) => setTexts({ ...texts, [field]: event.currentTarget.value.trim() })}
          />
        ))}
        <Button
          variant="default"
          onClick={() =>
            void api
              .auditCsv({ ...filter, fetch: MOST_RECORDS })
              .then((text) => download('audit.csv', 'text/csv', text))
          }
        >
          CSV
        </Button>
      </Group>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading rows={8} />}
      {data !== undefined && error === null && <AuditTable records={data} />}
    </>
  );
}
