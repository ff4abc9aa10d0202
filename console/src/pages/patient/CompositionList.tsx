import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { instantText } from '../../record/values/instant.js';
import { compositionView } from '../../shell/address.js';
import { categoryColor } from '../../theme/theme.js';
import { Time } from '../../widgets/Time.js';
import { State } from '../../widgets/State.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { useApi } from '../../session/session.js';
import { contentLines } from './content-lines.js';
import { trendsOf, type RecordedComposition } from './patient-data.js';

const ROW_HEIGHT = 52;

/** What each document says, by what the trends of the record read anyway. */
function useContentLines(ehrId: string): ReadonlyMap<string, string> {
  const reader = useMessages();
  const api = useApi();
  const { data } = useQuery({ queryKey: ['trends', ehrId], queryFn: () => trendsOf(api, ehrId) });
  return useMemo(() => contentLines(data ?? [], reader), [data, reader]);
}

/** The compositions of the chosen time, newest first; only those in sight are made. */
export function CompositionList({
  ehrId,
  compositions,
}: {
  readonly ehrId: string;
  readonly compositions: readonly RecordedComposition[];
}): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const lines = useContentLines(ehrId);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: compositions.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  if (compositions.length === 0) return <Text c="dimmed">{t('patient.noneInRange')}</Text>;
  return (
    <div
      ref={box}
      className="composition-list"
      tabIndex={0}
      role="region"
      aria-label={t('patient.compositions')}
    >
      <ul style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const composition = compositions[index];
          return (
            composition && (
              <li key={composition.uid} style={{ transform: `translateY(${start}px)` }}>
                <span className="dot" style={{ background: categoryColor(composition.template) }} />
                <div>
                  <div className="composition-line">
                    <ViewLink
                      view={compositionView(ehrId, composition.uid)}
                      // Of twelve links of one name each is another one to who hears them.
                      aria-label={`${composition.name}, ${instantText(composition.time, reader).text}`}
                    >
                      {composition.name}
                    </ViewLink>
                    <State of={composition.state} />
                    {lines.has(composition.uid) && (
                      <Text span size="sm" className="number content-line">
                        {lines.get(composition.uid)}
                      </Text>
                    )}
                  </div>
                  <Text size="sm" c="dimmed" truncate>
                    <Time value={composition.time} isAgo /> · {composition.composer}
                  </Text>
                </div>
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}
