import { fieldsOf, fieldsOfMatch } from './expression.js';
import type { Expression, Stage } from './expression.js';
import { COLLECTION_FIELDS } from './steps.js';
import type {
  CutStep,
  LookupStep,
  MatchStep,
  MergeStep,
  SetStep,
  SortStep,
  Step,
  UnwindStep,
} from './steps.js';

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
    } else fields = emitStep(step, live, fields, stages);
  }
  return stages;
}

/** Adds the stage of a step, if any is needed, and gives the fields that documents have after it. */
function emitStep(
  step: Exclude<Step, SetStep>,
  live: Live,
  fields: ReadonlySet<string>,
  stages: Stage[],
): Set<string> {
  switch (step.kind) {
    case 'lookup':
      if (!readsUnder(live, step.as)) return new Set(fields);
      stages.push(lookupStage(step, live));
      return new Set([...fields, step.as]);
    case 'merge':
      if (!readsUnder(live, step.field)) return new Set(fields);
      stages.push({ $set: { [step.field]: { $concatArrays: step.parts.map((part) => `$${part}`) } } });
      return new Set([...fields, step.field]);
    case 'count':
      stages.push({ $setWindowFields: { output: { [step.field]: { $count: {} } } } });
      return new Set([...fields, step.field]);
    case 'group':
      stages.push({ $group: { _id: step.id, ...step.accumulators } });
      return new Set(['_id', ...Object.keys(step.accumulators)]);
    case 'unwind':
      stages.push(unwindStage(step, live));
      return readsUnder(live, step.index) ? new Set([...fields, step.index]) : new Set(fields);
    default:
      stages.push(plainStage(step));
      return new Set(fields);
  }
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
    case 'merge':
      return readsUnder(live, step.field) ? liveBeforeMerge(step, live) : live;
    case 'group':
      return fieldsOf([step.id, ...Object.values(step.accumulators)]);
    case 'unwind':
      return new Set([...without(live, step.index), step.field]);
    case 'count':
      return new Set(without(live, step.field));
    case 'set':
      return readsUnder(live, step.field)
        ? new Set([...without(live, step.field), ...fieldsOf(step.value)])
        : live;
    case 'lookup':
      return readsUnder(live, step.as) ? liveBeforeLookup(step, live) : live;
    default:
      return live;
  }
}

function liveBeforeMerge({ field, parts }: MergeStep, live: Live): Live {
  const below = [...live].filter((each) => rootOf(each) === field);
  const read = parts.flatMap((part) => below.map((each) => part + each.slice(field.length)));
  return new Set([...without(live, field), ...parts, ...read]);
}

function liveBeforeLookup({ as, localField, variables }: LookupStep, live: Live): Live {
  const local = localField === null ? [] : [localField];
  return new Set([...without(live, as), ...local, ...fieldsOf(variables)]);
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

function plainStage(step: MatchStep | SortStep | CutStep): Stage {
  switch (step.kind) {
    case 'match':
      return { $match: step.match };
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
  for (const each of live) if (isBelow(each, field)) return true;
  return false;
}

function isBelow(path: string, field: string): boolean {
  return path.length > field.length && path[field.length] === '.' && path.startsWith(field);
}

function without(live: Live, field: string): string[] {
  return [...live].filter((each) => each !== field && !isBelow(each, field));
}

function rootOf(field: string): string {
  const dot = field.indexOf('.');
  return dot < 0 ? field : field.slice(0, dot);
}
