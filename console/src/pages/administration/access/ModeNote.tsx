import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ServerSettings } from '../../../api/types.js';
import { useMessages } from '../../../messages/messages.js';

/** What becomes of policies on this server at present. */
export function ModeNote({ mode }: { readonly mode: ServerSettings['access_mode'] }): ReactNode {
  const { t } = useMessages();
  return (
    <div className="mode-note" data-mode={mode}>
      <Text component="div" fw={600}>
        {t(`mode.${mode}`)} <code className="quiet">ACCESS_MODE={mode}</code>
      </Text>
      <Text component="div" size="sm">
        {t(`mode.${mode}.means`)}
      </Text>
    </div>
  );
}
