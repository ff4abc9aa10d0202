import { Button, Group, SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useAddress } from '../../shell/address.js';
import { seriesColor } from '../../theme/theme.js';
import { instantText } from '../../record/values/instant.js';
import { unitText } from '../../record/values/units.js';
import { Empty } from '../../widgets/states.js';
import type { Trend } from './patient-data.js';
import { pointText } from './point-text.js';
import { Sparkline } from './Sparkline.js';
import { TrendChart } from './TrendChart.js';

/** Series shown before somebody asks for all. */
const FIRST_TRENDS = 8;

/** Everything that was measured more than once, as small multiples; one or two of them large. */
export function Trends({
  trends,
  onOpen,
}: {
  readonly trends: readonly Trend[];
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  // A free place is empty: what stays keeps its colour.
  const chosen = (address.trends ?? '').split(',').map(decodeURIComponent);
  const [isAll, setIsAll] = useState(false);
  if (trends.length === 0) return <Empty title={t('patient.noTrends')}>{t('patient.noTrendsHint')}</Empty>;
  const toggle = (key: string): void => {
    const next = placed(chosen, key).map(encodeURIComponent).join(',');
    change({ trends: /[^,]/.test(next) ? next : undefined });
  };
  const large = chosen.flatMap((key, place) =>
    trends.filter((trend) => trend.key === key).map((trend) => ({ trend, color: seriesColor(place) })),
  );
  return (
    <>
      {large.length > 0 && <TrendChart drawn={large} onOpen={onOpen} />}
      <SimpleGrid cols={{ base: 2, xl: 3 }} spacing="sm">
        {trends.slice(0, isAll ? trends.length : FIRST_TRENDS).map((trend) => (
          <Small
            key={trend.key}
            trend={trend}
            color={seriesColor(Math.max(0, chosen.indexOf(trend.key)))}
            isChosen={chosen.includes(trend.key)}
            onClick={() => toggle(trend.key)}
          />
        ))}
      </SimpleGrid>
      {trends.length > FIRST_TRENDS && !isAll && (
        <Button mt="sm" size="xs" variant="default" onClick={() => setIsAll(true)}>
          {t('patient.allTrends', { count: trends.length })}
        </Button>
      )}
    </>
  );
}

/** The places of what is drawn with one taken out, or put where there is room. */
function placed(chosen: readonly string[], key: string): string[] {
  const free = chosen.includes(key) ? chosen.indexOf(key) : chosen.indexOf('');
  const made = [...chosen];
  made[free === -1 ? chosen.length : free] = chosen.includes(key) ? '' : key;
  return made;
}

function Small({
  trend,
  color,
  isChosen,
  onClick,
}: {
  readonly trend: Trend;
  readonly color: string;
  readonly isChosen: boolean;
  readonly onClick: () => void;
}): ReactNode {
  const reader = useMessages();
  const newest = trend.points.at(-1);
  if (newest === undefined) return null;
  return (
    <UnstyledButton className="trend" aria-pressed={isChosen} onClick={onClick} title={trend.entry}>
      <Group justify="space-between" gap={4} wrap="nowrap" align="baseline">
        <Text size="sm" c="dimmed" truncate>
          {trend.name}
        </Text>
        <Text size="xs" c="dimmed" className="count number">
          n = {trend.points.length}
        </Text>
      </Group>
      <div className="trend-value number">
        {pointText(newest, reader)} <span>{unitText(trend.units)}</span>
      </div>
      <Sparkline trend={trend} color={isChosen ? color : 'var(--accent)'} />
      <Text size="xs" c="dimmed" truncate>
        {instantText(newest.time, reader).text}
      </Text>
    </UnstyledButton>
  );
}
