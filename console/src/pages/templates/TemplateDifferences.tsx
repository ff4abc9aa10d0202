import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { TemplateChange, TemplateDifference, WebTemplate } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { changedNode, saidText } from '../../record/template-change.js';
import { changeWords, partWords } from '../../messages/difference-words.js';

/** What differs from one template to another, what each line means for data, and the stored queries that read something else. */
export function TemplateDifferences({
  difference: { verdict, changes, stored_queries: queries },
  before,
}: {
  readonly difference: TemplateDifference;
  readonly before: WebTemplate;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <Text mt="xs" className={verdict === 'breaking' ? 'flag' : undefined}>
        {t(`difference.all.${verdict}`)}
      </Text>
      <ul className="differences template-differences">
        {changes.map((change, index) => (
          <Line key={index} change={change} before={before} />
        ))}
      </ul>
      {queries.length > 0 && (
        <Text size="sm">
          {t('difference.queries')} {queries.map(({ name, version }) => `${name}/${version}`).join(', ')}
        </Text>
      )}
    </>
  );
}

function Line({
  change,
  before,
}: {
  readonly change: TemplateChange;
  readonly before: WebTemplate;
}): ReactNode {
  const { t, language } = useMessages();
  const { path, from, to, verdict, reason } = change;
  const [was, is] = [saidText(from), saidText(to)];
  const isShownApart = verdict === 'breaking' || verdict === 'unproven';
  return (
    <li>
      <Text>
        {path === '' ? t('difference.whole') : changedNode(change, before, language)}{' '}
        <Text span size="sm">
          {partWords(change.what, t)} {changeWords(change.kind, t)}
        </Text>{' '}
        {path !== '' && (
          <Text span size="xs" c="dimmed">
            <code>{path}</code>
          </Text>
        )}
      </Text>
      {(was !== '' || is !== '') && (
        <Text size="sm">
          {was !== '' && <del>{was}</del>}
          {was !== '' && is !== '' && ' → '}
          {is !== '' && <ins>{is}</ins>}
        </Text>
      )}
      <Text size="xs" className={isShownApart ? 'flag' : undefined} title={reason}>
        {t(`difference.verdict.${verdict}`)}
      </Text>
    </li>
  );
}
