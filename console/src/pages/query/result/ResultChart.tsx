import { Group, SegmentedControl, Select, Text } from '@mantine/core';
import type { EChartsCoreOption } from 'echarts/core';
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import type { ResultSet } from '../../../api/types.js';
import { Chart, chartBase, timeAxis } from '../../../charts/Chart.js';
import type { ChartColors } from '../../../charts/colors.js';
import { useMessages } from '../../../messages/messages.js';
import { instantText } from '../../../record/values/instant.js';
import type { ValueReader } from '../../../record/values/value-reader.js';
import { seriesColor } from '../../../theme/theme.js';
import { numberText } from '../../../widgets/number-text.js';
import { Empty } from '../../../widgets/states.js';
import { chartColumns, type ChartColumn } from './chart-columns.js';
import {
  AGGREGATE_NAMES,
  CHART_NAMES,
  guessChart,
  MOST_SERIES,
  seriesOf,
  type Aggregate,
  type ChartKind,
  type ChartSeries,
  type Shelves,
} from './guess-chart.js';

/** An answer as a chart: at first as its columns suggest, then as one chooses what stands where. */
export function ResultChart({ result }: { readonly result: ResultSet }): ReactNode {
  const { t } = useMessages();
  const guess = useMemo(() => guessChart(result), [result]);
  const [chosen, setChosen] = useState<Partial<Shelves>>({});
  const shelves = useMemo(() => (guess === null ? null : { ...guess, ...chosen }), [guess, chosen]);
  if (shelves === null) return <Empty title={t('chart.none')}>{t('chart.noneHint')}</Empty>;
  return (
    <>
      <ShelvesBar
        result={result}
        shelves={shelves}
        onChange={(parts) => setChosen((before) => ({ ...before, ...parts }))}
      />
      <Drawing result={result} shelves={shelves} />
    </>
  );
}

/** Which column stands where. */
function ShelvesBar({
  result,
  shelves,
  onChange,
}: {
  readonly result: ResultSet;
  readonly shelves: Shelves;
  readonly onChange: (parts: Partial<Shelves>) => void;
}): ReactNode {
  const { t } = useMessages();
  const columns = useMemo(() => chartColumns(result), [result]);
  const { kind, x, y, by, aggregate } = shelves;
  const hasX = kind !== 'histogram';
  const numbers = columns.filter((column) => column.kind === 'number');
  const aggregates = Object.keys(AGGREGATE_NAMES) as Aggregate[];
  return (
    <Group align="end" gap="xs" mb="xs">
      <SegmentedControl
        size="xs"
        value={kind}
        aria-label={t('chart.kind')}
        onChange={(next) => onChange({ kind: next, ...(x === null && { x: columns[0] ?? null }) })}
        data={(Object.keys(CHART_NAMES) as ChartKind[]).map((value) => ({
          value,
          label: t(CHART_NAMES[value]),
        }))}
      />
      {hasX && (
        <Shelf
          label="x"
          columns={columns}
          value={x}
          onChange={(column) => column && onChange({ x: column })}
        />
      )}
      <Shelf label="y" columns={numbers} value={y} onChange={(column) => column && onChange({ y: column })} />
      {hasX && (
        <Shelf
          label={t('chart.split')}
          columns={columns}
          value={by}
          onChange={(column) => onChange({ by: column })}
          isOptional
        />
      )}
      {hasX && (
        <Select
          size="xs"
          w={150}
          label={t('chart.sameX')}
          allowDeselect={false}
          data={aggregates.map((value) => ({ value, label: t(AGGREGATE_NAMES[value]) }))}
          value={aggregate}
          onChange={(value) => onChange({ aggregate: value ?? 'each' })}
        />
      )}
    </Group>
  );
}

function Shelf({
  label,
  columns,
  value,
  onChange,
  isOptional = false,
}: {
  readonly label: string;
  readonly columns: readonly ChartColumn[];
  readonly value: ChartColumn | null;
  readonly onChange: (column: ChartColumn | null) => void;
  readonly isOptional?: boolean;
}): ReactNode {
  // Two columns may have one name.
  const place = columns.findIndex(({ name, kind }) => name === value?.name && kind === value.kind);
  return (
    <Select
      size="xs"
      w={150}
      label={label}
      clearable={isOptional}
      allowDeselect={isOptional}
      data={columns.map(({ name }, index) => ({ value: String(index), label: name }))}
      value={place < 0 ? null : String(place)}
      onChange={(next) => onChange(next === null ? null : (columns[Number(next)] ?? null))}
    />
  );
}

function Drawing({ result, shelves }: { readonly result: ResultSet; readonly shelves: Shelves }): ReactNode {
  const reader = useMessages();
  const { t, language } = reader;
  const { kind, x, y, by } = shelves;
  const series = useMemo(() => seriesOf(result, shelves), [result, shelves]);
  const shown = useMemo(() => series.slice(0, MOST_SERIES), [series]);
  const option = useCallback(
    (colors: ChartColors) => optionOf(shown, { kind, x, reader }, colors),
    [shown, kind, x, reader],
  );
  const title = t('chart.title', { y: y.name, x: kind === 'histogram' ? '' : (x?.name ?? '') });
  const left = series.length - shown.length;
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        {title}
        {by !== null && kind !== 'histogram' && ` · ${t('chart.by', { by: by.name })}`}
        {left > 0 && ` · ${t('chart.left', { count: numberText(left, language) })}`}
      </Text>
      <Chart option={option} height={420} label={title} />
    </>
  );
}

interface Axes extends Pick<Shelves, 'kind' | 'x'> {
  readonly reader: ValueReader;
}

function optionOf(
  series: readonly ChartSeries[],
  { kind, x, reader }: Axes,
  colors: ChartColors,
): EChartsCoreOption {
  const isBars = kind === 'bars' || kind === 'histogram';
  const isCategory = isBars || x?.kind === 'text';
  const label = (at: number | string): string =>
    x?.kind === 'time' && typeof at === 'number'
      ? instantText(new Date(at).toISOString(), reader, { isExact: true }).text
      : String(at);
  const value = {
    type: 'value',
    scale: !isBars,
    axisLabel: { color: colors.quiet, fontSize: 11 },
    splitLine: { lineStyle: { color: colors.line } },
  };
  const category = {
    type: 'category',
    data: isCategory ? categoriesOf(series).map(label) : [],
    axisLabel: { color: colors.quiet, fontSize: 11, hideOverlap: true },
  };
  return {
    ...chartBase(colors),
    grid: { left: 56, right: 16, top: 36, bottom: 36 },
    ...(series.length > 1 && {
      legend: { type: 'scroll', left: 0, top: 0, textStyle: { color: colors.ink } },
    }),
    xAxis: isCategory ? category : x?.kind === 'time' ? timeAxis(colors) : value,
    yAxis: value,
    series: series.map(({ name, data }, index) => ({
      type: kind === 'lines' ? 'line' : kind === 'scatter' ? 'scatter' : 'bar',
      name,
      data: isCategory ? data.map(([at, height]) => [label(at), height]) : data,
      color: seriesColor(index),
      symbolSize: 6,
      large: true,
      ...(kind === 'histogram' && { barCategoryGap: '4%' }),
    })),
  };
}

/** What stands on an axis of categories: the values of all series in one order. */
function categoriesOf(series: readonly ChartSeries[]): readonly (number | string)[] {
  const [first] = series;
  if (series.length === 1 && first !== undefined) return [...new Set(first.data.map(([at]) => at))];
  const all = new Set(series.flatMap(({ data }) => data.map(([at]) => at)));
  return [...all].sort((left, right) =>
    typeof left === 'number' && typeof right === 'number' ? left - right : left < right ? -1 : 1,
  );
}
