import './emergency.css';
import { Alert, Button, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import type { AccessReport } from '@everchart/client';
import { keepPreviousData, useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ReportedTime } from '../../api/access.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMyName, useOwnEhr } from '../../session/session.js';
import { AuditTable } from '../../widgets/AuditTable.js';
import { Failure, Loading } from '../../widgets/states.js';
import { useIsPrinting, usePrintNote } from '../../widgets/use-print.js';
import { download } from '../query/result/download.js';
import { AccessReportTable } from './AccessReportTable.js';
import { reportedTime } from './reported-time.js';

/**
 * Who has seen or changed this record: to whoever answers for it visits on the screen, on paper and to its patient each access in words.
 */
export function AccessTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const api = useApi();
  const { t, language } = useMessages();
  const isOwn = useOwnEhr() === ehrId;
  const isInWords = useIsPrinting() || isOwn;
  const me = useMyName();
  const [isWithoutMe, setIsWithoutMe] = useState(false);
  const [days, setDays] = useState({ from: '', to: '' });
  const time = reportedTime(days);
  usePrintNote({ of: 'access', ehr_id: ehrId });
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['access', ehrId, language, time],
    queryFn: ({ pageParam }) =>
      api.accessReport(ehrId, { language, ...time, ...(pageParam !== undefined && { after: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
  if (error !== null) return <Failure error={error} />;
  const [first] = data?.pages ?? [];
  if (data === undefined || first === undefined) return <Loading />;
  const all = data.pages.flatMap((page) => page.entries);
  const entries = isWithoutMe ? all.filter(({ user }) => user !== me) : all;
  return (
    <Stack>
      {!first.reads_recorded && <Alert color="yellow">{t('access.unrecorded')}</Alert>}
      <Toolbar ehrId={ehrId} days={days} setDays={setDays} time={time} />
      {isOwn && (
        <Checkbox
          className="screen-only"
          label={t('access.withoutMe')}
          checked={isWithoutMe}
          onChange={(event) => setIsWithoutMe(event.currentTarget.checked)}
        />
      )}
      {isInWords ? (
        <Report first={first} entries={entries} isCut={hasNextPage} />
      ) : (
        <AuditTable records={entries} />
      )}
      {hasNextPage && (
        <Button
          variant="default"
          className="screen-only"
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {t('access.older')}
        </Button>
      )}
    </Stack>
  );
}

/** The report as its patient is given it. */
function Report({
  first,
  entries,
  isCut,
}: {
  readonly first: AccessReport;
  readonly entries: AccessReport['entries'];
  readonly isCut: boolean;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <div>
        <Title order={2}>{t('access.title')}</Title>
        <Text size="sm" c="dimmed">
          {t('access.of', { ehrs: first.ehr_ids.join(', ') })}
          {first.kept_years !== undefined && ` · ${t('access.kept', { years: first.kept_years })}`}
        </Text>
      </div>
      <AccessReportTable entries={entries} />
      {isCut && <Text size="sm">{t('access.cut')}</Text>}
    </>
  );
}

interface Days {
  readonly from: string;
  readonly to: string;
}

/** Which days are reported, and the report as a file and on paper. */
function Toolbar({
  ehrId,
  days,
  setDays,
  time,
}: {
  readonly ehrId: string;
  readonly days: Days;
  readonly setDays: (days: Days) => void;
  readonly time: ReportedTime;
}): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const csv = useMutation({
    mutationFn: () => api.accessReportCsv(ehrId, { language, ...time }),
    onSuccess: (text) => download('access.csv', 'text/csv', text),
  });
  return (
    <div className="screen-only">
      <Group align="flex-end" gap="sm">
        {(['from', 'to'] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={t(name === 'from' ? 'audit.since' : 'audit.until')}
            value={days[name]}
            onChange={(event) => setDays({ ...days, [name]: event.currentTarget.value })}
          />
        ))}
        <Button variant="default" loading={csv.isPending} onClick={() => csv.mutate()}>
          CSV
        </Button>
        <Button variant="default" onClick={() => window.print()}>
          {t('print.print')}
        </Button>
      </Group>
      {csv.error !== null && <Failure error={csv.error} />}
    </div>
  );
}
