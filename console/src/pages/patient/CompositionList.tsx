import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, type CSSProperties, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { instantText } from '../../record/values/instant.js';
import { compositionView } from '../../shell/address.js';
import { Time } from '../../widgets/Time.js';
import { State } from '../../widgets/State.js';
import { useIsPrinting } from '../../widgets/use-print.js';
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

interface CompositionListProps {
  readonly ehrId: string;
  readonly compositions: readonly RecordedComposition[];
  /** The colour of a template. */
  readonly colorOf: (template: string) => string;
}

/** The compositions of the chosen time, newest first; only those in sight are made, and all on paper. */
export function CompositionList({ ehrId, compositions, colorOf }: CompositionListProps): ReactNode {
  const { t } = useMessages();
  const isPrinting = useIsPrinting();
  const lines = useContentLines(ehrId);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: compositions.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const lineOf = (composition: RecordedComposition): LineProps => ({
    ehrId,
    composition,
    color: colorOf(composition.template),
    says: lines.get(composition.uid),
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
      <ul style={isPrinting ? undefined : { height: rows.getTotalSize(), position: 'relative' }}>
        {isPrinting
          ? compositions.map((composition) => <Line key={composition.uid} {...lineOf(composition)} />)
          : rows.getVirtualItems().map(({ index, start }) => {
              const composition = compositions[index];
              const style = { transform: `translateY(${start}px)` };
              return composition && <Line key={composition.uid} {...lineOf(composition)} style={style} />;
            })}
      </ul>
    </div>
  );
}

interface LineProps {
  readonly ehrId: string;
  readonly composition: RecordedComposition;
  readonly color: string;
  /** What it says. */
  readonly says: string | undefined;
  readonly style?: CSSProperties;
}

function Line({ ehrId, composition, color, says, style }: LineProps): ReactNode {
  const reader = useMessages();
  const { uid, name, time, state, composer } = composition;
  return (
    <li style={style}>
      <span className="dot" style={{ background: color }} />
      <div>
        <div className="composition-line">
          <ViewLink
            view={compositionView(ehrId, uid)}
            // Of twelve links of one name each is another one to who hears them.
            aria-label={`${name}, ${instantText(time, reader).text}`}
          >
            {name}
          </ViewLink>
          <State of={state} />
          {says !== undefined && (
            <Text span size="sm" className="number content-line">
              {says}
            </Text>
          )}
        </div>
        <Text size="sm" c="dimmed" truncate>
          <Time value={time} isAgo /> · {composer}
        </Text>
      </div>
    </li>
  );
}
