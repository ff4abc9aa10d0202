import { Group, SegmentedControl, Text } from '@mantine/core';
import type { EChartsCoreOption } from 'echarts/core';
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import type { ResultSet } from '../../../api/types.js';
import { Chart, chartBase, timeAxis, type ChartColors } from '../../../charts/Chart.js';
import { useMessages } from '../../../messages/messages.js';
import { seriesColor } from '../../../theme/theme.js';
import { Empty } from '../../../widgets/states.js';
import { CHART_NAMES, guessChart, seriesOf, type ChartGuess, type ChartKind } from './guess-chart.js';

/** An answer as a chart that its columns suggest; it says what it guessed, and may be changed. */
export function ResultChart({ result }: { readonly result: ResultSet }): ReactNode {
  const { t } = useMessages();
  const guess = useMemo(() => guessChart(result), [result]);
  const [kind, setKind] = useState<ChartKind | null>(null);
  if (guess === null) return <Empty title={t('chart.none')}>{t('chart.noneHint')}</Empty>;
  return <Drawing result={result} guess={kind === null ? guess : { ...guess, kind }} onKind={setKind} />;
}

function Drawing({
  result,
  guess,
  onKind,
}: {
  readonly result: ResultSet;
  readonly guess: ChartGuess;
  readonly onKind: (kind: ChartKind) => void;
}): ReactNode {
  const { t } = useMessages();
  const option = useCallback((colors: ChartColors) => optionOf(result, guess, colors), [result, guess]);
  const kinds: readonly ChartKind[] =
    guess.x === null ? ['histogram'] : ['lines', 'scatter', 'bars', 'histogram'];
  const title = t('chart.title', {
    y: guess.y.name,
    x: guess.kind === 'histogram' ? '' : (guess.x?.name ?? ''),
  });
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          {title}
          {guess.by !== null && guess.kind === 'lines' && ` · ${t('chart.by', { by: guess.by.name })}`}
        </Text>
        <SegmentedControl
          size="xs"
          value={guess.kind}
          onChange={(kind) => onKind(kind)}
          data={kinds.map((kind) => ({ value: kind, label: t(CHART_NAMES[kind]) }))}
        />
      </Group>
      <Chart option={option} height={420} label={title} />
    </>
  );
}

function optionOf(result: ResultSet, guess: ChartGuess, colors: ChartColors): EChartsCoreOption {
  const series = seriesOf(result, guess);
  const isCategory = guess.kind === 'bars' || guess.kind === 'histogram';
  const value = {
    type: 'value',
    scale: !isCategory,
    axisLabel: { color: colors.quiet, fontSize: 11 },
    splitLine: { lineStyle: { color: colors.line } },
  };
  const category = { type: 'category', axisLabel: { color: colors.quiet, fontSize: 11, hideOverlap: true } };
  return {
    ...chartBase(colors),
    grid: { left: 56, right: 16, top: 36, bottom: 36 },
    ...(series.length > 1 && {
      legend: { type: 'scroll', left: 0, top: 0, textStyle: { color: colors.ink } },
    }),
    xAxis: isCategory ? category : guess.x?.kind === 'time' ? timeAxis(colors) : value,
    yAxis: value,
    series: series.map(({ name, data }, index) => ({
      type: guess.kind === 'lines' ? 'line' : guess.kind === 'scatter' ? 'scatter' : 'bar',
      name,
      data,
      color: seriesColor(index),
      symbolSize: 6,
      large: true,
      ...(guess.kind === 'histogram' && { barCategoryGap: '4%' }),
    })),
  };
}
