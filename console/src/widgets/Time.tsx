import { Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { ago, localTime } from './time-text.js';

/**
 * A time as a person reads it, in the zone it was written in; as it was written on hover. `isAgo`: also how long ago.
 * What is no time of the calendar is shown as it is.
 */
export function Time({
  value,
  isAgo = false,
}: {
  readonly value: string | undefined;
  readonly isAgo?: boolean;
}): ReactNode {
  const { language } = useMessages();
  if (value === undefined || value === '')
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  return (
    <Tooltip label={value}>
      <time dateTime={value} className="number">
        {localTime(value, language)}
        {isAgo && (
          <Text span inherit c="dimmed" className="ago">
            {' · '}
            {ago(value, language)}
          </Text>
        )}
      </time>
    </Tooltip>
  );
}
