import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { MergeDetails } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { patientView } from '../../shell/address.js';
import { Id } from '../../widgets/Id.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** Every merge, newest first, each with what would take it back. */
export function MergesTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({ queryKey: ['merges'], queryFn: api.merges });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={4} />;
  if (data.length === 0) return <Empty title={t('merge.none')}>{t('merge.noneHint')}</Empty>;
  return (
    <ul className="lines">
      {data.toReversed().map((merge) => (
        <Merge key={merge.source_ehr} merge={merge} />
      ))}
    </ul>
  );
}

function Merge({ merge }: { readonly merge: MergeDetails }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const pair = { source_ehr: merge.source_ehr, target_ehr: merge.target_ehr };
  const plan = useMutation({ mutationFn: () => api.unmerge({ ...pair, dry_run: true }) });
  const undo = useMutation({
    mutationFn: () => api.unmerge({ ...pair, dry_run: false }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const error = plan.error ?? undo.error;
  return (
    <li>
      <div>
        <Text component="div">
          <Id value={merge.source_ehr} /> →{' '}
          <ViewLink view={patientView(merge.target_ehr)} className="mono">
            {merge.target_ehr.slice(0, 8)}
          </ViewLink>
        </Text>
        <Text size="sm" c="dimmed">
          {merge.outcome.summary}
        </Text>
        {plan.data !== undefined && (
          <Text className="plan" mt="xs" role="status">
            {plan.data.outcome.summary}
          </Text>
        )}
        {error !== null && <Failure error={error} />}
        <Group gap="xs" mt="xs">
          <Button size="xs" variant="default" loading={plan.isPending} onClick={() => plan.mutate()}>
            {t('merge.undoPlan')}
          </Button>
          {plan.data !== undefined && (
            <Button size="xs" loading={undo.isPending} onClick={() => undo.mutate()}>
              {t('merge.undo')}
            </Button>
          )}
        </Group>
      </div>
      <Text size="sm" c="dimmed" className="line-end">
        <Time value={merge.merge_date} isAgo />
      </Text>
    </li>
  );
}
