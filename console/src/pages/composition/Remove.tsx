import { versionedObjectUidOf } from '@everchart/client';
import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, useGo } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';

/** Marks a document as deleted; asks before it does. */
export function Remove({ ehrId, latest }: { readonly ehrId: string; readonly latest: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const go = useGo();
  const queries = useQueryClient();
  const [isAsked, setIsAsked] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteComposition(ehrId, latest),
    onSuccess: async () => {
      // Where it can be restored.
      go(compositionView(ehrId, versionedObjectUidOf(latest)));
      await queries.invalidateQueries({ refetchType: 'none' });
    },
  });
  if (remove.error !== null) return <Failure error={remove.error} />;
  if (!isAsked)
    return (
      <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
        {t('composition.delete')}
      </Button>
    );
  return (
    <Group gap="xs">
      <Text size="sm">{t('composition.deleteHint')}</Text>
      <Button size="xs" color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
        {t('composition.delete')}
      </Button>
      <Button size="xs" variant="default" onClick={() => setIsAsked(false)}>
        {t('history.cancel')}
      </Button>
    </Group>
  );
}
