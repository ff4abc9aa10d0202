import { CopyButton, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { Icon } from './Icon.js';
import { Hint } from './Hint.js';

/** The beginning of an id; whole on hover; a click copies it. */
export function Id({ value, length = 8 }: { readonly value: string; readonly length?: number }): ReactNode {
  const { t } = useMessages();
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Hint label={copied ? t('id.copied') : value}>
          <UnstyledButton className="id mono" onClick={copy} aria-label={t('id.copy', { id: value })}>
            {value.slice(0, length)}
            <Icon name={copied ? 'done' : 'copy'} size={12} />
          </UnstyledButton>
        </Hint>
      )}
    </CopyButton>
  );
}
