import { Anchor, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { byEpoch } from '../../record/values/instant.js';
import { unitText } from '../../record/values/units.js';
import { Time } from '../../widgets/Time.js';
import type { Trend } from './patient-data.js';
import { pointText } from './point-text.js';

/** A trend with the colour of its place. */
export interface DrawnTrend {
  readonly trend: Trend;
  readonly color: string;
}

/** The points of trends, newest first, for who uses no mouse or sees no picture; each opens the composition that holds it. */
export function TrendTable({
  drawn,
  onOpen,
}: {
  readonly drawn: readonly DrawnTrend[];
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const points = drawn
    .flatMap(({ trend }) => trend.points.map((point) => ({ trend, point })))
    .sort((left, right) => byEpoch(right.point.time, left.point.time));
  return (
    <details className="trend-table">
      <summary>{t('patient.points')}</summary>
      <Table className="grid">
        <Table.Tbody>
          {points.map(({ trend, point }, index) => (
            <Table.Tr key={index}>
              <Table.Td>
                <Time value={point.time} />
              </Table.Td>
              <Table.Td>{trend.name}</Table.Td>
              <Table.Td className="end number">
                <Anchor component="button" type="button" onClick={() => onOpen(point.uid)}>
                  {pointText(point, reader)} {unitText(trend.units)}
                </Anchor>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  );
}
