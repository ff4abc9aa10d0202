import { fieldsOf, fieldsOfMatch } from './expression.js';
import type { Expression, Stage } from './expression.js';

/** Collections that a pipeline reads (docs/storage.md). */
export type SourceCollection = 'aql' | 'ehrs' | 'versions' | 'versioned_objects' | 'contributions';

/** A stage before it is known which fields later stages still need. Fields are dotted names without `$`. */
export type Step = MatchStep | SetStep | UnwindStep | LookupStep | SortStep | CutStep | GroupStep | MergeStep;

/** Keeps documents; `match` is a native match document. */
export interface MatchStep {
  readonly kind: 'match';
  readonly match: Stage;
}

/** Gives one top-level field a value. */
export interface SetStep {
  readonly kind: 'set';
  readonly field: string;
  readonly value: Expression;
}

/** One document per member of an array field. */
export interface UnwindStep {
  readonly kind: 'unwind';
  readonly field: string;
  /** Keeps a document whose array is empty or missing. */
  readonly preserve: boolean;
  /** Field that gets the position of the member. */
  readonly index: string;
}

/** Orders documents; the first key counts most. */
export interface SortStep {
  readonly kind: 'sort';
  readonly keys: SortKeys;
}

/** Sort keys, the first counts most. */
export type SortKeys = readonly (readonly [field: string, direction: 1 | -1])[];

/** One document per value of `id`, with accumulators. */
export interface GroupStep {
  readonly kind: 'group';
  readonly id: Expression;
  readonly accumulators: Readonly<Record<string, Expression>>;
}

/** The array fields `parts` one after another in one field; they hold documents of one collection. */
export interface MergeStep {
  readonly kind: 'merge';
  readonly field: string;
  readonly parts: readonly string[];
}

/** Leaves out the first documents, or all but the first. */
export interface CutStep {
  readonly kind: 'skip' | 'limit';
  readonly count: number;
}

/** An array of other documents; `localField` null joins with every document. */
export interface LookupStep {
  readonly kind: 'lookup';
  readonly as: string;
  readonly from: SourceCollection;
  readonly localField: string | null;
  readonly foreignField: string;
  /** Values of this document that the inner steps read as `$$name`. */
  readonly variables: Readonly<Record<string, Expression>>;
  readonly steps: readonly Step[];
  /** Keep the first document only: enough to know whether there is any. */
  readonly firstOnly: boolean;
}

type Live = ReadonlySet<string>;

/**
 * The stages of `steps`, leaving out whatever neither a later step nor `needed` (dotted fields) reads: each
 * `$set` becomes a `$project` where that makes documents smaller.
 */
export function emitStages(
  steps: readonly Step[],
  needed: Live,
  collectionFields: readonly string[],
): Stage[] {
  const liveAfter = livenessOf(steps, needed);
  const stages: Stage[] = [];
  let fields = new Set(collectionFields);
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    const live = liveAfter[i];
    if (step === undefined || live === undefined) break;
    if (step.kind === 'set') {
      const run = setRun(steps, liveAfter, i);
      i = run.last;
      if (run.values.size > 0) fields = emitSets(run, fields, stages);
    } else if (step.kind === 'lookup') {
      if (!readsUnder(live, step.as)) continue;
      stages.push(lookupStage(step, live));
      fields.add(step.as);
    } else if (step.kind === 'merge') {
      if (!readsUnder(live, step.field)) continue;
      stages.push({ $set: { [step.field]: { $concatArrays: step.parts.map((part) => `$${part}`) } } });
      fields.add(step.field);
    } else if (step.kind === 'group') {
      stages.push({ $group: { _id: step.id, ...step.accumulators } });
      fields = new Set(['_id', ...Object.keys(step.accumulators)]);
    } else {
      stages.push(plainStage(step, live));
      if (step.kind === 'unwind' && readsUnder(live, step.index)) fields.add(step.index);
    }
  }
  return stages;
}

/** The fields that `steps` read of what stands before them. */
export function fieldsBefore(steps: readonly Step[], needed: Live): Live {
  const liveAfter = livenessOf(steps, needed);
  const [first] = steps;
  const [live] = liveAfter;
  return first === undefined || live === undefined ? needed : liveBefore(first, live);
}

function livenessOf(steps: readonly Step[], needed: Live): Live[] {
  const liveAfter: Live[] = new Array<Live>(steps.length);
  let live = needed;
  for (let i = steps.length - 1; i >= 0; i--) {
    liveAfter[i] = live;
    const step = steps[i];
    if (step !== undefined) live = liveBefore(step, live);
  }
  return liveAfter;
}

function liveBefore(step: Step, live: Live): Live {
  switch (step.kind) {
    case 'match':
      return new Set([...live, ...fieldsOfMatch(step.match)]);
    case 'sort':
      return new Set([...live, ...step.keys.map(([field]) => field)]);
    case 'skip':
    case 'limit':
      return live;
    case 'merge': {
      if (!readsUnder(live, step.field)) return live;
      const below = [...live].filter((field) => rootOf(field) === step.field);
      const read = step.parts.flatMap((part) => below.map((field) => part + field.slice(step.field.length)));
      return new Set([...without(live, step.field), ...step.parts, ...read]);
    }
    case 'group':
      return fieldsOf([step.id, ...Object.values(step.accumulators)]);
    case 'unwind':
      return new Set([...without(live, step.index), step.field]);
    case 'set':
      return readsUnder(live, step.field)
        ? new Set([...without(live, step.field), ...fieldsOf(step.value)])
        : live;
    case 'lookup': {
      if (!readsUnder(live, step.as)) return live;
      const local = step.localField === null ? [] : [step.localField];
      return new Set([...without(live, step.as), ...local, ...fieldsOf(step.variables)]);
    }
  }
}

interface SetRun {
  readonly last: number;
  readonly values: Map<string, Expression>;
  readonly live: Live;
}

/** Following sets that do not read each other go into one stage. */
function setRun(steps: readonly Step[], liveAfter: readonly Live[], first: number): SetRun {
  const values = new Map<string, Expression>();
  let last = first;
  for (let i = first; i < steps.length; i++) {
    const step = steps[i];
    const live = liveAfter[i];
    if (step?.kind !== 'set' || live === undefined) break;
    if (readsUnder(live, step.field)) {
      const reads = fieldsOf(step.value);
      if ([...values.keys()].some((field) => readsUnder(reads, field)) || values.has(step.field)) break;
      values.set(step.field, step.value);
    }
    last = i;
  }
  return { last, values, live: liveAfter[last] ?? new Set() };
}

function emitSets(run: SetRun, fields: Set<string>, stages: Stage[]): Set<string> {
  const kept = [...fields].filter((field) => !run.values.has(field) && readsUnder(run.live, field));
  const droppable = [...fields].some((field) => field !== '_id' && !kept.includes(field));
  const after = new Set([...kept, ...run.values.keys()]);
  if (droppable) {
    const shape: Record<string, Expression> = {};
    if (!after.has('_id')) shape._id = 0;
    for (const field of kept) if (field !== '_id') shape[field] = 1;
    for (const [field, value] of run.values) shape[field] = value;
    stages.push({ $project: shape });
    return after;
  }
  stages.push({ $set: Object.fromEntries(run.values) });
  return new Set([...fields, ...run.values.keys()]);
}

function plainStage(step: MatchStep | UnwindStep | SortStep | CutStep, live: Live): Stage {
  switch (step.kind) {
    case 'match':
      return { $match: step.match };
    case 'unwind':
      return unwindStage(step, live);
    case 'sort':
      return { $sort: Object.fromEntries(step.keys) };
    case 'skip':
      return { $skip: step.count };
    case 'limit':
      return { $limit: step.count };
  }
}

function unwindStage(step: UnwindStep, live: Live): Stage {
  const path = `$${step.field}`;
  const options: Record<string, Expression> = { path };
  if (readsUnder(live, step.index)) options.includeArrayIndex = step.index;
  if (step.preserve) options.preserveNullAndEmptyArrays = true;
  return { $unwind: Object.keys(options).length === 1 ? path : options };
}

function lookupStage(step: LookupStep, live: Live): Stage {
  const prefix = `${step.as}.`;
  const needed = new Set([...live].filter((f) => f.startsWith(prefix)).map((f) => f.slice(prefix.length)));
  const stages = emitStages(step.steps, needed, COLLECTION_FIELDS[step.from]);
  if (step.firstOnly) stages.push({ $limit: 1 });
  // A bare join by key is fastest without a pipeline; what it brings too much is dropped by the next stage.
  const isBare = stages.length === 0 && step.localField !== null;
  const inner = isBare ? {} : { pipeline: [...stages, keepOnly(needed, step)] };
  const join =
    step.localField === null ? {} : { localField: step.localField, foreignField: step.foreignField };
  const variables = Object.keys(step.variables).length === 0 ? {} : { let: step.variables };
  return { $lookup: { from: step.from, ...join, ...variables, ...inner, as: step.as } };
}

/** The closing projection of a joined pipeline: only what the outer one reads, or the cross product gets large. */
function keepOnly(needed: Live, step: LookupStep): Stage {
  const paths = [...needed].filter((path) => path !== '_id' && !isBelowAny(path, needed));
  const id = needed.has('_id') || paths.length === 0 || step.firstOnly ? 1 : 0;
  return { $project: { _id: id, ...Object.fromEntries(paths.map((path) => [path, 1])) } };
}

function isBelowAny(path: string, paths: Live): boolean {
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1))
    if (paths.has(path.slice(0, dot))) return true;
  return false;
}

function readsUnder(live: Live, field: string): boolean {
  if (live.has(field)) return true;
  const prefix = `${field}.`;
  for (const each of live) if (each.startsWith(prefix)) return true;
  return false;
}

function without(live: Live, field: string): string[] {
  const prefix = `${field}.`;
  return [...live].filter((each) => each !== field && !each.startsWith(prefix));
}

function rootOf(field: string): string {
  const dot = field.indexOf('.');
  return dot < 0 ? field : field.slice(0, dot);
}

/** Top-level fields of the collections (docs/storage.md section 1). */
export const COLLECTION_FIELDS: Readonly<Record<SourceCollection, readonly string[]>> = {
  aql: [
    '_id',
    'ehr',
    'vo',
    'v',
    'type',
    'latest',
    'to',
    'q',
    'tc',
    'contrib',
    'ct',
    'ls',
    'tpl',
    'start',
    'keys',
    'refs',
    'segs',
    'lv',
    'sv',
  ],
  ehrs: [
    '_id',
    'system_id',
    'time_created',
    'state',
    'is_queryable',
    'ehr_status_id',
    'directory_id',
    'subject',
  ],
  versions: [
    '_id',
    'ehr_id',
    'object_id',
    'type',
    'version',
    'time_committed',
    'contribution_uid',
    'preceding_version_uid',
    'signature',
    'commit_audit',
    'lifecycle_state',
    'other_input_version_uids',
    'attestations',
    'data',
  ],
  versioned_objects: ['_id', 'ehr_id', 'type', 'time_created', 'latest_version_uid', 'deleted'],
  contributions: ['_id', 'ehr_id', 'time_committed', 'audit', 'versions'],
};
