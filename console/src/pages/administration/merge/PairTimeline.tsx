import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { categoryColor } from '../../../theme/theme.js';
import { epochOf, instantText } from '../../../record/values/instant.js';
import type { RecordedComposition } from '../../patient/patient-data.js';

const WIDTH = 1_000;
const HEIGHT = 28;
const MARGIN = 8;
/** More marks than these are one bar to the eye: the newest are drawn. */
const MOST = 1_000;

interface Row {
  readonly label: string;
  readonly compositions: readonly RecordedComposition[];
}

/** Records over each other on one axis of time: where they overlap, and where one goes on from the other. */
export function PairTimeline({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const drawn = rows.map(({ label, compositions }) => ({
    label,
    marks: compositions
      .slice(0, MOST)
      .map(({ uid, template, time }) => ({ uid, template, time, at: epochOf(time) }))
      .filter(({ at }) => !Number.isNaN(at)),
  }));
  const all = drawn.flatMap(({ marks }) => marks).sort((left, right) => left.at - right.at);
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) return null;
  const place = (at: number): number =>
    MARGIN + ((at - first.at) / Math.max(1, last.at - first.at)) * (WIDTH - 2 * MARGIN);
  return (
    <figure className="pair-timeline" aria-label={t('merge.timelines')} role="group">
      {drawn.map(({ label, marks }) => (
        <div key={label}>
          <Text span size="sm" c="dimmed">
            {label}
          </Text>
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={t('merge.timelineLabel', { name: label, count: marks.length })}
          >
            <line x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
            {marks.map(({ uid, template, at }) => (
              <rect
                key={uid}
                x={place(at) - 2}
                y={5}
                width={4}
                height={HEIGHT - 10}
                fill={categoryColor(template)}
              />
            ))}
          </svg>
        </div>
      ))}
      <div className="ticks">
        <span>{instantText(first.time, reader).text}</span>
        <span>{instantText(last.time, reader).text}</span>
      </div>
    </figure>
  );
}
