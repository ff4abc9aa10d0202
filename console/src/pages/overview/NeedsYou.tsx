import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** What waits for whoever looks: merges and other acts that a second person has to confirm. */
export function NeedsYou(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const isAdmin = useOffice()?.isAdmin === true;
  const { data = [] } = useQuery({
    queryKey: ['merges', 'approvals'],
    queryFn: () => api.approvals(),
    enabled: isAdmin,
  });
  if (data.length === 0) return null;
  return (
    <ul className="warnings" aria-label={t('needs.title')}>
      <li>
        <ViewLink underline="always" view={{ to: '/administration', search: { tab: 'merges' } }}>
          {t('needs.approvals', { count: data.length })}
        </ViewLink>
      </li>
    </ul>
  );
}
