import type { Json, ResultSet } from '../../../api/types.js';
import type { MessageKey } from '../../../messages/en.js';
import { epochOf } from '../../../record/values/instant.js';
import { cellText, columnsOf, type ResultColumn } from './result-columns.js';

/** How an answer can be drawn. */
export type ChartKind = 'lines' | 'scatter' | 'bars' | 'histogram';

/** A drawing of an answer: which columns stand where. */
export interface ChartGuess {
  readonly kind: ChartKind;
  readonly x: ResultColumn | null;
  readonly y: ResultColumn;
  /** Lines: one for each of its values. */
  readonly by: ResultColumn | null;
}

/** More series than these cannot be distinguished. */
const MOST_SERIES = 10;
const BINS = 24;

/** Draws what the columns suggest; null: nothing that can be drawn. */
export function guessChart(result: ResultSet): ChartGuess | null {
  const columns = columnsOf(result);
  const [first, second] = columns.filter(({ kind }) => kind === 'number');
  const time = columns.find(({ kind }) => kind === 'time') ?? null;
  const category = columns.find(({ kind }) => kind === 'text') ?? null;
  if (first === undefined) return null;
  if (time !== null)
    return { kind: 'lines', x: time, y: first, by: null, ...overTime(result, time, category) };
  if (second !== undefined) return { kind: 'scatter', x: first, y: second, by: null };
  if (category !== null) return { kind: 'bars', x: category, y: first, by: null };
  return { kind: 'histogram', x: null, y: first, by: null };
}

/** A line for each of a few names; points where one line would go through many patients. */
function overTime(
  { rows }: ResultSet,
  time: ResultColumn,
  category: ResultColumn | null,
): Partial<ChartGuess> {
  const different = ({ index }: ResultColumn): number =>
    new Set(rows.map((row) => cellText(row[index]))).size;
  if (category === null) return different(time) < rows.length ? { kind: 'scatter' } : {};
  return different(category) > MOST_SERIES ? { kind: 'scatter' } : { by: category };
}

/** What the guess is called. */
export const CHART_NAMES: Readonly<Record<ChartKind, MessageKey>> = {
  lines: 'chart.lines',
  scatter: 'chart.scatter',
  bars: 'chart.bars',
  histogram: 'chart.histogram',
};

/** One series to draw. */
export interface ChartSeries {
  readonly name: string;
  readonly data: readonly (readonly [number | string, number])[];
}

/** The values of a guess as series. */
export function seriesOf({ rows }: ResultSet, guess: ChartGuess): ChartSeries[] {
  const { kind, x, y, by } = guess;
  const number = (row: readonly Json[]): number => Number(row[y.index]);
  const known = rows.filter((row) => typeof row[y.index] === 'number');
  if (kind === 'histogram' || x === null) return [{ name: y.name, data: histogram(known.map(number)) }];
  const point = (row: readonly Json[]): readonly [number | string, number] => {
    const at = row[x.index] ?? null;
    if (x.kind === 'time' && kind !== 'bars') return [epochOf(cellText(at)), number(row)];
    return [typeof at === 'number' ? at : cellText(at), number(row)];
  };
  if (by === null || kind !== 'lines') return [{ name: y.name, data: known.map(point) }];
  const groups = new Map<string, (readonly [number | string, number])[]>();
  for (const row of known) {
    const name = cellText(row[by.index]);
    const group = groups.get(name) ?? [];
    group.push(point(row));
    groups.set(name, group);
  }
  return [...groups].map(([name, data]) => ({
    name,
    data: data.sort((left, right) => Number(left[0]) - Number(right[0])),
  }));
}

/** How many values fall into each of some equal steps. */
function histogram(values: readonly number[]): (readonly [string, number])[] {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const width = (high - low) / BINS || 1;
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor((value - low) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, bin) => [(low + bin * width).toPrecision(4).replace(/\.?0+$/, ''), count]);
}
