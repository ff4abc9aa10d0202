import { useComputedColorScheme } from '@mantine/core';
import type { ECharts, EChartsCoreOption } from 'echarts/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import type { ChartColors } from './colors.js';
import { init } from './echarts.js';
import { TIMES } from './times.js';

/** Events of a chart. */
export interface ChartEvents {
  /** A point was clicked: the number of its series and of the point. */
  readonly onPoint?: (series: number, point: number) => void;
  /** Another part of the time axis is shown; ms. */
  readonly onRange?: (from: number, to: number) => void;
}

/** A drawing by ECharts, as high as `height` and as wide as there is room. `label`: what it shows, in words. */
export function Chart({
  option,
  height,
  label,
  ...events
}: ChartEvents & {
  readonly option: (colors: ChartColors) => EChartsCoreOption;
  readonly height: number;
  readonly label: string;
}): ReactNode {
  const { t } = useMessages();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts>(null);
  const handlers = useRef(events);
  handlers.current = events;
  const scheme = useComputedColorScheme('light');

  useEffect(() => {
    if (place.current === null) return;
    const drawing = init(place.current);
    chart.current = drawing;
    drawing.on('click', ({ seriesIndex, dataIndex }) =>
      handlers.current.onPoint?.(seriesIndex ?? 0, dataIndex),
    );
    drawing.on('datazoom', () => {
      const [from, to] = shownRange(drawing);
      handlers.current.onRange?.(from, to);
    });
    const watcher = new ResizeObserver(() => {
      drawing.resize();
    });
    watcher.observe(place.current);
    return () => {
      watcher.disconnect();
      drawing.dispose();
    };
  }, []);

  useEffect(() => {
    chart.current?.setOption(option(chartColors(scheme)), { notMerge: true });
  }, [option, scheme]);

  const drawing = <div ref={place} className="chart" style={{ height }} role="img" aria-label={label} />;
  if (events.onRange === undefined) return drawing;
  return (
    <div
      className="chart-keys"
      role="group"
      tabIndex={0}
      aria-label={t('chart.keys')}
      onKeyDown={({ key }) => {
        const change = CHANGES[key];
        if (change !== undefined && chart.current !== null) zoom(chart.current, change);
      }}
    >
      {drawing}
    </div>
  );
}

/** What a key does to the part that is shown, in percent of the whole: where it begins and ends. */
const CHANGES: Readonly<Record<string, (start: number, end: number) => readonly [number, number]>> = {
  ArrowLeft: (start, end) => [start - Math.min(start, STEP), end - Math.min(start, STEP)],
  ArrowRight: (start, end) => [start + Math.min(100 - end, STEP), end + Math.min(100 - end, STEP)],
  '+': (start, end) => [start + (end - start) / 4, end - (end - start) / 4],
  '-': (start, end) => [start - (end - start) / 2, end + (end - start) / 2],
  Home: () => [0, 100],
};
const STEP = 10;

function zoom(drawing: ECharts, change: (start: number, end: number) => readonly [number, number]): void {
  const [shown] = (drawing.getOption() as ZoomState).dataZoom ?? [];
  const [start, end] = change(shown?.start ?? 0, shown?.end ?? 100);
  drawing.dispatchAction({ type: 'dataZoom', start: Math.max(0, start), end: Math.min(100, end) });
}

interface ZoomState {
  readonly dataZoom?: readonly {
    readonly start?: number;
    readonly end?: number;
    readonly startValue?: number;
    readonly endValue?: number;
  }[];
}

function shownRange(drawing: ECharts): readonly [number, number] {
  const [zoom] = (drawing.getOption() as ZoomState).dataZoom ?? [];
  return [zoom?.startValue ?? -Infinity, zoom?.endValue ?? Infinity];
}

function chartColors(scheme: 'light' | 'dark'): ChartColors {
  return scheme === 'dark'
    ? {
        ink: '#d8dfe0',
        quiet: '#98a5a8',
        line: '#2a3336',
        ground: '#191f21',
        accent: '#5cc4bb',
        band: '#1d3a2a',
      }
    : {
        ink: '#1b2325',
        quiet: '#5a686b',
        line: '#e2e8e8',
        ground: '#ffffff',
        accent: '#0b6e69',
        band: '#e9f5ec',
      };
}

/** What charts have in common. Tooltips are drawn on the canvas: what a record says never becomes markup. */
export function chartBase(colors: ChartColors): EChartsCoreOption {
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: colors.ink },
    tooltip: {
      renderMode: 'richText',
      backgroundColor: colors.ground,
      borderColor: colors.line,
      textStyle: { color: colors.ink, fontSize: 12 },
    },
  };
}

/** A time axis that keeps out of the way. */
export function timeAxis(colors: ChartColors): object {
  return {
    type: 'time',
    boundaryGap: ['2%', '2%'],
    axisLine: { onZero: false, lineStyle: { color: colors.line } },
    axisTick: { show: false },
    axisLabel: { color: colors.quiet, fontSize: 11, hideOverlap: true, formatter: TIMES },
    splitLine: { show: false },
  };
}
