import type { Json, ResultSet } from '../../../api/types.js';
import type { MessageKey } from '../../../messages/en.js';
import { epochOf } from '../../../record/values/instant.js';
import { chartColumns, type ChartColumn } from './chart-columns.js';

/** How an answer can be drawn. */
export type ChartKind = 'lines' | 'scatter' | 'bars' | 'histogram';

/** What one point or bar of several rows shows; `each`: a point for each row. */
export type Aggregate = 'each' | 'mean' | 'sum' | 'least' | 'most' | 'count';

/** A drawing of an answer: which columns stand where. */
export interface Shelves {
  readonly kind: ChartKind;
  readonly x: ChartColumn | null;
  readonly y: ChartColumn;
  /** A series for each of its values. */
  readonly by: ChartColumn | null;
  readonly aggregate: Aggregate;
}

/** More series than these cannot be distinguished. */
export const MOST_SERIES = 10;
const BINS = 24;

/** Draws what the columns suggest; null: nothing that can be drawn. */
export function guessChart(result: ResultSet): Shelves | null {
  const columns = chartColumns(result);
  const [first, second] = columns.filter(({ kind }) => kind === 'number');
  if (first === undefined) return null;
  const time = columns.find(({ kind }) => kind === 'time') ?? null;
  const texts = columns.filter(({ kind }) => kind === 'text');
  // Numbers of several units stand apart before those of several patients.
  const category =
    texts.find(({ name }) => name === `${first.name} unit`) ??
    texts.find(({ isPatient }) => isPatient) ??
    texts[0] ??
    null;
  const y = { y: first, by: null, aggregate: 'each' } as const;
  if (time !== null) return { kind: 'lines', x: time, ...y, ...overTime(result, columns, category) };
  if (second !== undefined) return { kind: 'scatter', x: first, ...y, y: second };
  if (category !== null) return { kind: 'bars', x: category, ...y, aggregate: 'mean' };
  return { kind: 'histogram', x: null, ...y };
}

/** A line for each of a few patients, or of one alone; points where a line could go through different people. */
function overTime(
  result: ResultSet,
  columns: readonly ChartColumn[],
  category: ChartColumn | null,
): Partial<Shelves> {
  const different = ({ value }: ChartColumn): number => new Set(result.rows.map(value)).size;
  const by = category === null || different(category) > MOST_SERIES ? null : category;
  const isOfOne =
    OF_ONE_EHR.test(result.q ?? '') || columns.some((each) => each.isPatient && different(each) === 1);
  return { by, kind: isOfOne || by?.isPatient === true ? 'lines' : 'scatter' };
}

/** The EHR itself is asked for, not one of those that a condition allows. */
const OF_ONE_EHR = /\bEHR\s+(?:\w+\s*)?\[\s*ehr_id\/value\s*=/i;

/** What kinds are called. */
export const CHART_NAMES: Readonly<Record<ChartKind, MessageKey>> = {
  lines: 'chart.lines',
  scatter: 'chart.scatter',
  bars: 'chart.bars',
  histogram: 'chart.histogram',
};

/** What aggregates are called. */
export const AGGREGATE_NAMES: Readonly<Record<Aggregate, MessageKey>> = {
  each: 'chart.each',
  mean: 'chart.mean',
  sum: 'chart.sum',
  least: 'chart.least',
  most: 'chart.most',
  count: 'chart.count',
};

type Point = readonly [x: number | string, y: number];

/** One series to draw; its points in the order of the axis. */
export interface ChartSeries {
  readonly name: string;
  readonly data: readonly Point[];
}

/**
 * The values of a drawing as series, those with the most points first. Points stand in the order of x, so that a line goes on
 * in time; x of a category is a text, of a time milliseconds since 1970, and rows without one of both values are left out.
 */
export function seriesOf({ rows }: ResultSet, shelves: Shelves): ChartSeries[] {
  const { kind, x, y, by } = shelves;
  const numbers = rows.flatMap((row) => numberOf(y.value(row)));
  if (kind === 'histogram' || x === null) return [{ name: y.name, data: histogram(numbers) }];
  const groups = new Map<string, Point[]>();
  for (const row of rows) {
    const point = pointOf(row, shelves, x);
    const name = by === null ? y.name : String(by.value(row) ?? '');
    if (point === null) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [point]);
    else group.push(point);
  }
  return [...groups]
    .map(([name, points]) => ({ name, data: aggregated(points, shelves.aggregate).sort(byX) }))
    .sort((left, right) => right.data.length - left.data.length);
}

function pointOf(row: readonly Json[], { y }: Shelves, x: ChartColumn): Point | null {
  const [at, number] = [x.value(row), y.value(row)];
  if (at === null || typeof number !== 'number') return null;
  if (x.kind !== 'time') return [at, number];
  const epoch = epochOf(String(at));
  return Number.isNaN(epoch) ? null : [epoch, number];
}

function numberOf(value: number | string | null): readonly number[] {
  return typeof value === 'number' ? [value] : [];
}

function byX([left]: Point, [right]: Point): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left) < String(right) ? -1 : Number(String(left) > String(right));
}

/** One point for those of the same x. */
function aggregated(points: readonly Point[], aggregate: Aggregate): Point[] {
  if (aggregate === 'each') return [...points];
  const groups = new Map<number | string, number[]>();
  for (const [x, y] of points) {
    const group = groups.get(x);
    if (group === undefined) groups.set(x, [y]);
    else group.push(y);
  }
  return [...groups].map(([x, values]): Point => [x, AGGREGATES[aggregate](values)]);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const AGGREGATES: Readonly<Record<Exclude<Aggregate, 'each'>, (values: readonly number[]) => number>> = {
  mean: (values) => sum(values) / values.length,
  sum,
  least: (values) => values.reduce((least, value) => Math.min(least, value), Infinity),
  most: (values) => values.reduce((most, value) => Math.max(most, value), -Infinity),
  count: (values) => values.length,
};

/** How many values fall into each of some equal steps. */
function histogram(values: readonly number[]): Point[] {
  const low = AGGREGATES.least(values);
  const width = (AGGREGATES.most(values) - low) / BINS || 1;
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor((value - low) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, bin) => [(low + bin * width).toPrecision(4).replace(/\.?0+$/, ''), count]);
}
