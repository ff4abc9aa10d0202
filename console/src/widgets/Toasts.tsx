import { Button, Group, Text } from '@mantine/core';
import { useState, useSyncExternalStore, type ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { onToast, tell, toastNow, type Toast } from './tell.js';

/** Where it is shown; always there, so that what changes in it is read out. */
export function Toasts(): ReactNode {
  const { t } = useMessages();
  const toast = useSyncExternalStore(onToast, toastNow);
  // Whoever clicks twice takes it back once.
  const [undone, setUndone] = useState<Toast | null>(null);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toast !== null && (
        <Group className="toast" gap="sm">
          <Text size="sm">{toast.text}</Text>
          {toast.undo !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              disabled={undone === toast}
              onClick={() => {
                setUndone(toast);
                void toast.undo?.().then(
                  () => tell(t('toast.undone')),
                  (error: unknown) => tell(error instanceof Error ? error.message : String(error)),
                );
              }}
            >
              {t('toast.undo')}
            </Button>
          )}
        </Group>
      )}
    </div>
  );
}
