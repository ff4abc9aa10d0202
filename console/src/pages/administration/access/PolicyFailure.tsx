import { CdrError } from '@everchart/client';
import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { Failure } from '../../../widgets/states.js';

/** Why a policy was not stored; that nobody could change policies any more in plain words. */
export function PolicyFailure({ error }: { readonly error: Error }): ReactNode {
  const { t } = useMessages();
  const isLockedOut =
    error instanceof CdrError && error.status === 409 && error.message.includes('locks_out_administrators');
  if (!isLockedOut) return <Failure error={error} />;
  return (
    <Alert color="red" variant="light" mt="sm" role="alert" title={t('policies.lockedOut')}>
      {t('policies.lockedOutHint')}
    </Alert>
  );
}
