import { fieldsOf } from './expression.js';
import type { Expression, Stage } from './expression.js';
import { COLLECTION_FIELDS } from './steps.js';
import { Liveness, rootOf } from './liveness.js';
import type { CutStep, LookupStep, MatchStep, SetStep, SortStep, Step, UnwindStep } from './steps.js';

/**
 * The stages of `steps`, leaving out whatever neither a later step nor `needed` (dotted fields) reads: each
 * `$set` becomes a `$project` where that makes documents smaller.
 */
export function emitStages(
  steps: readonly Step[],
  needed: ReadonlySet<string>,
  collectionFields: readonly string[],
): Stage[] {
  const liveness = new Liveness(steps, needed);
  const stages: Stage[] = [];
  const fields = new Set(collectionFields);
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    if (step === undefined) break;
    if (step.kind === 'match' && i > 0) {
      const matches = matchRun(steps, i);
      i += matches.length - 1;
      stages.push({ $match: matches.length === 1 ? step.match : { $and: matches } });
    } else if (step.kind === 'set') {
      const run = setRun(steps, liveness, i);
      i = run.last;
      if (run.values.size > 0) emitSets(run, fields, stages);
    } else emitStep(step, { index: i, liveness, fields, stages });
  }
  return stages;
}

interface Emission {
  readonly index: number;
  readonly liveness: Liveness;
  /** The fields that documents have after the last stage. */
  readonly fields: Set<string>;
  readonly stages: Stage[];
}

/** Adds the stage of a step, if any is needed. */
function emitStep(step: Exclude<Step, SetStep>, { index, liveness, fields, stages }: Emission): void {
  switch (step.kind) {
    case 'lookup':
      if (!liveness.isLive(step.as, index)) return;
      stages.push(lookupStage(step, liveness.readBelow(index)));
      fields.add(step.as);
      return;
    case 'merge':
      if (!liveness.isLive(step.field, index)) return;
      stages.push({ $set: { [step.field]: { $concatArrays: step.parts.map((part) => `$${part}`) } } });
      fields.add(step.field);
      return;
    case 'count':
      stages.push({ $setWindowFields: { output: { [step.field]: { $count: {} } } } });
      fields.add(step.field);
      return;
    case 'group':
      stages.push({ $group: { _id: step.id, ...step.accumulators } });
      fields.clear();
      for (const field of ['_id', ...Object.keys(step.accumulators)]) fields.add(field);
      return;
    case 'unwind': {
      const isIndexed = liveness.isLive(step.index, index);
      stages.push(unwindStage(step, isIndexed));
      if (isIndexed) fields.add(step.index);
      return;
    }
    default:
      stages.push(plainStage(step));
  }
}

/** Following matches are one stage: MongoDB would put them together in time that grows with their square. */
function matchRun(steps: readonly Step[], first: number): Stage[] {
  const matches: Stage[] = [];
  for (let i = first; i < steps.length; i++) {
    const step = steps[i];
    if (step?.kind !== 'match') break;
    matches.push(step.match);
  }
  return matches;
}

interface SetRun {
  readonly last: number;
  readonly values: Map<string, Expression>;
  readonly isLive: (field: string) => boolean;
}

/** Following sets that do not read each other go into one stage. */
function setRun(steps: readonly Step[], liveness: Liveness, first: number): SetRun {
  const values = new Map<string, Expression>();
  let last = first;
  for (let i = first; i < steps.length; i++) {
    const step = steps[i];
    if (step?.kind !== 'set') break;
    if (liveness.isLive(step.field, i)) {
      if (values.has(step.field) || readsAny(step.value, values)) break;
      values.set(step.field, step.value);
    }
    last = i;
  }
  return { last, values, isLive: (field) => liveness.isLive(field, last) };
}

function readsAny(value: Expression, fields: ReadonlyMap<string, Expression>): boolean {
  if (fields.size === 0) return false;
  for (const path of fieldsOf(value)) if (fields.has(rootOf(path))) return true;
  return false;
}

function emitSets({ values, isLive }: SetRun, fields: Set<string>, stages: Stage[]): void {
  const kept = [...fields].filter((field) => !values.has(field) && isLive(field));
  const keptCount = kept.length + (fields.has('_id') && !kept.includes('_id') ? 1 : 0);
  if (keptCount === fields.size) {
    for (const field of values.keys()) fields.add(field);
    stages.push({ $set: Object.fromEntries(values) });
    return;
  }
  const shape: Record<string, Expression> = {};
  fields.clear();
  for (const field of kept) fields.add(field);
  for (const field of values.keys()) fields.add(field);
  if (!fields.has('_id')) shape._id = 0;
  for (const field of kept) if (field !== '_id') shape[field] = 1;
  for (const [field, value] of values) shape[field] = value;
  stages.push({ $project: shape });
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

function unwindStage(step: UnwindStep, isIndexed: boolean): Stage {
  const path = `$${step.field}`;
  const options: Record<string, Expression> = { path };
  if (isIndexed) options.includeArrayIndex = step.index;
  if (step.preserve) options.preserveNullAndEmptyArrays = true;
  return { $unwind: Object.keys(options).length === 1 ? path : options };
}

/** `needed`: dotted fields of the joined documents. */
function lookupStage(step: LookupStep, needed: ReadonlySet<string>): Stage {
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
function keepOnly(needed: ReadonlySet<string>, step: LookupStep): Stage {
  const paths = [...needed].filter((path) => path !== '_id' && !isBelowAny(path, needed));
  const id = needed.has('_id') || paths.length === 0 || step.firstOnly ? 1 : 0;
  return { $project: { _id: id, ...Object.fromEntries(paths.map((path) => [path, 1])) } };
}

function isBelowAny(path: string, paths: ReadonlySet<string>): boolean {
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1))
    if (paths.has(path.slice(0, dot))) return true;
  return false;
}
