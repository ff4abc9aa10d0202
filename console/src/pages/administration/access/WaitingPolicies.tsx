import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi, useSession } from '../../../session/session.js';
import { Section } from '../../../widgets/Page.js';
import { Failure } from '../../../widgets/states.js';
import { WaitingAct } from '../merge/WaitingAct.js';

/** Changes of policies that wait for a second person; `id`: of this one. */
export function WaitingPolicies({ id }: { readonly id?: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { policies_take_two: takesTwo } = useSession().settings;
  const { data = [], error } = useQuery({
    queryKey: ['merges', 'approvals'],
    queryFn: () => api.approvals(),
    enabled: takesTwo,
  });
  if (error !== null) return <Failure error={error} />;
  const waiting = data.filter(({ policy_id: of, operation }) =>
    id === undefined ? of !== undefined || operation === 'putCategories' : of === id,
  );
  if (waiting.length === 0) return null;
  return (
    <Section title={t('merge.waiting')}>
      <ul className="lines">
        {waiting.map((approval) => (
          <WaitingAct key={approval.approval_id} approval={approval} />
        ))}
      </ul>
    </Section>
  );
}
