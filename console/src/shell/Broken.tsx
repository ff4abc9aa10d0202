import { Button } from '@mantine/core';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { Page } from '../widgets/Page.js';
import { Failure } from '../widgets/states.js';

/** A view that could not be drawn, or not be loaded: the rest of the console goes on. */
export function Broken({ error, reset }: ErrorComponentProps): ReactNode {
  const { t } = useMessages();
  const router = useRouter();
  const again = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title={t('broken.title')}>
      <Failure error={error} retry={again} />
      <Button mt="md" variant="default" onClick={() => location.reload()}>
        {t('broken.reload')}
      </Button>
    </Page>
  );
}
