import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** What an operator should know, each with where it leads. */
export function Warnings({ warnings }: Pick<Overview, 'warnings'>): ReactNode {
  const { t } = useMessages();
  if (warnings.length === 0) return null;
  return (
    <ul className="warnings">
      {warnings.map(({ code }) => (
        <li key={code}>
          <Text span fw={600}>
            {t(`warning.${code}`)}
          </Text>{' '}
          <Text span c="dimmed">
            {t(`warning.${code}.hint`)}
          </Text>{' '}
          {code === 'no-audit' && (
            <ViewLink underline="always" view={{ to: '/administration', search: { tab: 'audit' } }}>
              {t('admin.audit')}
            </ViewLink>
          )}
        </li>
      ))}
    </ul>
  );
}
