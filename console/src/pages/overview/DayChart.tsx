import type { DayPart } from '@everchart/client';
import { Group, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { milliseconds, numberText } from '../../widgets/number-text.js';
import { scrolledByKeys } from '../../widgets/scrolled-by-keys.js';
import { Time } from '../../widgets/Time.js';

const HEIGHT = 56;
const STEP = 10;
/** Parts of a whole day. */
const PARTS = 145;

/** Requests of the last day with those that failed, and below them how long they took; the numbers as a table. */
export function DayChart({ parts }: { readonly parts: readonly DayPart[] }): ReactNode {
  const { t, language } = useMessages();
  const sum = (name: 'requests' | 'errors' | 'refused_sign_ins'): number =>
    parts.reduce((total, part) => total + part[name], 0);
  const [requests, errors, refused] = [sum('requests'), sum('errors'), sum('refused_sign_ins')];
  const slowest = Math.max(0, ...parts.map(({ p95 }) => p95 ?? 0));
  const count = (value: number): string => numberText(value, language);
  const label = t('day.label', {
    requests: count(requests),
    errors: count(errors),
    refused: count(refused),
    p95: milliseconds(slowest, language),
  });
  return (
    <figure className="activity day">
      <Group gap="md" mb={6}>
        <Text size="sm" className="key commits">
          {t('day.requests')} <b className="number">{count(requests)}</b>
        </Text>
        <Text size="sm" className={errors > 0 ? 'flag' : undefined}>
          {t('day.errors')} <b className="number">{count(errors)}</b>
        </Text>
        <Text size="sm" className={refused > 0 ? 'flag' : undefined}>
          {t('day.refused')} <b className="number">{count(refused)}</b>
        </Text>
        <Text size="sm" c="dimmed">
          {t('day.slowest', { p95: milliseconds(slowest, language) })}
        </Text>
      </Group>
      <Drawing parts={parts} slowest={slowest} label={label} />
      <Group justify="space-between" className="ticks">
        <span>{t('day.ago')}</span>
        <span>{t('overview.now')}</span>
      </Group>
      <details>
        <summary>{t('day.table')}</summary>
        <Numbers parts={parts} />
      </details>
    </figure>
  );
}

function Drawing({
  parts,
  slowest,
  label,
}: {
  readonly parts: readonly DayPart[];
  readonly slowest: number;
  readonly label: string;
}): ReactNode {
  const most = Math.max(1, ...parts.map(({ requests }) => requests));
  const begin = PARTS - parts.length;
  const at = (index: number): number => (begin + index) * STEP;
  const line = parts.flatMap(({ p95 }, index) =>
    p95 === null
      ? []
      : [`${at(index) + STEP / 2},${2 * HEIGHT - (p95 / Math.max(slowest, 1)) * (HEIGHT - 6)}`],
  );
  return (
    <svg
      viewBox={`0 0 ${PARTS * STEP} ${HEIGHT * 2 + 2}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line className="axis" x1={0} x2={PARTS * STEP} y1={HEIGHT} y2={HEIGHT} />
      {parts.map(({ time, requests, errors }, index) => (
        <g key={time}>
          <Bar className="commits" x={at(index)} height={(requests / most) * (HEIGHT - 4)} />
          <Bar className="failed" x={at(index)} height={(errors / most) * (HEIGHT - 4)} />
        </g>
      ))}
      {/* Of one point a dot: a line has two. */}
      <polyline className="latency" points={[...line, ...line.slice(-1)].join(' ')} />
    </svg>
  );
}

/** What is there is seen, however little beside much. */
function Bar({
  className,
  x,
  height,
}: {
  readonly className: string;
  readonly x: number;
  readonly height: number;
}): ReactNode {
  if (height === 0) return null;
  const seen = Math.max(2, height);
  return <rect className={className} x={x + 1} width={STEP - 2} y={HEIGHT - seen} height={seen} />;
}

function Numbers({ parts }: { readonly parts: readonly DayPart[] }): ReactNode {
  const { t, language } = useMessages();
  const time = (value: number | null): string => (value === null ? '–' : milliseconds(value, language));
  return (
    <Table.ScrollContainer minWidth={480} scrollAreaProps={scrolledByKeys(t('day.table'))}>
      <Table className="grid">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('audit.began')}</Table.Th>
            {(['requests', 'errors', 'refused', 'median', 'p95'] as const).map((name) => (
              <Table.Th key={name} className="end">
                {t(`day.${name}`)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...parts]
            .reverse()
            .filter(({ requests }) => requests > 0)
            .map((part) => (
              <Table.Tr key={part.time}>
                <Table.Td>
                  <Time value={part.time} />
                </Table.Td>
                <Table.Td className="end number">{numberText(part.requests, language)}</Table.Td>
                <Table.Td className="end number">{numberText(part.errors, language)}</Table.Td>
                <Table.Td className="end number">{numberText(part.refused_sign_ins, language)}</Table.Td>
                <Table.Td className="end number">{time(part.median)}</Table.Td>
                <Table.Td className="end number">{time(part.p95)}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
