import { Drawer, Group, Kbd, Stack, Text } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';

const KEYS = [
  ['Ctrl K', 'keys.search'],
  ['?', 'keys.help'],
  ['Ctrl ↵', 'keys.run'],
  ['Ctrl Space', 'keys.complete'],
  ['F8', 'keys.mistakes'],
  ['Shift Alt F', 'keys.format'],
  ['/', 'keys.find'],
  ['Esc', 'keys.close'],
] as const;

/** What keys do. */
export function Shortcuts({
  isOpen,
  close,
}: {
  readonly isOpen: boolean;
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  // Closed at first, also where it was asked for before it was loaded: only what opens gives the focus back.
  const [isOpened, setOpened] = useState(false);
  useEffect(() => setOpened(isOpen), [isOpen]);
  return (
    <Drawer
      opened={isOpened}
      onClose={close}
      position="right"
      size="xs"
      title={t('keys.title')}
      closeButtonProps={{ 'aria-label': t('keys.close') }}
    >
      <Stack gap="sm">
        {KEYS.map(([keys, label]) => (
          <Group key={keys} justify="space-between">
            <Text>{t(label)}</Text>
            <Kbd>{keys}</Kbd>
          </Group>
        ))}
      </Stack>
    </Drawer>
  );
}
