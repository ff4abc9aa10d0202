import { Group, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { numberText } from '../../widgets/number-text.js';

const HEIGHT = 72;
const STEP = 10;

type Minutes = Overview['activity']['minutes'];

/** Commits upwards and queries downwards, each by a scale of its own, for every minute of the last hour. */
export function ActivityChart({ minutes }: { readonly minutes: Minutes }): ReactNode {
  const { t, language } = useMessages();
  const most = {
    commits: Math.max(1, ...minutes.map(({ commits }) => commits)),
    queries: Math.max(1, ...minutes.map(({ queries }) => queries)),
  };
  const sum = (name: 'commits' | 'queries'): string =>
    numberText(
      minutes.reduce((total, minute) => total + minute[name], 0),
      language,
    );
  const label = t('overview.lastHour', { commits: sum('commits'), queries: sum('queries') });
  return (
    <figure className="activity">
      <Group gap="md" mb={6}>
        <Text size="sm" className="key commits">
          {t('overview.commits')} <b className="number">{sum('commits')}</b>
        </Text>
        <Text size="sm" className="key queries">
          {t('overview.queriesRun')} <b className="number">{sum('queries')}</b>
        </Text>
        <Text size="sm" c="dimmed">
          {t('overview.perMinute', {
            commits: numberText(most.commits, language),
            queries: numberText(most.queries, language),
          })}
        </Text>
      </Group>
      <svg
        viewBox={`0 0 ${minutes.length * STEP} ${HEIGHT * 2 + 2}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <line className="axis" x1={0} x2={minutes.length * STEP} y1={HEIGHT + 1} y2={HEIGHT + 1} />
        {minutes.map((minute, index) => (
          <Minute key={minute.time} minute={minute} x={index * STEP} most={most} />
        ))}
      </svg>
      <Group justify="space-between" className="ticks">
        <span>{t('overview.anHourAgo')}</span>
        <span>{t('overview.now')}</span>
      </Group>
    </figure>
  );
}

function Minute({
  minute,
  x,
  most,
}: {
  readonly minute: Minutes[number];
  readonly x: number;
  readonly most: { readonly commits: number; readonly queries: number };
}): ReactNode {
  const { t } = useMessages();
  const { time, commits, queries } = minute;
  const up = (commits / most.commits) * HEIGHT;
  const down = (queries / most.queries) * HEIGHT;
  const at = new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return (
    <Tooltip label={t('overview.minute', { time: at, commits, queries })} disabled={commits + queries === 0}>
      <g>
        <rect x={x} width={STEP} y={0} height={HEIGHT * 2} fill="transparent" />
        <rect className="commits" x={x + 1} width={STEP - 2} y={HEIGHT - up} height={up} />
        <rect className="queries" x={x + 1} width={STEP - 2} y={HEIGHT + 2} height={down} />
      </g>
    </Tooltip>
  );
}
