import type { EChartsCoreOption } from 'echarts/core';
import { useCallback, type ReactNode } from 'react';
import { Chart, chartBase, timeAxis } from '../../charts/Chart.js';
import type { ChartColors } from '../../charts/colors.js';
import { useMessages } from '../../messages/messages.js';
import { unitText } from '../../record/values/units.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import { trendSeries } from './trend-series.js';
import { TrendTable, type DrawnTrend } from './TrendTable.js';

/** Room for the numbers of one scale. */
const SCALE_WIDTH = 44;

/** Trends over time, one scale for each unit; a point opens the composition that holds it. */
export function TrendChart({
  drawn,
  onOpen,
}: {
  readonly drawn: readonly DrawnTrend[];
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const reader = useMessages();
  const option = useCallback((colors: ChartColors) => trendOption(drawn, reader, colors), [drawn, reader]);
  return (
    <>
      <Chart
        option={option}
        height={240}
        label={reader.t('patient.trendLabel', { names: drawn.map(({ trend }) => trend.name).join(', ') })}
        onPoint={(series, point) => {
          const uid = drawn[series]?.trend.points[point]?.uid;
          if (uid !== undefined) onOpen(uid);
        }}
      />
      <TrendTable drawn={drawn} onOpen={onOpen} />
    </>
  );
}

function trendOption(
  drawn: readonly DrawnTrend[],
  reader: ValueReader,
  colors: ChartColors,
): EChartsCoreOption {
  // Things of one unit share the scale: only then can they be compared.
  const units = [...new Set(drawn.map(({ trend }) => trend.units))];
  return {
    ...chartBase(colors),
    grid: { left: SCALE_WIDTH, right: Math.max(12, (units.length - 1) * SCALE_WIDTH), top: 34, bottom: 28 },
    legend: {
      type: 'scroll',
      left: 0,
      top: 0,
      icon: 'circle',
      itemWidth: 8,
      itemHeight: 8,
      textStyle: { color: colors.ink },
    },
    tooltip: {
      ...(chartBase(colors).tooltip as object),
      formatter: ({ seriesName, name }: { seriesName: string; name: string }) => `${seriesName}\n${name}`,
    },
    xAxis: timeAxis(colors),
    yAxis: units.map((unit, index) => ({
      type: 'value',
      position: index === 0 ? 'left' : 'right',
      offset: Math.max(0, index - 1) * SCALE_WIDTH,
      name: units.length > 1 ? unitText(unit) : '',
      nameGap: 6,
      nameTextStyle: { color: colors.quiet, fontSize: 11 },
      scale: true,
      axisLabel: { color: colors.quiet, fontSize: 11 },
      splitLine: { lineStyle: { color: colors.line } },
    })),
    series: drawn.map((one) => trendSeries(one, { axis: units.indexOf(one.trend.units), reader, colors })),
  };
}
