import { versionedObjectUidOf, versionNumberOf } from '@everchart/client';
import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, useGo, useWritten } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';

/** Marks a document as deleted; asks before it does. */
export function Remove({ ehrId, latest }: { readonly ehrId: string; readonly latest: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const go = useGo();
  const written = useWritten();
  const queries = useQueryClient();
  const [isAsked, setIsAsked] = useState(false);
  const remove = useMutation({
    mutationFn: async () => {
      const content = await api.composition(ehrId, latest);
      await api.deleteComposition(ehrId, latest);
      return content;
    },
    onSuccess: async (content) => {
      tell(t('toast.deleted'), content === null ? undefined : () => restore(content));
      // Where it can be restored.
      await written(compositionView(ehrId, versionedObjectUidOf(latest)));
    },
  });
  const restore = async (content: JsonObject): Promise<void> => {
    const deletion = latest.replace(/\d+$/, String(Number(versionNumberOf(latest)) + 1));
    const { uid } = await api.restoreComposition(ehrId, deletion, content);
    go(compositionView(ehrId, uid));
    await queries.invalidateQueries();
  };
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
