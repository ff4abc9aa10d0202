import { Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { versionNumberOf, type HistoryEntry } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { compositionView } from '../../shell/address.js';
import { ChangeType } from '../../widgets/ChangeType.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** The versions of a COMPOSITION as a line, newest above; each can be opened or compared with the one that is shown. */
export function History({
  ehrId,
  revisions,
  shown,
  onCompare,
}: {
  readonly ehrId: string;
  readonly revisions: readonly HistoryEntry[];
  readonly shown: string;
  readonly onCompare?: (uid: string) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <ol className="history">
      {revisions.map((revision) => (
        <li key={revision.uid} aria-current={revision.uid === shown}>
          <div>
            <ViewLink view={compositionView(ehrId, revision.uid)} fw={600}>
              {t('history.version', { number: versionNumberOf(revision.uid) })}
            </ViewLink>{' '}
            <Text span size="sm" c="dimmed">
              <ChangeType rubric={revision.change} />
            </Text>
          </div>
          <Text size="sm" c="dimmed">
            <Time value={revision.time} isAgo /> · {revision.committer}
          </Text>
          {revision.description !== '' && <Text size="sm">{revision.description}</Text>}
          {onCompare !== undefined && revision.uid !== shown && revision.change !== 'deleted' && (
            <Button size="compact-xs" variant="subtle" onClick={() => onCompare(revision.uid)}>
              {t('history.compare')}
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}
