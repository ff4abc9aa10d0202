import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';

/** Which rows of a list are shown, and the way to others; null: there is no page on that side. */
export function Pager({
  first,
  count,
  onPrevious,
  onNext,
}: {
  /** How many rows stand before these. */
  readonly first: number;
  readonly count: number;
  readonly onPrevious: (() => void) | null;
  readonly onNext: (() => void) | null;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Group justify="flex-end" gap="xs" mt="sm" className="number">
      {count > 0 && t('patients.range', { from: first + 1, to: first + count })}
      <Button variant="default" size="xs" disabled={onPrevious === null} onClick={onPrevious ?? undefined}>
        {t('patients.previous')}
      </Button>
      <Button variant="default" size="xs" disabled={onNext === null} onClick={onNext ?? undefined}>
        {t('patients.next')}
      </Button>
    </Group>
  );
}
