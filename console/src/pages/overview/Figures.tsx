import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Overview, OverviewTimes } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { milliseconds, numberText } from '../../widgets/number-text.js';

/** What there is, in four numbers that lead to it, and how fast it answers. */
export function Figures({ overview }: { readonly overview: Overview }): ReactNode {
  const { t, language } = useMessages();
  const { counts, activity, status, database, version } = overview;
  const about = counts.compositions_exact === true ? '' : '≈ ';
  // Who sees only some records is not told how many there are.
  const counted = (count: number | undefined, before = ''): string =>
    count === undefined ? '–' : before + numberText(count, language);
  const figures = [
    ['/patients', t('overview.ehrs'), counted(counts.ehrs)],
    ['/query', t('overview.compositions'), counted(counts.compositions, about)],
    ['/templates', t('nav.templates'), numberText(counts.templates, language)],
    ['/query', t('overview.queries'), numberText(counts.stored_queries, language)],
  ] as const;
  return (
    <>
      <ul className="figures">
        {figures.map(([to, label, value]) => (
          <li key={label}>
            <Link to={to} className="figure">
              <span>{label}</span>
              <b className="number">{value}</b>
            </Link>
          </li>
        ))}
      </ul>
      <Text c="dimmed" size="sm" className="facts">
        <span className="well">{t(status === 'UP' ? 'overview.well' : 'overview.down')}</span>
        <span>everchart {version}</span>
        <span>MongoDB {database.version}</span>
        <Latency label={t('overview.commitTime')} times={activity.commit_ms} />
        <Latency label={t('overview.queryTime')} times={activity.query_ms} />
      </Text>
    </>
  );
}

function Latency({ label, times }: { readonly label: string; readonly times: OverviewTimes }): ReactNode {
  const { t, language } = useMessages();
  if (times.median === null || times.p95 === null) return null;
  return (
    <span className="number">
      {t('overview.latency', {
        what: label,
        median: milliseconds(times.median, language),
        p95: milliseconds(times.p95, language),
      })}
    </span>
  );
}
