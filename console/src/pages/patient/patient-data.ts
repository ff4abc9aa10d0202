import { versionedObjectUidOf } from '@everchart/client';
import { at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { durationText } from '../../record/values/duration.js';
import { byEpoch } from '../../record/values/instant.js';

/** Answers queries of one EHR with rows by the names of their columns: the `Api`. */
interface Asked {
  rows<Row>(q: string, of: { readonly ehrId: string; readonly fetch: number }): Promise<readonly Row[]>;
}

/** One COMPOSITION in the timeline. */
export interface RecordedComposition {
  readonly uid: string;
  readonly name: string;
  readonly template: string;
  /** Start of the context, else of the commit: ISO 8601. */
  readonly time: string;
  readonly composer: string;
  readonly state: RecordedState;
}

/** Whether a document counts: what is written to be finished later does not, nor what was taken back. */
export type RecordedState = 'complete' | 'draft' | 'deleted';

/** Code of the lifecycle state `incomplete`. */
const INCOMPLETE = '553';

/** More are not drawn: the timeline says so. */
export const MOST_COMPOSITIONS = 5_000;
/** More points are not read. */
export const MOST_POINTS = 20_000;

/** The latest versions of the COMPOSITIONs of an EHR, newest first. */
export async function compositionsOf(api: Asked, ehrId: string): Promise<RecordedComposition[]> {
  const rows = await api.rows<CompositionRow>(documents('LATEST_VERSION'), {
    ehrId,
    fetch: MOST_COMPOSITIONS,
  });
  return newestFirst(rows.map((row) => recorded(row, row.state === INCOMPLETE ? 'draft' : 'complete')));
}

/** All versions of the COMPOSITIONs of an EHR that have a content. */
export function versionsOf(api: Asked, ehrId: string): Promise<readonly CompositionRow[]> {
  return api.rows<CompositionRow>(documents('ALL_VERSIONS'), { ehrId, fetch: MOST_POINTS });
}

/** The last content of each COMPOSITION that was deleted, newest first: what has versions, and none of now. */
export function deletedOf(
  versions: readonly CompositionRow[],
  now: readonly RecordedComposition[],
): RecordedComposition[] {
  const there = new Set(now.map(({ uid }) => versionedObjectUidOf(uid)));
  const last = new Map<string, CompositionRow>();
  for (const row of versions) {
    const container = versionedObjectUidOf(row.uid);
    const known = last.get(container)?.committed ?? '';
    if (!there.has(container) && byEpoch(known, row.committed ?? '') <= 0) last.set(container, row);
  }
  return newestFirst([...last].map(([uid, row]) => ({ ...recorded(row, 'deleted'), uid })));
}

function documents(versions: 'LATEST_VERSION' | 'ALL_VERSIONS'): string {
  return `SELECT c/uid/value AS uid, c/name/value AS name, c/archetype_details/template_id/value AS template,
  c/context/start_time/value AS start, v/commit_audit/time_committed/value AS committed, c/composer/name AS composer,
  v/lifecycle_state/defining_code/code_string AS state
FROM EHR e CONTAINS VERSION v[${versions}] CONTAINS COMPOSITION c`;
}

function recorded(row: CompositionRow, state: RecordedState): RecordedComposition {
  const { uid, name, template, start, committed, composer } = row;
  return {
    uid,
    name: name ?? '',
    template: template ?? '',
    time: start ?? committed ?? '',
    composer: composer ?? '',
    state,
  };
}

function newestFirst(compositions: readonly RecordedComposition[]): RecordedComposition[] {
  return [...compositions].sort((left, right) => byEpoch(right.time, left.time));
}

/** By archetype of an ENTRY, with its name in the record: the uids of the compositions that hold it. */
export interface HeldArchetype {
  readonly archetype: string;
  readonly name: string;
  readonly uids: ReadonlySet<string>;
}

/** The archetypes of the ENTRYs of an EHR, by name. */
export async function archetypesOf(api: Asked, ehrId: string): Promise<HeldArchetype[]> {
  const q = `SELECT DISTINCT c/uid/value AS uid, n/archetype_node_id AS archetype, n/name/value AS name
FROM EHR e CONTAINS COMPOSITION c CONTAINS ENTRY n`;
  const rows = await api.rows<{ uid: string; archetype: string | null; name: string | null }>(q, {
    ehrId,
    fetch: MOST_POINTS,
  });
  const found = new Map<string, { name: string; uids: Set<string> }>();
  for (const { uid, archetype, name } of rows) {
    if (archetype === null) continue;
    const known = found.get(archetype) ?? { name: name ?? archetype, uids: new Set<string>() };
    known.uids.add(uid);
    found.set(archetype, known);
  }
  return [...found]
    .map(([archetype, held]) => ({ archetype, ...held }))
    .sort((left, right) => left.name.localeCompare(right.name));
}

type CompositionRow = { readonly uid: string } & Readonly<
  Record<'name' | 'template' | 'start' | 'committed' | 'composer' | 'state', string | null>
>;

/** One measured value. */
export interface Point {
  readonly time: string;
  /** What is drawn of it. */
  readonly value: number;
  /** As it is stored: what is said of it. */
  readonly dv: Json;
  /** The COMPOSITION that holds it. */
  readonly uid: string;
  /** Of a DV_ORDINAL: what the number means. */
  readonly symbol?: string;
}

/** One thing that was measured several times. */
export interface Trend {
  readonly key: string;
  readonly name: string;
  /** The entry it stands in, such as `Blood pressure`. */
  readonly entry: string;
  readonly units: string;
  /** Lower and upper limit of what is normal, as the newest value says it. */
  readonly normal: readonly [number | null, number | null] | null;
  /** Oldest first. */
  readonly points: readonly Point[];
}

/**
 * Every DV_QUANTITY, DV_COUNT and DV_ORDINAL of an EHR as series, those with most values first. A maximum of a day is
 * another thing than a value of a moment; what a draft says is not said yet.
 */
export async function trendsOf(api: Asked, ehrId: string): Promise<Trend[]> {
  const q = `SELECT c/uid/value AS uid, c/context/start_time/value AS start, v/time/value AS time,
  o/archetype_node_id AS entry_id, o/name/value AS entry, x/archetype_node_id AS node, x/name/value AS name, x/value AS value,
  v/math_function/value AS math, v/width/value AS width
FROM EHR e CONTAINS VERSION s[LATEST_VERSION] CONTAINS COMPOSITION c CONTAINS OBSERVATION o CONTAINS EVENT v CONTAINS ELEMENT x
WHERE (EXISTS x/value/magnitude OR EXISTS x/value/symbol) AND s/lifecycle_state/defining_code/code_string != '${INCOMPLETE}'`;
  const rows = await api.rows<ValueRow>(q, { ehrId, fetch: MOST_POINTS });
  const series = new Map<string, { trend: Trend; points: Point[] }>();
  for (const row of rows) addPoint(series, row);
  return [...series.values()]
    .map(({ trend, points }) => ({ ...trend, ...normalOf(points), points: byTime(points) }))
    .sort((left, right) => right.points.length - left.points.length);
}

type ValueRow = { readonly uid: string; readonly value: Json } & Readonly<
  Record<'start' | 'time' | 'entry_id' | 'entry' | 'node' | 'name' | 'math' | 'width', string | null>
>;

function addPoint(series: Map<string, { trend: Trend; points: Point[] }>, row: ValueRow): void {
  const { uid, start, time, entry_id: entryId, entry, node, name, value: dv } = row;
  const value = numberOf(dv);
  if (value === null) return;
  const units = textAt(dv, 'units');
  const [math, width] = [row.math ?? '', row.width ?? ''];
  const key = [entryId, node, name, units, math, width].join('|');
  const known = series.get(key) ?? {
    trend: {
      key,
      name: trendName(name ?? '', math, width),
      entry: entry ?? '',
      units,
      normal: null,
      points: [],
    },
    points: [],
  };
  series.set(key, known);
  const symbol = textAt(dv, 'symbol', 'value');
  const point: Point = {
    time: time ?? start ?? '',
    value,
    uid,
    dv,
    ...(symbol !== '' && { symbol }),
  };
  known.points.push(point);
}

/** What a series is of, such as `Heart rate · maximum · 24 h`. */
function trendName(name: string, math: string, width: string): string {
  return [name, math, durationText(width)].filter((part) => part !== '').join(' · ');
}

function numberOf(dv: Json): number | null {
  const number = at(dv, 'magnitude') ?? at(dv, 'value');
  return typeof number === 'number' ? number : null;
}

function byTime(points: readonly Point[]): Point[] {
  return [...points].sort((left, right) => byEpoch(left.time, right.time));
}

/** What the newest value says is normal; nothing where that has no end, or is of another unit: a band would call wrong values normal. */
function normalOf(points: readonly Point[]): Pick<Trend, 'normal'> {
  const newest = byTime(points).at(-1);
  const range = at(newest?.dv, 'normal_range');
  const [lower, upper] = [at(range, 'lower'), at(range, 'upper')];
  const isOther = [lower, upper].some(
    (bound) => bound !== undefined && textAt(bound, 'units') !== textAt(newest?.dv, 'units'),
  );
  const limit = (bound: Json | undefined): number | null => (bound === undefined ? null : numberOf(bound));
  const limits = [limit(lower), limit(upper)] as const;
  return { normal: isOther || limits.every((each) => each === null) ? null : limits };
}

/** A CONTRIBUTION with the versions of COMPOSITIONs that it made. */
export interface PatientContribution {
  readonly uid: string;
  readonly time: string;
  readonly committer: string;
  readonly change: string;
  readonly versions: { readonly uid: string; readonly name: string }[];
}

/** More versions are not listed. */
export const MOST_VERSIONS = 500;

/** The CONTRIBUTIONs of an EHR that made versions of COMPOSITIONs which are there, newest first. */
export async function contributionsOf(api: Asked, ehrId: string): Promise<PatientContribution[]> {
  const q = `SELECT v/contribution/id/value AS contribution, v/commit_audit/time_committed/value AS time,
  v/commit_audit/committer/name AS committer, v/commit_audit/change_type/value AS change, c/uid/value AS uid, c/name/value AS name
FROM EHR e CONTAINS VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c
ORDER BY v/commit_audit/time_committed/value DESC`;
  type VersionRow = Readonly<Record<'contribution' | 'time' | 'change' | 'uid' | 'name', string>> & {
    readonly committer: string | null;
  };
  const rows = await api.rows<VersionRow>(q, { ehrId, fetch: MOST_VERSIONS });
  const found = new Map<string, PatientContribution>();
  for (const { contribution, time, committer, change, uid, name } of rows) {
    const known = found.get(contribution) ?? {
      uid: contribution,
      time,
      committer: committer ?? '',
      change,
      versions: [],
    };
    known.versions.push({ uid, name });
    found.set(contribution, known);
  }
  return [...found.values()];
}
