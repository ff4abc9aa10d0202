import '@mantine/core/styles/Progress.css';
import { Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BackgroundJob } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';

/** How often a job that runs is looked at, and how often whether there is one, ms. */
const WATCHED_MS = 1_000;
const IDLE_MS = 5_000;

/** What goes on in the background, live. `isStarting`: this page has just begun something. */
export function Jobs({ isStarting }: { readonly isStarting: boolean }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['overview'],
    queryFn: api.overview,
    refetchInterval: ({ state }) => (isStarting || (state.data?.jobs.length ?? 0) > 0 ? WATCHED_MS : IDLE_MS),
  });
  if (data === undefined) return error === null ? <Loading rows={2} /> : <Failure error={error} />;
  if (data.jobs.length === 0) return <Text c="dimmed">{t('jobs.none')}</Text>;
  return (
    <ul className="jobs">
      {data.jobs.map((job, index) => (
        <Job key={`${job.kind} ${index}`} job={job} />
      ))}
    </ul>
  );
}

function Job({ job }: { readonly job: BackgroundJob }): ReactNode {
  const { t, language } = useMessages();
  const { kind, phase, started, done, of } = job;
  const name = t(`jobs.${kind}`);
  const isCounted = done !== undefined && of !== undefined;
  const percent = isCounted && of > 0 ? Math.round((done / of) * 100) : null;
  return (
    <li>
      <Text>
        <b>{name}</b>
        {phase !== undefined && ` · ${t(`jobs.${phase}`)}`}
        {isCounted &&
          ` · ${t('jobs.done', { done: numberText(done, language), of: numberText(of, language) })}`}
        {started !== undefined && (
          <Text span size="sm" c="dimmed">
            {' · '}
            <Time value={started} isAgo />
          </Text>
        )}
      </Text>
      <Progress
        mt={4}
        size="sm"
        value={percent ?? 100}
        animated={percent === null}
        aria-label={name}
        transitionDuration={150}
      />
    </li>
  );
}
