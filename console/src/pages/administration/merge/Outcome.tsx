import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { numberText } from '../../../widgets/number-text.js';
import { outcomeParts } from './outcome.js';

/** What a merge or its undoing did or would do, in the language of the reader. */
export function Outcome({ summary }: { readonly summary: string }): ReactNode {
  const { t, language } = useMessages();
  const { isPlan, counted, rest } = outcomeParts(summary);
  const said = counted.map(({ key, count }) => t(key, { count: numberText(count, language) }));
  if (said.length === 0 && rest === '') said.push(t('outcome.nothing'));
  return (
    <>
      {isPlan && `${t('outcome.planned')} `}
      {said.join(' · ')}
      {rest !== '' && (
        <Text component="div" size="sm" c="dimmed" className="message" lang="en">
          {rest}
        </Text>
      )}
    </>
  );
}
