import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import type { Overview } from '@everchart/client';
import { isFull, percentUsed } from '../../widgets/disk.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** What waits for whoever looks: what a second person has to confirm, what the last check found, a disk that fills up. */
export function NeedsYou({ overview: { database, verified } }: { readonly overview: Overview }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const isAdmin = useOffice()?.isAdmin === true;
  const { data = [] } = useQuery({
    queryKey: ['merges', 'approvals'],
    queryFn: () => api.approvals(),
    enabled: isAdmin,
  });
  if (!isAdmin) return null;
  const { disk } = database;
  const needs: readonly (readonly [tab: 'merges' | 'server', what: string])[] = [
    ...(data.length === 0 ? [] : [['merges', t('needs.approvals', { count: data.length })] as const]),
    ...(verified == null || verified.violations === 0
      ? []
      : [['server', t('needs.violations', { count: verified.violations })] as const]),
    ...(disk == null || !isFull(disk)
      ? []
      : [['server', t('needs.disk', { percent: percentUsed(disk) })] as const]),
  ];
  if (needs.length === 0) return null;
  return (
    <ul className="warnings" aria-label={t('needs.title')}>
      {needs.map(([tab, what]) => (
        <li key={what}>
          <ViewLink underline="always" view={{ to: '/administration', search: { tab } }}>
            {what}
          </ViewLink>
        </li>
      ))}
    </ul>
  );
}
