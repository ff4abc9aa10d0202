import { Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { SignIn } from './SignIn.js';
import type { WhyOver } from './expiry.js';
import { useSession } from './session.js';

/**
 * Asks over the page whose session is over who the user is, and keeps what is typed below; while he is away it shows nothing
 * of it. Only the same user goes on with it: nothing of one is shown to another.
 */
export function SignInAgain({ why }: { readonly why: WhyOver | null }): ReactNode {
  const { t } = useMessages();
  const queries = useQueryClient();
  const { renew, signIn } = useSession();
  const isAway = why === 'away';
  return (
    <Modal
      opened={why !== null}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      className="sign-in-again"
      title={t(isAway ? 'signIn.locked' : 'signIn.over')}
      overlayProps={{ blur: 6 }}
    >
      <SignIn
        mustProve={isAway}
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
