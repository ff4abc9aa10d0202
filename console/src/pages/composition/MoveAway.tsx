import { versionedObjectUidOf } from '@everchart/client';
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { MoveDetails } from '../../api/administration.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { compositionView, useWritten } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';
import { PatientPicker } from '../administration/PatientPicker.js';

/** For an administrator: a document that was written for another patient goes to him, after a look at what that does. */
export function MoveAway({ ehrId, uid }: { readonly ehrId: string; readonly uid: string }): ReactNode {
  const { t } = useMessages();
  const [isOpen, setIsOpen] = useState(false);
  if (useOffice()?.isAdmin !== true) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
        {t('move.title')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        closeButtonProps={{ 'aria-label': t('keys.close') }}
        title={t('move.title')}
        size="lg"
      >
        <Move ehrId={ehrId} uid={uid} />
      </Modal>
    </>
  );
}

function Move({ ehrId, uid }: { readonly ehrId: string; readonly uid: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const written = useWritten();
  const [target, setTarget] = useState('');
  const [reason, setReason] = useState('');
  const wanted = { ehrId, containerUid: versionedObjectUidOf(uid), targetEhr: target, reason: reason.trim() };
  const plan = useMutation({ mutationFn: () => api.moveComposition({ ...wanted, isPlan: true }) });
  const move = useMutation({
    mutationFn: () => api.moveComposition({ ...wanted, isPlan: false }),
    onSuccess: async (done) => {
      if ('approval_id' in done) {
        tell(t('move.waits'));
        return;
      }
      tell(t('toast.moved'));
      await written(compositionView(target, versionedObjectUidOf(uid)));
    },
  });
  const error = plan.error ?? move.error;
  const change = (next: () => void): void => {
    // What was looked at is of what was chosen then.
    plan.reset();
    next();
  };
  return (
    <Stack>
      <PatientPicker
        label={t('move.to')}
        hint={t('move.hint')}
        value={target}
        onChange={(next) => change(() => setTarget(next ?? ''))}
      />
      <TextInput
        label={t('merge.reason')}
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {plan.data !== undefined && !('approval_id' in plan.data) && <Plan details={plan.data} />}
      {error !== null && <Failure error={error} />}
      <Group>
        <Button
          variant="default"
          disabled={target === '' || target === ehrId}
          loading={plan.isPending}
          onClick={() => plan.mutate()}
        >
          {t('merge.plan')}
        </Button>
        <Button disabled={plan.data === undefined} loading={move.isPending} onClick={() => move.mutate()}>
          {t('move.go')}
        </Button>
      </Group>
    </Stack>
  );
}

function Plan({ details }: { readonly details: MoveDetails }): ReactNode {
  const { t } = useMessages();
  const { versions, contributions, contributions_kept: kept = [], item_tags: tags = 0 } = details;
  return (
    <Text component="div" className="plan" role="status">
      {t('move.plan', { versions, contributions, tags })}
      {kept.length > 0 && <div>{t('move.kept', { count: kept.length })}</div>}
      {details.folder_items.length > 0 && (
        <div>{t('move.folders', { names: details.folder_items.map(({ folder }) => folder).join(', ') })}</div>
      )}
    </Text>
  );
}
