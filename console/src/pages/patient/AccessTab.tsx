import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { AuditTable } from '../../widgets/AuditTable.js';
import { Failure, Loading } from '../../widgets/states.js';
import { useIsPrinting, usePrintNote } from '../../widgets/use-print.js';
import { AccessReportTable } from './AccessReportTable.js';

/** Who has seen or changed this record: visits on the screen, on paper each access in words, as its patient is given it. */
export function AccessTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const api = useApi();
  const { t, language } = useMessages();
  const isPrinting = useIsPrinting();
  usePrintNote({ of: 'access', ehr_id: ehrId });
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['access', ehrId, language],
    queryFn: ({ pageParam }) =>
      api.accessReport(ehrId, { language, ...(pageParam !== undefined && { after: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  });
  if (error !== null) return <Failure error={error} />;
  const [first] = data?.pages ?? [];
  if (data === undefined || first === undefined) return <Loading />;
  const entries = data.pages.flatMap((page) => page.entries);
  return (
    <Stack>
      {!first.reads_recorded && <Alert color="yellow">{t('access.unrecorded')}</Alert>}
      {isPrinting ? (
        <>
          <Title order={2}>{t('access.title')}</Title>
          <Text size="sm">{t('access.of', { ehrs: first.ehr_ids.join(', ') })}</Text>
          <AccessReportTable entries={entries} />
          {hasNextPage && <Text size="sm">{t('access.cut')}</Text>}
        </>
      ) : (
        <AuditTable records={entries} />
      )}
      {hasNextPage && !isPrinting && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('access.older')}
        </Button>
      )}
    </Stack>
  );
}
