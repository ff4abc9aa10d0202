import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useSyncExternalStore, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { patientView, useGoOn } from '../../shell/address.js';
import { Time } from '../../widgets/Time.js';
import { useForm } from './form-state.js';
import type { DraftOfForm } from './use-draft.js';

/** Whether what is typed is on the server, and what throws it away. */
export function DraftState({
  ehrId,
  draft: { keeper, remove },
}: {
  readonly ehrId: string;
  readonly draft: DraftOfForm;
}): ReactNode {
  const { t } = useMessages();
  const { state } = useForm();
  const goOn = useGoOn();
  const kept = useSyncExternalStore(keeper.subscribe, () => keeper.kept);
  const discard = useMutation({
    mutationFn: async () => {
      await remove();
      state.keep();
    },
    onSuccess: () => goOn(patientView(ehrId)),
  });
  const isRefused = kept.is === 'refused' && !kept.isForGood;
  return (
    <>
      <Text size="sm" c="dimmed" role="status" className={isRefused ? 'flag' : undefined}>
        {kept.is === 'kept' && (
          <>
            {t('unsaved.kept')} <Time value={new Date(kept.at).toISOString()} />
          </>
        )}
        {isRefused && t('unsaved.notKept')}
      </Text>
      {keeper.isThere && (
        <Button
          variant="subtle"
          color="gray"
          loading={discard.isPending}
          onClick={() => window.confirm(t('unsaved.sure')) && discard.mutate()}
        >
          {t('unsaved.discard')}
        </Button>
      )}
    </>
  );
}
