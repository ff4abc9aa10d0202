import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useIsClosed } from '../../session/session.js';
import { Page, Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import type { Overview } from '@everchart/client';
import { ActivityChart } from './ActivityChart.js';
import { DayChart } from './DayChart.js';
import { Contributions } from './Contributions.js';
import { Figures } from './Figures.js';
import { FirstSteps } from './FirstSteps.js';
import { Ignored } from './Ignored.js';
import { NeedsYou } from './NeedsYou.js';
import { SlowQueries } from './SlowQueries.js';
import { Warnings } from './Warnings.js';

const AGAIN_MS = 5_000;

/** Is it well, what is happening, where do I start? */
export function OverviewPage(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const isClosed = useIsClosed();
  const { data, error, refetch } = useQuery({
    queryKey: ['overview'],
    queryFn: api.overview,
    refetchInterval: AGAIN_MS,
  });
  if (isClosed) return <Navigate to="/administration" replace />;
  const own = data?.user?.ehr_id;
  if (own !== undefined) return <Navigate to="/patients/$ehrId" params={{ ehrId: own }} replace />;
  return (
    <Page title={t('nav.overview')}>
      {data !== undefined && <Glance overview={data} />}
      {data === undefined && error === null && <Loading rows={8} />}
      {data === undefined && error !== null && <Failure error={error} retry={() => void refetch()} />}
    </Page>
  );
}

function Glance({ overview }: { readonly overview: Overview }): ReactNode {
  const { t } = useMessages();
  const isEmpty = overview.counts.compositions === 0;
  return (
    <>
      <Figures overview={overview} />
      <NeedsYou overview={overview} />
      <Warnings warnings={overview.warnings} />
      {isEmpty && <FirstSteps counts={overview.counts} />}
      <Section title={t('overview.activity')}>
        <ActivityChart minutes={overview.activity.minutes} />
      </Section>
      {overview.activity.day !== undefined && (
        <Section title={t('day.title')}>
          <DayChart parts={overview.activity.day} />
        </Section>
      )}
      {!isEmpty && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl" verticalSpacing={0}>
          <Section title={t('overview.contributions')}>
            <Contributions contributions={overview.contributions} />
          </Section>
          <Section title={t('overview.slowest')}>
            <SlowQueries queries={overview.slowest_queries} />
          </Section>
          {overview.ignored !== undefined && overview.ignored.length > 0 && (
            <Section title={t('overview.ignored')}>
              <Ignored ignored={overview.ignored} />
            </Section>
          )}
        </SimpleGrid>
      )}
    </>
  );
}
