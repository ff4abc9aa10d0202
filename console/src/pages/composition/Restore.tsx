import { Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, useWritten } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';

/** Makes an older version the newest again, as a new version; asks before it does. */
export function Restore({
  ehrId,
  composition,
  latest,
}: {
  readonly ehrId: string;
  readonly composition: JsonObject;
  readonly latest: string;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const written = useWritten();
  const [isAsked, setIsAsked] = useState(false);
  const restore = useMutation({
    mutationFn: () => api.restoreComposition(ehrId, latest, composition),
    onSuccess: ({ uid }) => written(compositionView(ehrId, uid)),
  });
  if (restore.error !== null) return <Failure error={restore.error} />;
  if (!isAsked)
    return (
      <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
        {t('history.restore')}
      </Button>
    );
  return (
    <Group gap="xs">
      <Text size="sm">{t('history.restoreHint')}</Text>
      <Button size="xs" loading={restore.isPending} onClick={() => restore.mutate()}>
        {t('history.restore')}
      </Button>
      <Button size="xs" variant="default" onClick={() => setIsAsked(false)}>
        {t('history.cancel')}
      </Button>
    </Group>
  );
}
