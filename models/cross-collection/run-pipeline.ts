import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';

import { CdrError } from '../../openehr/base/errors.js';
import { exceeded } from '../../openehr/base/work.js';
import type { JsonValue } from '../../openehr/base/json.js';
import { isTimeLimit } from '../../database/mongo-error.js';
import { COLLECTIONS } from '../access/layout.js';
import { AQL_SCHEMA_VERSION } from '../../aql/index/document.js';
import { STUB_SHAPE } from '../../aql/index/keys.js';
import type { LeafIndex } from '../../aql/index/document.js';
import { decodedRows } from './decoded-rows.js';
import { LEAF_TRUST_MS, storageSettings } from '../settings.js';
import { holdsSnapshots, oneSnapshot, WHOLE_BATCH, type SnapshotOption } from '../access/one-snapshot.js';
import { documents } from '../access/documents.js';

/** A row as pipelines of `aql/mongo` give it: cells, the segments that belong to object cells, its EHRs. */
export interface PipelineRow {
  readonly row: readonly JsonValue[];
  readonly segs?: readonly (readonly { readonly s: number; readonly o: JsonValue }[] | null)[];
  readonly ehrs?: readonly (string | null)[];
}

/** Limits of one execution. */
export interface RunLimits {
  /** Milliseconds of database time. */
  readonly timeoutMs: number;
  /** Documents of one answer of the database; fewer keep memory flat while streaming. */
  readonly batchSize?: number;
  /** false: the embedded engine reads on in what is there then, and nobody waits for it. Absent: rows are of one moment. */
  readonly isHeld?: boolean;
  /** Aborted when nobody wants the rows any more: the query then ends in the database too. */
  readonly signal?: AbortSignal;
}

/** A compiled query: what `runPipeline` needs of a plan. Beside merges in steps it is one that was made for them. */
export interface RunnablePlan {
  readonly collection: 'aql' | 'ehrs';
  readonly pipeline: readonly object[];
  /** What the cells of a row are; absent: none has the text of a VERSION. */
  readonly columns?: readonly { readonly kind: string }[];
  /** Cells are BSON documents as the database sends them (`Uint8Array`s of its whole answer): somebody else decodes them. */
  readonly isRaw?: true;
  /** See `Probe` of `aql/plan/query-plan.ts`. */
  readonly probe?: ProbePlan | null;
}

/** What `runPipeline` needs of a probe. */
interface ProbePlan {
  readonly pipeline: readonly object[];
  readonly documents: number;
  readonly rows: number;
  readonly offset: number;
  /** Where in the plan's pipeline the lower bound of the sort value stands. */
  readonly boundAt: readonly (string | number)[];
}

/** Rows of one step: passing each on by itself would cost more than reading it. Large ones are to leave turns to others. */
const ROWS_AT_ONCE = 64;

/**
 * Runs a compiled query and gives its rows, some at a time; the cursor closes when the caller stops reading.
 * Native collection: nothing is hydrated.
 * @throws timeout past `timeoutMs`; the reason of `signal`; invalid when a regular expression of the query cannot be run;
 * query-too-large when a product or a list of it outgrows what the database can hold
 */
export async function* runPipeline(
  plan: RunnablePlan,
  limits: RunLimits,
): AsyncGenerator<readonly PipelineRow[], void, undefined> {
  const probed = await probedRows(plan, limits);
  if (probed !== null) {
    yield* readable(plan, probed);
    return;
  }
  const isHeld = limits.isHeld !== false || !(await holdsSnapshots());
  yield* pipelineRows(plan, isHeld ? { ...limits, ...(await oneSnapshot()) } : limits);
}

async function* pipelineRows(
  plan: RunnablePlan,
  limits: RunLimits & SnapshotOption,
): AsyncGenerator<readonly PipelineRow[], void, undefined> {
  const cursor = openPipelineCursor(plan, limits);
  try {
    while (await cursor.hasNext()) {
      const rows = cursor.readBufferedDocuments(ROWS_AT_ONCE) as PipelineRow[];
      yield* readable(plan, rows);
    }
  } catch (error) {
    throw translatedError(error, limits);
  } finally {
    await cursor.close();
  }
}

/** Rows one by one. */
export async function* eachRow<Row>(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
  for await (const batch of batches) yield* batch;
}

/** As `runPipeline`, all rows at once. @throws as `runPipeline` */
export async function runPipelineRows(plan: RunnablePlan, limits: RunLimits): Promise<PipelineRow[]> {
  const rows = (await probedRows(plan, limits)) ?? (await allRows(plan, limits));
  return [...readable(plan, rows)].flat();
}

/**
 * Runs the short pipeline of a plan (its probe) first, and then the plan bounded by what it found. Null: the whole plan
 * has to run, because it has no probe or because rows disappeared in between.
 */
async function probedRows(plan: RunnablePlan, limits: RunLimits): Promise<PipelineRow[] | null> {
  const { collection, probe = null } = plan;
  if (probe === null) return null;
  const start = performance.now();
  const { rows, pipeline } = await probed(plan, probe, limits);
  if (rows !== null || pipeline === plan.pipeline) return rows;
  const timeoutMs = Math.max(1, Math.ceil(limits.timeoutMs - (performance.now() - start)));
  const found = await allRows({ collection, pipeline }, { ...limits, timeoutMs });
  return found.length < probe.rows - probe.offset ? null : found;
}

interface ProbedRow extends PipelineRow {
  readonly top?: unknown;
  readonly docs?: number;
}

interface Probed {
  /** All that are wanted, where the probe saw every document. */
  readonly rows: PipelineRow[] | null;
  /** What gave them, else what is to be run: without the documents that the probe rules out. */
  readonly pipeline: readonly object[];
}

async function probed(
  { collection, pipeline }: RunnablePlan,
  probe: ProbePlan,
  limits: RunLimits,
): Promise<Probed> {
  const found: ProbedRow[] = await allRows({ collection, pipeline: probe.pipeline }, limits);
  const seen = found[0]?.docs ?? probe.documents;
  if (seen < probe.documents) return { rows: found.slice(probe.offset), pipeline: probe.pipeline };
  const lowest = found[probe.rows - 1]?.top;
  if (typeof lowest !== 'number') return { rows: null, pipeline };
  return { rows: null, pipeline: withMember(pipeline, probe.boundAt, lowest) };
}

/** A copy of nested lists and objects with one member at a path of names and positions. */
function withMember<T extends object>(
  whole: T,
  [name, ...rest]: readonly (string | number)[],
  value: number,
): T {
  if (name === undefined) return whole;
  const copy = (Array.isArray(whole) ? [...whole] : { ...whole }) as T & Record<string | number, unknown>;
  const member = copy[name];
  const isInner = rest.length > 0 && typeof member === 'object' && member !== null;
  return Object.assign(copy, { [name]: isInner ? withMember(member, rest, value) : value });
}

async function allRows(plan: RunnablePlan, limits: RunLimits): Promise<PipelineRow[]> {
  const cursor = openPipelineCursor(plan, { ...limits, ...(await oneSnapshot()) });
  try {
    return (await cursor.toArray()) as PipelineRow[];
  } catch (error) {
    throw translatedError(error, limits);
  } finally {
    await cursor.close();
  }
}

/** Rows as they are read, with texts instead of what is compressed; nothing of none. */
function readable({ columns = [] }: RunnablePlan, rows: readonly PipelineRow[]) {
  if (columns.some(({ kind }) => kind === 'text' || kind === 'version')) return decodedRows(rows);
  return rows.length === 0 ? [] : [rows];
}

/**
 * MongoDB's own account of a pipeline: plans and what each stage examined. With a probe, of what its outcome leaves
 * to be run. @throws as `runPipeline`
 */
export async function explainPipeline(
  plan: RunnablePlan,
  limits: RunLimits,
): Promise<mongoose.mongo.BSON.Document> {
  const { collection, probe = null } = plan;
  const { pipeline } = probe === null ? plan : await probed(plan, probe, limits);
  try {
    return await openPipelineCursor({ collection, pipeline }, limits).explain('executionStats');
  } catch (error) {
    throw translatedError(error, limits);
  }
}

function openPipelineCursor(
  { collection, pipeline, isRaw }: RunnablePlan,
  limits: RunLimits & SnapshotOption,
): mongoose.mongo.AggregationCursor {
  const { batchSize = WHOLE_BATCH, readConcern } = limits;
  const options: mongoose.mongo.AggregateOptions = {
    ...readOptions(limits),
    allowDiskUse: true,
    batchSize,
    ...(readConcern !== undefined && { readConcern }),
    ...(isRaw === true && { fieldsAsRaw: { row: true } }),
  };
  return mongoose.connection
    .collection(collection)
    .aggregate(pipeline as mongoose.mongo.BSON.Document[], options);
}

/** By its `comment` the embedded database finds what is to end when the signal closes the connection. */
function readOptions({ timeoutMs, signal }: RunLimits) {
  return { maxTimeMS: timeoutMs, comment: nextComment(), ...(signal !== undefined && { signal }) };
}

const PROCESS = randomUUID();
let reads = 0;

/** Belongs to one read of one process alone. */
function nextComment(): string {
  reads += 1;
  return `${PROCESS}/${reads}`;
}

/** SnapshotTooOld, SnapshotUnavailable: the server does not keep that moment any more, or not yet. */
const SNAPSHOT_ERRORS = new Set<unknown>([239, 246]);
const REGEX_ERRORS = new Set<unknown>([51091, 51111, 51156]);
/** A document or a stage grew past what MongoDB allows. */
const SIZE_ERRORS = new Set<unknown>([146, 292, 4568, 10334, 17419, 17420, 6224500]);

const TOO_LARGE =
  'the query combines more than the database can hold in memory: name one EHR, select less, or use LIMIT';

function translatedError(error: unknown, { signal, timeoutMs }: RunLimits): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (isTimeLimit(error)) return exceeded('timeMs', timeoutMs, timeoutMs);
  if (error instanceof mongoose.mongo.MongoServerError && REGEX_ERRORS.has(error.code))
    return new CdrError('invalid', 'a regular expression of the query cannot be evaluated', { cause: error });
  if (error instanceof mongoose.mongo.MongoServerError && SNAPSHOT_ERRORS.has(error.code))
    return new CdrError('unavailable', 'the database could not keep one moment for the whole query', {
      cause: error,
      retryAfterSeconds: 1,
    });
  if (error instanceof mongoose.mongo.MongoServerError && SIZE_ERRORS.has(error.code))
    return new CdrError('query-too-large', TOO_LARGE, {
      budget: { name: 'databaseMemory', setting: null, limit: null, used: null },
      cause: error,
    });
  return error;
}

/**
 * The `_id`s of `aql_shapes` that concern some archetypes (null = all of them). Read for each query that needs
 * them: another process may just have added one.
 */
export async function shapeIds(archetypeIds: readonly string[] | null): Promise<string[]> {
  const shapes = documents<{ _id: string }>(COLLECTIONS.aqlShapes);
  const ranges = archetypeIds?.map((id) => ({ _id: { $gte: `${id}|`, $lt: `${id}}` } }));
  const filter = ranges === undefined ? {} : { $or: ranges };
  const found = await shapes.find(ranges?.length === 0 ? { _id: STUB_SHAPE } : filter).toArray();
  return found.map(({ _id }) => _id);
}

/**
 * What the stored `aql` documents really hold, which queries rely on. After a change of `AQL_LEAF_INDEX` it differs from
 * the configuration until a reindex is done.
 */
export interface DerivedState {
  /** Whether all are of the present schema version, and no reindex is at work. */
  readonly isCurrent: boolean;
  /** The leaves that all of them hold; `none` unless they are as configured. */
  readonly leafIndex: LeafIndex;
  /** Raised with each change of the aliases of templates; absent: no template ever had one. */
  readonly aliases?: number;
}

/**
 * The state of the `aql` documents, cached for `LEAF_TRUST_MS`: a reindex waits longer than that before it changes the
 * first document.
 */
export async function derivedState(configured: LeafIndex): Promise<DerivedState> {
  const now = performance.now();
  if (expected === null || expected.configured !== configured || expected.until <= now) {
    expected = { configured, state: await stateOfData(configured), until: now + LEAF_TRUST_MS };
  }
  return expected.state;
}

interface CachedState {
  readonly configured: LeafIndex;
  readonly state: DerivedState;
  readonly until: number;
}

let expected: CachedState | null = null;

async function stateOfData(configured: LeafIndex): Promise<DerivedState> {
  const settings = await storageSettings();
  const isCurrent = settings?.sv === AQL_SCHEMA_VERSION && settings.reindex === undefined;
  const leafIndex = isCurrent && settings.leaf_index === configured ? configured : 'none';
  const aliases = settings?.aliases;
  return { isCurrent, leafIndex, ...(aliases !== undefined && { aliases: aliases.revision }) };
}
