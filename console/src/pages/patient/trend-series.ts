import type { ChartColors } from '../../charts/colors.js';
import { epochOf, instantText } from '../../record/values/instant.js';
import { unitText } from '../../record/values/units.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import { pointText } from './point-text.js';
import type { Trend } from './patient-data.js';

/** A trend as a line of ECharts, before the band of what is normal. */
export function trendSeries(
  { trend, color }: { readonly trend: Trend; readonly color: string },
  {
    axis,
    reader,
    colors,
  }: { readonly axis: number; readonly reader: ValueReader; readonly colors: ChartColors },
): object {
  const { name, units, points, normal } = trend;
  return {
    type: 'line',
    name: units === '' ? name : `${name} (${unitText(units)})`,
    yAxisIndex: axis,
    symbol: 'circle',
    symbolSize: 7,
    color,
    data: points.map((point) => ({
      value: [epochOf(point.time), point.value],
      name: `${pointText(point, reader)} ${unitText(units)} · ${instantText(point.time, reader).text}`,
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
