import type { EChartsCoreOption } from 'echarts/core';
import { useCallback, type ReactNode } from 'react';
import { Chart, chartBase, timeAxis, type ChartColors } from '../../charts/Chart.js';
import { useMessages } from '../../messages/messages.js';
import { seriesColor } from '../../theme/theme.js';
import { epochOf, instantText } from '../../record/values/instant.js';
import { numeral } from '../../record/values/quantity.js';
import { unitText } from '../../record/values/units.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import type { Trend } from './patient-data.js';

/** One or two trends over time, each by its own scale; a point opens the composition that holds it. */
export function TrendChart({
  trends,
  onOpen,
}: {
  readonly trends: readonly Trend[];
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const reader = useMessages();
  const option = useCallback((colors: ChartColors) => trendOption(trends, reader, colors), [trends, reader]);
  return (
    <Chart
      option={option}
      height={240}
      label={reader.t('patient.trendLabel', { names: trends.map(({ name }) => name).join(', ') })}
      onPoint={(series, point) => {
        const uid = trends[series]?.points[point]?.uid;
        if (uid !== undefined) onOpen(uid);
      }}
    />
  );
}

function trendOption(trends: readonly Trend[], reader: ValueReader, colors: ChartColors): EChartsCoreOption {
  // Two things of one unit share the scale: only then can they be compared.
  const isShared = trends.length === 2 && trends[0]?.units === trends[1]?.units;
  return {
    ...chartBase(colors),
    grid: { left: 44, right: trends.length > 1 && !isShared ? 44 : 12, top: 34, bottom: 28 },
    legend: {
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
    yAxis: trends.slice(0, isShared ? 1 : 2).map(() => ({
      type: 'value',
      scale: true,
      axisLabel: { color: colors.quiet, fontSize: 11 },
      splitLine: { lineStyle: { color: colors.line } },
    })),
    series: trends.map((trend, index) =>
      seriesOf(trend, index, { axis: isShared ? 0 : index, reader, colors }),
    ),
  };
}

function seriesOf(
  { name, units, points, normal }: Trend,
  index: number,
  {
    axis,
    reader,
    colors,
  }: { readonly axis: number; readonly reader: ValueReader; readonly colors: ChartColors },
): object {
  return {
    type: 'line',
    name: units === '' ? name : `${name} (${unitText(units)})`,
    yAxisIndex: axis,
    symbol: 'circle',
    symbolSize: 7,
    color: seriesColor(index),
    data: points.map(({ time, value, symbol }) => ({
      value: [epochOf(time), value],
      name: `${symbol ?? numeral(value, reader.language)} ${unitText(units)} · ${instantText(time, reader).text}`,
    })),
    ...(normal !== null && {
      markArea: {
        silent: true,
        itemStyle: { color: colors.band },
        data: [[{ yAxis: normal[0] ?? 'min' }, { yAxis: normal[1] ?? 'max' }]],
      },
    }),
  };
}
