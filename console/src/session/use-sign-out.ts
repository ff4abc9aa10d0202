import { useMessages } from '../messages/messages.js';
import { useSession } from './session.js';
import { isAnythingLost } from './unsaved.js';

/** Signs out, after what is typed is kept, or after a question. */
export function useSignOut(): () => Promise<void> {
  const { t } = useMessages();
  const { signOut } = useSession();
  return async () => {
    if (!(await isAnythingLost()) || window.confirm(t('form.leave'))) signOut();
  };
}
