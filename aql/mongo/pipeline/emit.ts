import { FIELD } from '../../index/document.js';
import type { LogicalPlan } from '../../plan/logical-plan.js';
import type { OptimizedPlan } from '../../plan/passes/passes.js';
import type { MongoValue, Stage } from '../../index/stage.js';
import { readsLeaf } from '../../index/condition.js';
import type {
  CutStep,
  DocumentsStep,
  FilterStep,
  LookupStep,
  MatchStep,
  ProjectStep,
  SortStep,
  Step,
  UnwindStep,
} from '../../plan/steps.js';
import { emit, emitAll } from '../document/emit-expression.js';
import { documentsMatch, LEAF_BOUND } from '../document/documents-match.js';
import { checkPipeline } from './pipeline-check.js';
import type { Probe, QueryPlan } from '../../plan/query-plan.js';
import { counted } from '../../../openehr/base/work.js';

/** The pipelines of a plan. @throws invalid when the database would refuse it for its size */
export function emitPlan({ plan, applied }: OptimizedPlan): QueryPlan {
  const { collection, columns, emptyRow, inProcess, steps } = plan;
  const pipeline = pipelineOf(plan);
  checkPipeline(pipeline);
  const [first] = steps;
  const readsLeaves = first?.kind === 'documents' && counted(first.index).some(readsLeaf);
  const found = { collection, pipeline, columns, emptyRow, inProcess };
  return { ...found, ehrField: ehrFieldOf(plan), applied, readsLeaves, probe: probeOf(plan) };
}

/** Steps that see all documents. */
const WHOLE: ReadonlySet<Step['kind']> = new Set(['sort', 'group', 'count', 'skip', 'limit']);

function ehrFieldOf({ collection, steps, inProcess, isByEhr }: LogicalPlan): string | null {
  if (!isByEhr || inProcess !== null || counted(steps).some(({ kind }) => WHOLE.has(kind))) return null;
  return collection === 'ehrs' ? '_id' : FIELD.ehrId;
}

function probeOf({ probe }: LogicalPlan): Probe | null {
  if (probe === null) return null;
  const { documents, rows, offset } = probe;
  // The first step is the first stage, alone.
  return { pipeline: pipelineOf(probe), documents, rows, offset, boundAt: [0, '$match', ...LEAF_BOUND] };
}

function pipelineOf({ steps, row }: Pick<LogicalPlan, 'steps' | 'row'>): Stage[] {
  return [...stagesOf(steps), { $project: { _id: 0, ...emitAll(row) } }];
}

function stagesOf(steps: readonly Step[]): Stage[] {
  const stages: Stage[] = [];
  const { length } = counted(steps);
  for (let i = 0; i < length; i++) {
    const step = steps[i];
    if (step === undefined) break;
    if (!isMatchStep(step)) stages.push(stageOf(step));
    else {
      const matches = i === 0 ? [emittedMatch(step)] : matchRun(steps, i);
      const [only] = matches;
      stages.push({ $match: matches.length === 1 && only !== undefined ? only : { $and: matches } });
      i += matches.length - 1;
    }
  }
  return stages;
}

type Matching = DocumentsStep | MatchStep | FilterStep;

function isMatchStep(step: Step | undefined): step is Matching {
  return step?.kind === 'documents' || step?.kind === 'match' || step?.kind === 'filter';
}

/** Following matches are one stage: MongoDB would put them together in time that grows with their square. */
function matchRun(steps: readonly Step[], first: number): Stage[] {
  const matches: Stage[] = [];
  counted(steps);
  for (let step = steps[first]; isMatchStep(step); step = steps[first + matches.length])
    matches.push(emittedMatch(step));
  return matches;
}

function emittedMatch(step: Matching): Stage {
  switch (step.kind) {
    case 'documents':
      return documentsMatch(step);
    case 'match':
      return step.match;
    case 'filter':
      return { $expr: emit(step.condition) };
  }
}

function stageOf(step: Exclude<Step, Matching>): Stage {
  switch (step.kind) {
    case 'set':
      return { $set: { [step.field]: emit(step.value) } };
    case 'project':
      return projectStage(step);
    case 'unwind':
      return unwindStage(step);
    case 'lookup':
      return lookupStage(step);
    case 'merge':
      return { $set: { [step.field]: { $concatArrays: counted(step.parts).map((part) => `$${part}`) } } };
    case 'count':
      return { $setWindowFields: { output: { [step.field]: { $count: {} } } } };
    case 'group':
      return { $group: { _id: emit(step.id), ...emitAll(step.accumulators) } };
    default:
      return sortOrCutStage(step);
  }
}

function sortOrCutStage(step: SortStep | CutStep): Stage {
  switch (step.kind) {
    case 'sort':
      return { $sort: Object.fromEntries(step.keys) };
    case 'skip':
      return { $skip: step.count };
    case 'limit':
      return { $limit: step.count };
  }
}

function projectStage({ values, kept }: ProjectStep): Stage {
  if (kept === null) return { $set: emitAll(values) };
  return { $project: { ...inclusion(kept, '_id' in values), ...emitAll(values) } };
}

/** Fields that go on; MongoDB keeps `_id` unless it is excluded. */
function inclusion(kept: readonly string[], isIdSet = false): Stage {
  const shape: Record<string, MongoValue> = {};
  if (!isIdSet && !kept.includes('_id')) shape._id = 0;
  for (const field of counted(kept).filter(isNoId)) shape[field] = 1;
  return shape;
}

function isNoId(field: string): boolean {
  return field !== '_id';
}

function unwindStage({ field, index, preserve }: UnwindStep): Stage {
  const path = `$${field}`;
  const options: Record<string, MongoValue> = { path };
  if (index !== null) options.includeArrayIndex = index;
  if (preserve) options.preserveNullAndEmptyArrays = true;
  return { $unwind: Object.keys(options).length === 1 ? path : options };
}

function lookupStage(step: LookupStep): Stage {
  const { from, localField, foreignField, variables, firstOnly, kept, as } = step;
  const stages = stagesOf(step.steps);
  if (firstOnly) stages.push({ $limit: 1 });
  if (kept !== null)
    stages.push({
      $project: {
        _id: kept.includes('_id') ? 1 : 0,
        ...Object.fromEntries(
          counted(kept)
            .filter(isNoId)
            .map((field) => [field, 1]),
        ),
      },
    });
  const join = localField === null ? {} : { localField, foreignField };
  const given = Object.keys(variables).length === 0 ? {} : { let: emitAll(variables) };
  const inner = stages.length === 0 && localField !== null ? {} : { pipeline: stages };
  return { $lookup: { from, ...join, ...given, ...inner, as } };
}
