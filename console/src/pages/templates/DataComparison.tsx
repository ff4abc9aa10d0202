import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ComparedWith, TemplateComparison } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { Failure } from '../../widgets/states.js';

/** How often a comparison that runs is looked at, ms. */
const WATCHED_MS = 1_000;

/** Judges the stored documents of a template by another text or revision of it, some of them or all, and shows what is found. */
export function DataComparison({
  templateId,
  after,
}: {
  readonly templateId: string;
  readonly after: ComparedWith;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [job, setJob] = useState<string | null>(null);
  const begin = useMutation({
    mutationFn: (data: 'sample' | 'all') => api.compareData(templateId, after, data),
    onSuccess: setJob,
  });
  return (
    <>
      <Group gap="xs" mt="xs">
        {(['sample', 'all'] as const).map((data) => (
          <Button
            key={data}
            size="compact-xs"
            variant="default"
            loading={begin.isPending}
            onClick={() => begin.mutate(data)}
          >
            {t(`comparison.${data}`)}
          </Button>
        ))}
      </Group>
      {begin.error !== null && <Failure error={begin.error} />}
      {job !== null && <Comparison key={job} templateId={templateId} job={job} />}
    </>
  );
}

function Comparison({ templateId, job }: { readonly templateId: string; readonly job: string }): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['template-comparison', templateId, job],
    queryFn: () => api.comparison(templateId, job),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? WATCHED_MS : false),
  });
  const cancel = useMutation({
    mutationFn: () => api.cancelComparison(templateId, job),
    onSettled: () => refetch(),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return null;
  const { state, valid, invalid, unproven, others, reason } = data;
  const counts = {
    valid: numberText(valid, language),
    invalid: numberText(invalid, language),
    unproven: numberText(unproven, language),
    others: numberText(others, language),
  };
  return (
    <>
      <Text size="sm" mt="xs" role="status">
        <b>{t(`comparison.state.${state}`)}</b> {t('comparison.counts', counts)}{' '}
        {state === 'running' && (
          <Button size="compact-xs" variant="default" onClick={() => cancel.mutate()}>
            {t('comparison.cancel')}
          </Button>
        )}
      </Text>
      {reason !== undefined && (
        <Text size="sm" className="flag">
          {reason}
        </Text>
      )}
      <Causes causes={data.causes} />
    </>
  );
}

function Causes({ causes }: Pick<TemplateComparison, 'causes'>): ReactNode {
  const { language } = useMessages();
  return (
    <ul className="differences">
      {causes.map(({ path, message, count, examples }) => (
        <li key={`${path} ${message}`}>
          <Text size="sm">
            {numberText(count, language)} × {message} <code>{path}</code>
          </Text>
          <Text size="xs" c="dimmed">
            {examples.join(', ')}
          </Text>
        </li>
      ))}
    </ul>
  );
}
