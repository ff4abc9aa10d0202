import { FIELD } from '../../index/document.js';
import { counted } from '../../../openehr/base/work.js';
import { fieldRef, fieldsOf, isNode } from '../expression.js';
import type { Expression } from '../expression.js';
import { Liveness } from '../liveness.js';
import type { LogicalPlan } from '../logical-plan.js';
import type { GroupStep, LookupStep, Step } from '../steps.js';

/**
 * Joins of which nothing is read, where repeated rows change nothing (DISTINCT, MIN, MAX, COUNT(DISTINCT)): one match is as
 * good as all. Where nothing but the EHR is read of the first documents either, each EHR is joined once: an AND of
 * two chains then costs their sum.
 */
export function semiJoins(plan: LogicalPlan): LogicalPlan {
  const end = counted(plan.steps).findIndex(({ kind }) => SEES_COUNT.has(kind));
  const group = plan.steps[end];
  if (group?.kind !== 'group' || !ignoresRepeats(group)) return plan;
  const before = plan.steps.slice(0, end);
  const joins = counted(before).flatMap((_, index) => joinOf(before, index) ?? []);
  if (joins.length === 0) return plan;
  const own = unfoldedBefore(before);
  const all = [...own, ...counted(joins).flatMap(({ join, folds }) => [join, ...folds])];
  const unread = new Set(unreadOf(all, plan));
  const idle = counted(joins).filter(({ join, folds }) =>
    counted([join, ...folds]).every((one) => unread.has(one)),
  );
  if (idle.length === 0) return plan;
  const firstOnly = new Set<Step>(counted(idle).map(({ lookup }) => lookup));
  const gone = [
    ...counted(own).filter((one) => unread.has(one)),
    ...counted(idle).flatMap(({ folds }) => folds),
  ];
  const dropped = new Set(counted(gone).flatMap(({ steps }) => steps));
  const steps = counted(plan.steps)
    .filter((step) => !dropped.has(step))
    .map((step): Step =>
      step.kind === 'lookup' && firstOnly.has(step) ? { ...step, firstOnly: true } : step,
    );
  return { ...plan, steps: onceForEachEhr({ ...plan, steps }) };
}

/** Steps for which it matters how many documents there are. */
const SEES_COUNT: ReadonlySet<Step['kind']> = new Set(['group', 'sort', 'skip', 'limit', 'count']);

/** Accumulators that give the same for a value that comes once and for one that comes often. */
const IGNORE_REPEATS: ReadonlySet<string> = new Set(['$addToSet', '$first', '$max', '$min']);

function ignoresRepeats({ accumulators }: GroupStep): boolean {
  return counted(Object.values(accumulators)).every(
    (each) => isNode(each) && each.kind === 'call' && IGNORE_REPEATS.has(each.operator),
  );
}

/** An array that is unfolded. */
interface Unfolding {
  /** Its place in the plan. */
  readonly at: number;
  /** What may be read of it: the array, which becomes its member, and the position. */
  readonly fields: readonly string[];
  /** What unfolds it. */
  readonly steps: readonly Step[];
}

/** A join with the arrays in what it brings, none of which is ever empty. */
interface Join {
  readonly lookup: LookupStep;
  readonly join: Unfolding;
  readonly folds: readonly Unfolding[];
}

/** null: the step is no join, or one that need not find anything. */
function joinOf(steps: readonly Step[], at: number): Join | null {
  const lookup = steps[at];
  if (lookup?.kind !== 'lookup' || lookup.firstOnly) return null;
  const join = unfolding(lookup.as, steps, at);
  if (join === null) return null;
  const folds: Unfolding[] = [];
  for (const step of counted(steps.slice(at))) {
    if (step.kind !== 'set' || !isField(step.value, `${lookup.as}.${step.field}`)) continue;
    const fold = unfolding(step.field, steps, at);
    if (fold === null || !demandsMember(step.field, lookup.steps)) return null;
    folds.push({ ...fold, steps: [step, ...fold.steps] });
  }
  return { lookup, join, folds };
}

/** Arrays of the documents themselves that are never empty where they are unfolded. */
function unfoldedBefore(steps: readonly Step[]): Unfolding[] {
  return counted(steps).flatMap((step, at) => {
    if (step.kind !== 'unwind' || !demandsMember(step.field, steps.slice(0, at))) return [];
    return unfolding(step.field, steps, at) ?? [];
  });
}

/** null: what has an empty array stays. */
function unfolding(field: string, steps: readonly Step[], at: number): Unfolding | null {
  const unwind = counted(steps.slice(at)).find((step) => step.kind === 'unwind' && step.field === field);
  if (unwind?.kind !== 'unwind' || unwind.preserve) return null;
  return { at, fields: [field, `${field}i`], steps: [unwind] };
}

function isField(value: Expression, path: string): boolean {
  return isNode(value) && value.kind === 'field' && value.path === path;
}

function demandsMember(field: string, steps: readonly Step[]): boolean {
  return counted(steps).some((step) => step.kind === 'match' && `${field}.0` in step.match);
}

/** Those of which nothing but their own unfolding reads. */
function unreadOf(all: readonly Unfolding[], { steps, row }: LogicalPlan): Unfolding[] {
  const own = new Set(counted(all).flatMap((one) => one.steps));
  const liveness = new Liveness(
    counted(steps).filter((step) => !own.has(step)),
    fieldsOf(row),
  );
  return counted(all).filter(({ at, fields }) => {
    const place = counted(steps.slice(0, at + 1)).filter((step) => !own.has(step)).length - 1;
    return !counted(fields).some((field) => liveness.isLive(field, place));
  });
}

/** Of documents of which only the EHR is read from a join on, one is enough. */
function onceForEachEhr({ collection, steps, row }: LogicalPlan): readonly Step[] {
  const first = counted(steps).findIndex((step) => step.kind === 'lookup' && step.firstOnly);
  const join = steps[first];
  if (collection !== 'aql' || join?.kind !== 'lookup' || join.localField !== FIELD.ehrId) return steps;
  const live = new Liveness(steps, fieldsOf(row)).liveAt(first - 1);
  if (counted(live).some((field) => field !== FIELD.ehrId)) return steps;
  const ehr = fieldRef(FIELD.ehrId);
  return [
    ...steps.slice(0, first),
    { kind: 'group', id: ehr, accumulators: {} },
    { kind: 'set', field: FIELD.ehrId, value: fieldRef('_id') },
    ...steps.slice(first),
  ];
}
