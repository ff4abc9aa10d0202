import { Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { SignIn } from './SignIn.js';
import { useIsOver, useSession } from './session.js';

/**
 * Asks over the page whose session is over who the user is, and keeps what is typed below. Only the same user goes on with
 * it: nothing of one is shown to another.
 */
export function SignInAgain(): ReactNode {
  const { t } = useMessages();
  const isOver = useIsOver();
  const queries = useQueryClient();
  const { renew, signIn } = useSession();
  return (
    <Modal
      opened={isOver}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      title={t('signIn.over')}
      overlayProps={{ blur: 6 }}
    >
      <SignIn
        onSignIn={(credentials, user) => {
          const known = queries.getQueryData<Known>(['overview'])?.user?.name;
          if (user === undefined || user !== known) {
            signIn(credentials);
            return;
          }
          renew(credentials);
          void queries.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
        }}
      />
    </Modal>
  );
}

interface Known {
  readonly user?: { readonly name: string } | null;
}
