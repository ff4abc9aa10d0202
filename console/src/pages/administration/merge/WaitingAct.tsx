import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, type ReactNode } from 'react';
import { CdrError, type Approval } from '@everchart/client';
import type { AdministrationApi } from '../../../api/administration.js';
import { textAt } from '../../../api/json.js';
import type { Json } from '../../../api/types.js';
import type { MessageKey } from '../../../messages/en.js';
import { english } from '../../../messages/english.js';
import { useMessages } from '../../../messages/messages.js';
import type { Translate } from '../../../messages/translate.js';
import { wholeText } from '../../../record/values/value-reader.js';
import { valueText } from '../../../record/values/value-text.js';
import { useApi } from '../../../session/session.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';
import { NamedPatient } from './MergeItem.js';
import { Withdraw } from './WaitingMerge.js';

// With its editor it is as large as all that is here.
const PlannedPolicy = lazy(() =>
  import('../access/PlannedPolicy.js').then((file) => ({ default: file.PlannedPolicy })),
);

/** A move, an erasure, a change of a policy or of categories, or a finality that another person asked for: nobody confirms what he has not seen as it is now. */
export function WaitingAct({ approval }: { readonly approval: Approval }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const { approval_id: id, requested, requested_by: by } = approval;
  const plan = useMutation({ mutationFn: () => currentPlan(api, id) });
  const confirm = useMutation({
    mutationFn: (digest: string) => api.confirmApproval(id, { digest }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const digest = plan.data?.now.plan.digest;
  const error = plan.error ?? confirm.error;
  return (
    <li>
      <div>
        <Text fw={600}>{titleOf(approval, t)}</Text>
        {/* The source of a merge that becomes final is nobody's record any more. */}
        {approval.kind !== 'finalise' &&
          approval.ehr_ids.map((ehrId) => (
            <Text key={ehrId} component="div">
              <NamedPatient ehrId={ehrId} />
            </Text>
          ))}
        <Says approval={approval} />
        <Text size="sm" c="dimmed">
          {t('merge.askedFor', { who: requested.administrator })} <Time value={requested.date} isAgo />
        </Text>
        <Text size="sm">
          {[approval.reason, by === undefined ? undefined : t('merge.askedBy', { who: by })]
            .filter((part) => part !== undefined)
            .join(' · ')}
        </Text>
        {plan.data?.isChanged === true && (
          <Text size="sm" className="flag" mt="xs">
            {t('merge.planChanged')}
          </Text>
        )}
        {plan.data !== undefined && <Planned approval={plan.data.now} />}
        {error !== null && <Failure error={error} />}
        <Group gap="xs" mt="xs">
          <Button size="xs" variant="default" loading={plan.isPending} onClick={() => plan.mutate()}>
            {t('merge.plan')}
          </Button>
          {digest !== undefined && (
            <Button
              size="xs"
              color="red.9"
              loading={confirm.isPending}
              onClick={() => confirm.mutate(digest)}
            >
              {t('merge.confirm')}
            </Button>
          )}
        </Group>
        <Withdraw withdraw={(reason) => api.withdrawApproval(id, reason)} />
      </div>
    </li>
  );
}

/** Whether two texts say what would be changed of who may see what. */
function changesAccess({ policy_id: policy, operation }: Approval): boolean {
  return policy !== undefined || operation === 'putCategories';
}

function titleOf(approval: Approval, t: Translate): string {
  const { policy_id: policy, kind, operation } = approval;
  if (policy !== undefined) return t('approval.policyOfAccess', { id: policy });
  return operation === 'putCategories' ? t('approval.categories') : t(`approval.${kind}`);
}

/** What would happen, by its kind; what this console has no words for as the audit has it. */
function Says({ approval }: { readonly approval: Approval }): ReactNode {
  const { t } = useMessages();
  const key = `approval.says.${changesAccess(approval) ? approval.operation : approval.kind}`;
  if (!isKnown(key))
    return (
      <Text size="sm" lang="en">
        {approval.summary}
      </Text>
    );
  return <Text size="sm">{t(key)}</Text>;
}

function Planned({ approval }: { readonly approval: Approval }): ReactNode {
  const { plan } = approval;
  if (!changesAccess(approval)) return <Facts plan={plan} />;
  return (
    <Suspense fallback={<Loading rows={2} />}>
      <PlannedPolicy plan={plan} />
    </Suspense>
  );
}

/** The numbers and ids of a plan, as no JSON. */
function Facts({ plan }: { readonly plan: Approval['plan'] }): ReactNode {
  const reader = useMessages();
  const facts = Object.entries(plan)
    .filter(([name]) => !['digest', 'summary', 'ehr_ids'].includes(name))
    .map(([name, value]) => [name, wholeText(valueText(value as Json, reader))] as const)
    .filter(([, said]) => said !== '');
  return (
    <ul className="hints plan-facts">
      {facts.map(([name, said]) => {
        const key = `fact.${name}`;
        return (
          <li key={name}>
            {isKnown(key) ? reader.t(key) : name.replaceAll('_', ' ')}: {said}
          </li>
        );
      })}
    </ul>
  );
}

function isKnown(key: string): key is MessageKey {
  return Object.hasOwn(english, key);
}

/** The plan as it is now, which may be another one than that of the request. */
async function currentPlan(
  api: AdministrationApi,
  id: string,
): Promise<{ now: Approval; isChanged: boolean }> {
  try {
    return { now: await api.confirmApproval(id, { dry_run: true }), isChanged: false };
  } catch (error) {
    const digest = error instanceof CdrError ? textAt(error.body, 'plan', 'digest') : '';
    if (digest === '') throw error;
    return { now: await api.confirmApproval(id, { dry_run: true, digest }), isChanged: true };
  }
}
