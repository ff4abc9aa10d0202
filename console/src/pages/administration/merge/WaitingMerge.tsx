import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { CdrError, type MergeDetails } from '@everchart/client';
import type { AdministrationApi } from '../../../api/administration.js';
import { textAt } from '../../../api/json.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { Failure } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';
import { Comparison } from './Comparison.js';
import { MergeMotive, NamedPair } from './MergeItem.js';
import { PlanView } from './PlanView.js';

/** A merge that another administrator asked for: nobody confirms a plan that he has not seen. */
export function WaitingMerge({ merge }: { readonly merge: MergeDetails }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const id = merge.merge_id ?? '';
  const plan = useMutation({ mutationFn: () => currentPlan(api, id) });
  const confirm = useMutation({
    mutationFn: (digest: string) => api.confirmMerge(id, { digest }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const digest = plan.data?.details.plan?.digest;
  const error = plan.error ?? confirm.error;
  return (
    <li>
      <div>
        <NamedPair merge={merge} />
        <Text size="sm" c="dimmed">
          {t('merge.askedFor', { who: textAt(merge.requested, 'administrator') })}{' '}
          <Time value={textAt(merge.requested, 'date')} isAgo />
        </Text>
        <MergeMotive merge={merge} />
        {plan.data?.isChanged === true && (
          <Text size="sm" className="flag" mt="xs">
            {t('merge.planChanged')}
          </Text>
        )}
        {plan.data !== undefined && (
          <>
            <Comparison source={merge.source_ehr} target={merge.target_ehr} />
            <PlanView details={plan.data.details} />
          </>
        )}
        {error !== null && <Failure error={error} />}
        <Group gap="xs" mt="xs">
          <Button size="xs" variant="default" loading={plan.isPending} onClick={() => plan.mutate()}>
            {t('merge.plan')}
          </Button>
          {digest !== undefined && (
            <Button size="xs" loading={confirm.isPending} onClick={() => confirm.mutate(digest)}>
              {t('merge.confirm')}
            </Button>
          )}
        </Group>
        <Withdraw withdraw={(reason) => api.withdrawMerge(id, reason)} />
      </div>
    </li>
  );
}

/** The plan as it is now, which may be another one than that of the request. */
async function currentPlan(api: AdministrationApi, id: string) {
  try {
    return { details: await api.confirmMerge(id, { dry_run: true }), isChanged: false };
  } catch (error) {
    const digest = error instanceof CdrError ? textAt(error.body, 'plan', 'digest') : '';
    if (digest === '') throw error;
    return { details: await api.confirmMerge(id, { dry_run: true, digest }), isChanged: true };
  }
}

/** Ends what waits, and asks why. */
export function Withdraw({
  withdraw: end,
}: {
  readonly withdraw: (reason: string) => Promise<unknown>;
}): ReactNode {
  const { t } = useMessages();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const withdraw = useMutation({
    mutationFn: () => end(reason.trim()),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['merges'] }),
  });
  return (
    <>
      {withdraw.error !== null && <Failure error={withdraw.error} />}
      <Group gap="xs" align="flex-end" mt="xs">
        <TextInput
          size="xs"
          label={t('merge.withdrawWhy')}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          color="red"
          loading={withdraw.isPending}
          onClick={() => withdraw.mutate()}
        >
          {t('merge.withdraw')}
        </Button>
      </Group>
    </>
  );
}
