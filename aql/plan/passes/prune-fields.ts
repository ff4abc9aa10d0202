import { fieldsOf } from '../expression.js';
import type { Expression } from '../expression.js';
import { Liveness, rootOf } from '../liveness.js';
import type { LogicalPlan, ProbePlan } from '../logical-plan.js';
import { COLLECTION_FIELDS } from '../steps.js';
import type { LookupStep, SourceCollection, Step } from '../steps.js';
import { counted, step as countStep } from '../../../openehr/base/work.js';

/**
 * Leaves out whatever neither a later step nor the row reads: values, joins, positions. Sets become projections where
 * that makes documents smaller; joined documents bring only what is read of them.
 */
export function pruneFields(plan: LogicalPlan): LogicalPlan {
  const { collection } = plan;
  const steps = prunedSteps(plan.steps, fieldsOf(plan.row), collection);
  const probe = plan.probe === null ? null : prunedProbe(plan.probe, collection);
  return areSameSteps(steps, plan.steps) && probe === plan.probe ? plan : { ...plan, steps, probe };
}

function prunedProbe(probe: ProbePlan, collection: SourceCollection): ProbePlan {
  return { ...probe, steps: prunedSteps(probe.steps, fieldsOf(probe.row), collection) };
}

function areSameSteps(steps: readonly Step[], before: readonly Step[]): boolean {
  return steps.length === before.length && counted(steps).every((step, index) => step === before[index]);
}

/** `needed`: dotted fields that are read of the documents after the last step. */
function prunedSteps(
  steps: readonly Step[],
  needed: ReadonlySet<string>,
  collection: SourceCollection,
): readonly Step[] {
  const pruning = new Pruning(steps, new Liveness(steps, needed), collection);
  const { length } = counted(steps);
  for (let index = 0; index < length; index++) index = pruning.take(index);
  return pruning.kept;
}

/** One walk over steps, with the fields that documents have at each. */
class Pruning {
  readonly kept: Step[] = [];
  private readonly fields: Set<string>;

  constructor(
    private readonly steps: readonly Step[],
    private readonly liveness: Liveness,
    collection: SourceCollection,
  ) {
    this.fields = new Set(COLLECTION_FIELDS[collection]);
  }

  /** Takes the step at `index`, and those that go into one with it; gives the index of the last one taken. */
  take(index: number): number {
    const step = this.steps[index];
    if (step === undefined) return index;
    if (step.kind === 'set') return this.takeSets(index);
    const kept = this.prunedStep(step, index);
    if (kept === null) return index;
    this.kept.push(kept);
    this.addFields(kept);
    return index;
  }

  /** The step without what nothing reads; null when all of it is. */
  private prunedStep(step: Step, index: number): Step | null {
    if (step.kind === 'lookup')
      return this.liveness.isLive(step.as, index) ? prunedLookup(step, this.liveness.readBelow(index)) : null;
    if (step.kind === 'merge') return this.liveness.isLive(step.field, index) ? step : null;
    if (step.kind !== 'unwind' || step.index === null || this.liveness.isLive(step.index, index)) return step;
    return { ...step, index: null };
  }

  private addFields(step: Step): void {
    if (step.kind === 'group') {
      this.fields.clear();
      for (const field of counted(['_id', ...Object.keys(step.accumulators)])) this.fields.add(field);
    } else if (step.kind === 'lookup') this.fields.add(step.as);
    else if (step.kind === 'merge' || step.kind === 'count') this.fields.add(step.field);
    else if (step.kind === 'unwind' && step.index !== null) this.fields.add(step.index);
  }

  /** Following sets that do not read each other go into one step. */
  private takeSets(first: number): number {
    const values = new Map<string, Expression>();
    let last = first;
    for (let index = first; index < this.steps.length; index++) {
      countStep();
      const step = this.steps[index];
      if (step?.kind !== 'set') break;
      if (this.liveness.isLive(step.field, index)) {
        if (values.has(step.field) || readsAny(step.value, values)) break;
        values.set(step.field, step.value);
      }
      last = index;
    }
    if (values.size > 0) this.project(values, last);
    return last;
  }

  private project(values: ReadonlyMap<string, Expression>, last: number): void {
    const isKept = (field: string): boolean => !values.has(field) && this.liveness.isLive(field, last);
    const kept = counted([...this.fields]).filter(isKept);
    const count = kept.length + (this.fields.has('_id') && !kept.includes('_id') ? 1 : 0);
    const isAll = count === this.fields.size;
    if (!isAll) {
      this.fields.clear();
      for (const field of counted(kept)) this.fields.add(field);
    }
    for (const field of counted(values).keys()) this.fields.add(field);
    this.kept.push({ kind: 'project', values: Object.fromEntries(values), kept: isAll ? null : kept });
  }
}

function readsAny(value: Expression, fields: ReadonlyMap<string, Expression>): boolean {
  if (fields.size === 0) return false;
  for (const path of counted(fieldsOf(value))) if (fields.has(rootOf(path))) return true;
  return false;
}

/** `needed`: dotted fields of the joined documents. */
function prunedLookup(step: LookupStep, needed: ReadonlySet<string>): LookupStep {
  const steps = prunedSteps(step.steps, needed, step.from);
  // A bare join by key is fastest without a pipeline; what it brings too much is dropped by the next step.
  if (steps.length === 0 && !step.firstOnly && step.localField !== null) return { ...step, steps };
  const paths = counted([...needed]).filter((path) => path !== '_id' && !isBelowAny(path, needed));
  const isIdKept = needed.has('_id') || paths.length === 0 || step.firstOnly;
  return { ...step, steps, kept: isIdKept ? ['_id', ...paths] : paths };
}

function isBelowAny(path: string, paths: ReadonlySet<string>): boolean {
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1))
    if (paths.has(path.slice(0, dot))) return true;
  return false;
}
