import { Button, Modal } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';

/** The button that asks for an emergency, with its dialog; `children`: what the dialog asks, which may close it. */
export function EmergencyButton({
  className,
  children,
}: {
  readonly className?: string;
  readonly children: (close: () => void) => ReactNode;
}): ReactNode {
  const { t } = useMessages();
  const [isOpen, setIsOpen] = useState(false);
  const close = (): void => setIsOpen(false);
  return (
    <>
      <Button
        variant="default"
        {...(className !== undefined && { className })}
        onClick={() => setIsOpen(true)}
      >
        {t('emergency.open')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('emergency.title')}
        closeButtonProps={{ 'aria-label': t('keys.close') }}
      >
        {children(close)}
      </Modal>
    </>
  );
}
