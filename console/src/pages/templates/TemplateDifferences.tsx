import { Text } from '@mantine/core';
import type { WebTemplate } from '@everchart/client';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { templateDifferences } from '../../record/template-differences.js';

/** What one template takes otherwise than another, node by node. */
export function TemplateDifferences({
  before,
  after,
}: {
  readonly before: WebTemplate;
  readonly after: WebTemplate;
}): ReactNode {
  const { t, language } = useMessages();
  const differences = templateDifferences(before, after, language);
  if (differences.length === 0) return <Text mt="xs">{t('templates.same')}</Text>;
  return (
    <ul className="differences template-differences">
      {differences.map(({ path, name, before: was, after: is }) => (
        <li key={path}>
          <Text>
            {name}{' '}
            <Text span size="xs" c="dimmed">
              <code>{path}</code>
            </Text>
          </Text>
          <Text size="sm">
            {was === null ? <b className="quiet">{t('diff.added')}</b> : <del>{was}</del>}
            {' → '}
            {is === null ? <b className="quiet">{t('diff.removed')}</b> : <ins>{is}</ins>}
          </Text>
        </li>
      ))}
    </ul>
  );
}
