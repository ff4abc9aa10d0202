import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { instantText } from '../record/values/instant.js';
import { ago } from './time-text.js';
import { Hint } from './Hint.js';

/**
 * A time in the reader's zone, which is named; as it was written on hover, and beside it where the zone is another. `isAgo`:
 * also how long ago. What is no time of the calendar is shown as it is.
 */
export function Time({
  value,
  isAgo = false,
}: {
  readonly value: string | undefined;
  readonly isAgo?: boolean;
}): ReactNode {
  const reader = useMessages();
  if (value === undefined || value === '')
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  const { text, note } = instantText(value, reader);
  return (
    <Hint label={value}>
      <time dateTime={value} className="number">
        {text}
        {note !== undefined && (
          <Text span inherit c="dimmed">
            {` (${note})`}
          </Text>
        )}
        {isAgo && (
          <Text span inherit c="dimmed" className="ago">
            {' · '}
            {ago(value, reader.language)}
          </Text>
        )}
      </time>
    </Hint>
  );
}
