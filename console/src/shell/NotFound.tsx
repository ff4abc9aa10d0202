import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { Empty } from '../widgets/states.js';
import { Page } from '../widgets/Page.js';

/** An address that no view has. */
export function NotFound(): ReactNode {
  const { t } = useMessages();
  return (
    <Page title={t('notFound.title')}>
      <Empty
        title={t('notFound.hint')}
        action={
          <Button variant="default" renderRoot={(props) => <Link to="/" {...props} />}>
            {t('nav.overview')}
          </Button>
        }
      />
    </Page>
  );
}
