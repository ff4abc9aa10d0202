import { ActionIcon, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, type ReactNode } from 'react';
import type { Panel } from '../../api/own.js';
import type { QueryRequest, ResultSet } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { Section } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { useIsPrinting, usePrintNote } from '../../widgets/use-print.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { requestOf } from '../query/request-of.js';
import { PrintedRows } from '../query/result/PrintedRows.js';
import { ResultGrid } from '../query/result/ResultGrid.js';

const ResultChart = lazy(() =>
  import('../query/result/ResultChart.js').then((module) => ({ default: module.ResultChart })),
);

/** Rows of one panel where its query sets no limit. */
const MOST_ROWS = 5_000;
const MINUTE_MS = 60_000;

/** One query of a dashboard with its answer of now; `isFresh`: asked again every minute, as long as somebody can see it. */
export function DashboardPanel({
  panel: { title, q, show },
  values,
  isFresh,
  onEarlier,
  onUnpin,
}: {
  readonly panel: Panel;
  readonly values: Readonly<Record<string, string>>;
  readonly isFresh: boolean;
  /** null: it is the first. */
  readonly onEarlier: (() => void) | null;
  readonly onUnpin: () => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const request = requestOf({ text: q, values, most: MOST_ROWS });
  usePrintNote({ of: 'result', q });
  const { data, error, dataUpdatedAt, isFetching } = useQuery({
    queryKey: ['panel', request],
    // Of other values nothing is shown meanwhile: it may be of another patient.
    queryFn: ({ signal }) => api.query(request, signal),
    refetchInterval: isFresh && MINUTE_MS,
  });
  const at = new Date(dataUpdatedAt).toISOString();
  return (
    <Section
      title={title}
      aside={
        <Group gap={4}>
          {data !== undefined && (
            <Text size="xs" c="dimmed">
              <Time value={at} />
            </Text>
          )}
          <ViewLink size="sm" view={{ to: '/query', search: { q } }} title={t('dashboard.open', { title })}>
            AQL
          </ViewLink>
          {onEarlier !== null && (
            <ActionIcon variant="subtle" aria-label={t('dashboard.earlier', { title })} onClick={onEarlier}>
              ↑
            </ActionIcon>
          )}
          <ActionIcon variant="subtle" aria-label={t('dashboard.unpin', { title })} onClick={onUnpin}>
            ×
          </ActionIcon>
        </Group>
      }
    >
      <div data-stale={isFetching} className="panel">
        {error !== null && <Failure error={error} />}
        {data === undefined && error === null && <Loading rows={4} />}
        {data !== undefined && <Rows result={data} show={show} asked={request} at={at} />}
      </div>
    </Section>
  );
}

function Rows({
  result,
  show,
  asked,
  at,
}: {
  readonly result: ResultSet;
  readonly show: Panel['show'];
  readonly asked: QueryRequest;
  /** When it was answered. */
  readonly at: string;
}): ReactNode {
  const { t, language } = useMessages();
  const isPrinting = useIsPrinting();
  const { rows } = result;
  // Paper cannot be scrolled.
  if (isPrinting && show === 'table') return <PrintedRows result={result} asked={asked} at={at} />;
  if (rows.length === 0) return <Empty title={t('query.noRows')} />;
  return (
    <>
      <Suspense fallback={<Loading rows={4} />}>
        {show === 'chart' ? <ResultChart result={result} /> : <ResultGrid result={result} />}
      </Suspense>
      {rows.length === MOST_ROWS && (
        <Text size="xs" className="flag">
          {t('dashboard.rows', { count: numberText(MOST_ROWS, language) })}
        </Text>
      )}
    </>
  );
}
