import type { EChartsCoreOption } from 'echarts/core';
import { useMediaQuery } from '@mantine/hooks';
import { useCallback, useMemo, type ReactNode } from 'react';
import { Chart, chartBase, timeAxis } from '../../charts/Chart.js';
import type { ChartColors } from '../../charts/colors.js';
import { useMessages } from '../../messages/messages.js';
import { epochOf, instantText } from '../../record/values/instant.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import type { Lane } from './lanes.js';
import type { RecordedComposition } from './patient-data.js';

const LANE_HEIGHTS = [96, 124, 152, 180, 240] as const;

/** Pixels for what lanes are called; on a phone the legend says it alone. */
const NAMES_PX = 192;

/** When what was written: a lane for each template, a dot for each composition, wheel or handles for the part of it. */
export function Timeline({
  compositions,
  lanes: all,
  onRange,
  onOpen,
}: {
  readonly compositions: readonly RecordedComposition[];
  /** Those of the whole record. */
  readonly lanes: readonly Lane[];
  readonly onRange: (from: number, to: number) => void;
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const reader = useMessages();
  const isNarrow = useMediaQuery('(max-width: 767px)');
  const lanes = useMemo(
    () => all.filter((lane) => compositions.some(({ template }) => template === lane.template)),
    [all, compositions],
  );
  const dots = useMemo(() => compositions.filter(({ time }) => !Number.isNaN(epochOf(time))), [compositions]);
  const option = useCallback(
    (colors: ChartColors) => timelineOption(dots, { lanes, reader, isNarrow }, colors),
    [dots, lanes, reader, isNarrow],
  );
  const drafts = dots.filter(({ state }) => state === 'draft').length;
  const label = reader.t('patient.timelineLabel', { count: dots.length, lanes: lanes.length });
  return (
    <Chart
      option={option}
      height={LANE_HEIGHTS[Math.min(lanes.length, LANE_HEIGHTS.length) - 1] ?? 96}
      label={drafts === 0 ? label : `${label}, ${reader.t('patient.timelineDrafts', { count: drafts })}`}
      onRange={onRange}
      onPoint={(series, point) => {
        const uid = dots.filter(({ template }) => template === lanes[series]?.template)[point]?.uid;
        if (uid !== undefined) onOpen(uid);
      }}
    />
  );
}

interface Drawn {
  readonly lanes: readonly Lane[];
  readonly reader: ValueReader;
  readonly isNarrow: boolean;
}

function timelineOption(
  compositions: readonly RecordedComposition[],
  { lanes, reader, isNarrow }: Drawn,
  colors: ChartColors,
): EChartsCoreOption {
  const series = lanes.map((lane, index) => ({
    type: 'scatter',
    name: lane.name,
    symbolSize: 10,
    itemStyle: { color: lane.color, opacity: 0.85 },
    data: compositions
      .filter(({ template }) => template === lane.template)
      .map(({ time, name, state }) => ({
        value: [epochOf(time), index],
        name: `${name}\n${instantText(time, reader).text}`,
        // What is not finished is hollow.
        ...(state === 'draft' && { itemStyle: hollow(lane.color) }),
      })),
  }));
  return {
    ...chartBase(colors),
    grid: { left: isNarrow ? 0 : NAMES_PX, right: 8, top: 4, bottom: 44, containLabel: false },
    tooltip: { ...(chartBase(colors).tooltip as object), formatter: ({ name }: { name: string }) => name },
    xAxis: timeAxis(colors),
    yAxis: {
      type: 'category',
      data: lanes.map(({ name }) => name),
      inverse: true,
      show: !isNarrow,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: colors.ink, fontSize: 12, width: NAMES_PX - 16, overflow: 'truncate', interval: 0 },
    },
    dataZoom: [
      { type: 'inside', filterMode: 'none', zoomOnMouseWheel: true },
      {
        type: 'slider',
        left: isNarrow ? 0 : NAMES_PX,
        right: 8,
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

/** On light and dark ground alike. */
function hollow(color: string): object {
  return { color: 'transparent', borderColor: color, borderWidth: 2 };
}
