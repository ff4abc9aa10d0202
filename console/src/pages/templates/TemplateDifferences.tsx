import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { isSameOpt, templateDifferences, type WholeTemplate } from '../../record/template-differences.js';

/** What one template takes otherwise than another, node by node. */
export function TemplateDifferences({
  before,
  after,
}: {
  readonly before: WholeTemplate;
  readonly after: WholeTemplate;
}): ReactNode {
  const { t, language } = useMessages();
  const differences = templateDifferences(before, after, language);
  if (differences.length === 0) {
    const isSame = isSameOpt(before.opt, after.opt);
    return <Text mt="xs">{t(isSame ? 'templates.same' : 'templates.otherParts')}</Text>;
  }
  return (
    <ul className="differences template-differences">
      {differences.map(({ path, name, before: was, after: is }) => (
        <li key={path}>
          <Text>
            {name ?? t(path === 'concept' ? 'templates.concept' : 'templates.languages')}{' '}
            {name !== undefined && (
              <Text span size="xs" c="dimmed">
                <code>{path}</code>
              </Text>
            )}
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
