import type { Overview } from '@everchart/client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { bytesText } from '../../record/values/bytes.js';
import { useApi } from '../../session/session.js';
import { isFull, percentUsed } from '../../widgets/disk.js';
import { Time } from '../../widgets/Time.js';

/** How the server is: its database and the disk of that, what waits, whom it did not let in, what the last check found. */
export function ServerState(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data } = useQuery({ queryKey: ['overview'], queryFn: api.overview });
  if (data === undefined) return null;
  const { activity, verified } = data;
  const refused = (activity.day ?? []).reduce((sum, part) => sum + part.refused_sign_ins, 0);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t('server.database'), <Database key="database" of={data.database} />],
    [t('server.disk'), <Disk key="disk" of={data.database} />],
    [t('server.waiting'), activity.waiting_queries ?? '–'],
    [t('day.refused'), refused],
    [t('server.verified'), <Verified key="verified" last={verified ?? null} />],
  ];
  return (
    <dl className="node-facts">
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Database({ of: { version, bytes } }: { readonly of: Overview['database'] }): ReactNode {
  const { language } = useMessages();
  return `MongoDB ${version}${bytes === undefined ? '' : ` · ${bytesText(bytes, language)}`}`;
}

function Disk({ of: { disk } }: { readonly of: Overview['database'] }): ReactNode {
  const { t, language } = useMessages();
  if (disk === null || disk === undefined) return '–';
  return (
    <span className={isFull(disk) ? 'flag' : undefined}>
      {t('server.used', {
        used: bytesText(disk.used, language),
        all: bytesText(disk.bytes, language),
        percent: percentUsed(disk),
      })}
    </span>
  );
}

function Verified({ last }: { readonly last: NonNullable<Overview['verified']> | null }): ReactNode {
  const { t } = useMessages();
  if (last === null) return t('server.never');
  const { time, violations } = last;
  return (
    <>
      <Time value={time} isAgo /> ·{' '}
      <span className={violations === 0 ? 'well' : 'flag'}>
        {t(violations === 0 ? 'server.well' : 'server.violations', { count: violations })}
      </span>
    </>
  );
}
