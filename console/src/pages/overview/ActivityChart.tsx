import { Group, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { instantText } from '../../record/values/instant.js';
import { numberText } from '../../widgets/number-text.js';

const HEIGHT = 72;
const STEP = 10;

type Minutes = Overview['activity']['minutes'];

/** Commits upwards and queries downwards, by one scale, for every minute of the last hour. */
export function ActivityChart({ minutes }: { readonly minutes: Minutes }): ReactNode {
  const { t, language } = useMessages();
  const most = {
    commits: Math.max(0, ...minutes.map(({ commits }) => commits)),
    queries: Math.max(0, ...minutes.map(({ queries }) => queries)),
  };
  const scale = HEIGHT / Math.max(1, most.commits, most.queries);
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
        {most.commits + most.queries > 0 && (
          <Text size="sm" c="dimmed">
            {t('overview.perMinute', {
              commits: numberText(most.commits, language),
              queries: numberText(most.queries, language),
            })}
          </Text>
        )}
      </Group>
      <svg
        viewBox={`0 0 ${minutes.length * STEP} ${HEIGHT * 2 + 2}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <line className="axis" x1={0} x2={minutes.length * STEP} y1={HEIGHT + 1} y2={HEIGHT + 1} />
        {minutes.map((minute, index) => (
          <Minute key={minute.time} minute={minute} x={index * STEP} scale={scale} />
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
  scale,
}: {
  readonly minute: Minutes[number];
  readonly x: number;
  /** Height of one commit, or one query. */
  readonly scale: number;
}): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const { time, commits, queries } = minute;
  const up = heightOf(commits, scale);
  const down = heightOf(queries, scale);
  const at = instantText(time, reader).text;
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

/** What is there is seen, however few beside many. */
function heightOf(count: number, scale: number): number {
  return count === 0 ? 0 : Math.max(2, count * scale);
}
