import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { MergeDetails } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { Failure } from '../../../widgets/states.js';

/** Drops what would take a merge back; asks why, since nobody can undo that. */
export function Finalise({ merge }: { readonly merge: MergeDetails }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [reason, setReason] = useState<string | null>(null);
  const finalise = useMutation({
    mutationFn: () => api.finaliseMerge(merge.merge_id ?? '', (reason ?? '').trim()),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['merges'] }),
  });
  if (merge.merge_id === undefined) return null;
  if (reason === null)
    return (
      <Button size="compact-xs" variant="subtle" mt={4} onClick={() => setReason('')}>
        {t('merge.finalise')}
      </Button>
    );
  return (
    <>
      <Text size="sm" mt="xs">
        {t('merge.finaliseHint')}
      </Text>
      {finalise.error !== null && <Failure error={finalise.error} />}
      <Group gap="xs" align="flex-end">
        <TextInput
          size="xs"
          label={t('merge.reason')}
          maxLength={500}
          required
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button
          size="xs"
          color="red.9"
          disabled={reason.trim() === ''}
          loading={finalise.isPending}
          onClick={() => finalise.mutate()}
        >
          {t('merge.finalise')}
        </Button>
        <Button size="xs" variant="default" onClick={() => setReason(null)}>
          {t('history.cancel')}
        </Button>
      </Group>
    </>
  );
}
