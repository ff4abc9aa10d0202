import type { EChartsCoreOption } from 'echarts/core';
import { useCallback, type ReactNode } from 'react';
import { Chart, chartBase, timeAxis } from '../../charts/Chart.js';
import type { ChartColors } from '../../charts/colors.js';
import { useMessages } from '../../messages/messages.js';
import { categoryColor } from '../../theme/theme.js';
import { epochOf, instantText } from '../../record/values/instant.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import type { RecordedComposition } from './patient-data.js';

const LANE_HEIGHTS = [96, 124, 152, 180, 240] as const;

/** When what was written: a lane for each template, a dot for each composition, wheel or handles for the part of it. */
export function Timeline({
  compositions,
  onRange,
  onOpen,
}: {
  readonly compositions: readonly RecordedComposition[];
  readonly onRange: (from: number, to: number) => void;
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const reader = useMessages();
  const lanes = [...new Set(compositions.map(({ template }) => template))].sort();
  const option = useCallback(
    (colors: ChartColors) => timelineOption(compositions, reader, colors),
    [compositions, reader],
  );
  return (
    <Chart
      option={option}
      height={LANE_HEIGHTS[Math.min(lanes.length, LANE_HEIGHTS.length) - 1] ?? 96}
      label={reader.t('patient.timelineLabel', { count: compositions.length, lanes: lanes.length })}
      onRange={onRange}
      onPoint={(series, point) => {
        const lane = compositions.filter(({ template }) => template === lanes[series]);
        const uid = lane[point]?.uid;
        if (uid !== undefined) onOpen(uid);
      }}
    />
  );
}

function timelineOption(
  compositions: readonly RecordedComposition[],
  reader: ValueReader,
  colors: ChartColors,
): EChartsCoreOption {
  const lanes = [...new Set(compositions.map(({ template }) => template))].sort();
  const series = lanes.map((lane, index) => ({
    type: 'scatter',
    name: lane,
    symbolSize: 10,
    itemStyle: { color: categoryColor(lane), opacity: 0.85 },
    data: compositions
      .filter(({ template }) => template === lane)
      .map(({ time, name }) => ({
        value: [epochOf(time), index],
        name: `${name}\n${instantText(time, reader).text}`,
      })),
  }));
  return {
    ...chartBase(colors),
    grid: { left: 0, right: 8, top: 4, bottom: 44, containLabel: false },
    tooltip: { ...(chartBase(colors).tooltip as object), formatter: ({ name }: { name: string }) => name },
    xAxis: timeAxis(colors),
    yAxis: {
      type: 'value',
      min: -0.6,
      max: lanes.length - 0.4,
      inverse: true,
      show: false,
    },
    dataZoom: [
      { type: 'inside', filterMode: 'none', zoomOnMouseWheel: true },
      {
        type: 'slider',
        filterMode: 'none',
        height: 14,
        bottom: 2,
        showDetail: false,
        brushSelect: true,
        borderColor: 'transparent',
        backgroundColor: colors.line,
        fillerColor: `${colors.accent}33`,
        handleStyle: { color: colors.accent, borderColor: colors.accent },
        moveHandleSize: 0,
        showDataShadow: false,
      },
    ],
    series,
  };
}
