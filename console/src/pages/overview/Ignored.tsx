import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { numberText } from '../../widgets/number-text.js';

/** What of requests was ignored, commonest first. */
export function Ignored({ ignored }: { readonly ignored: NonNullable<Overview['ignored']> }): ReactNode {
  const { language } = useMessages();
  return (
    <ul className="lines">
      {ignored.map(({ kind, name, count }) => (
        <li key={`${kind} ${name}`}>
          <Text span className="mono one-line" title={`${kind} ${name}`}>
            {kind} {name}
          </Text>
          <Text size="sm" c="dimmed" className="line-end number">
            {numberText(count, language)}
          </Text>
        </li>
      ))}
    </ul>
  );
}
