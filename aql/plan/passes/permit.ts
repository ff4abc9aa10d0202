import { FIELD } from '../../index/document.js';
import type { Stage } from '../../index/stage.js';
import { counted } from '../../../openehr/base/work.js';
import type { Guard, LogicalPlan, PassContext, PlanGuards } from '../logical-plan.js';
import { lookup, type LookupStep, type SourceCollection, type Step } from '../steps.js';

/**
 * Leaves out what policies do not permit, wherever documents are found: before containment, grouping, paging and counts. The first
 * pass, so that whatever the others do is done to what is permitted. docs/access.md#in-queries
 */
export function permit(plan: LogicalPlan, { guards }: PassContext): LogicalPlan {
  if (guards === null) return plan;
  return { ...plan, steps: guarded(plan.collection, plan.steps, guards) };
}

/** Steps over a collection whose documents do not come from others that are permitted. */
function guarded(collection: SourceCollection, steps: readonly Step[], guards: PlanGuards): Step[] {
  return counted(steps).flatMap((step, index): Step[] => {
    switch (step.kind) {
      case 'documents': {
        const { matches, ...rest } = guards.version;
        const own = { ...step, conditions: [...step.conditions, ...matches] };
        const version = { ...rest, matches: [] };
        return [own, ...(step.owner === 'joined' ? guardSteps(version) : documentSteps(version, guards))];
      }
      case 'match':
        // An OR of EHRs begins with any one document, of which nothing is read.
        return index === 0 && collection === 'ehrs' ? [step, ...guardSteps(guards.ehr)] : [step];
      case 'lookup':
        return [guardedJoin(step, guards)];
      default:
        return [step];
    }
  });
}

function guardedJoin(join: LookupStep, guards: PlanGuards): LookupStep {
  const { from, localField, foreignField } = join;
  if (from === 'ehrs')
    // By its id: the EHR of something that is permitted.
    return { ...join, steps: guarded(localField === null ? from : 'aql', join.steps, guards) };
  const steps = guarded(from, join.steps, guards);
  if (from === 'aql') {
    const isSameDocument = foreignField === FIELD.versionUid;
    const isFound = counted(steps).some(({ kind }) => kind === 'documents');
    if (isSameDocument || isFound) return { ...join, steps };
    return { ...join, steps: [...steps, ...guardSteps(guards.version)] };
  }
  if (from === 'contributions')
    return { ...join, steps: [...steps, ...withPermitted('versions.uid', FIELD.versionUid, {}, guards)] };
  // As of a time containers are joined to documents, which are guarded themselves.
  if (from !== 'versioned_objects' || guards.asOf !== null) return { ...join, steps };
  const latest = { [FIELD.isLatest]: true };
  return { ...join, steps: [...steps, ...withPermitted('_id', FIELD.versionedObjectUid, latest, guards)] };
}

/** Keeps what has a permitted document. */
function withPermitted(localField: string, foreignField: string, match: Stage, guards: PlanGuards): Step[] {
  const inner = [...matchSteps([match]), ...guardSteps(guards.version)];
  const join = { as: 'permo', from: 'aql', localField, foreignField } as const;
  return [lookup(join, inner, { firstOnly: true }), some(join.as)];
}

function matchSteps(matches: readonly Stage[]): Step[] {
  return counted(matches)
    .filter((match) => Object.keys(match).length > 0)
    .map((match) => ({ kind: 'match', match }));
}

/** What is asked of documents: first what they say themselves; what is joined for several is joined once. */
function guardSteps(...guards: readonly Guard[]): Step[] {
  const joins = new Map(
    counted(guards).flatMap((guard) => counted(guard.joins).map((join) => [join.as, join] as const)),
  );
  return [
    ...matchSteps(counted(guards).flatMap(({ matches }) => matches)),
    ...joins.values(),
    ...matchSteps(counted(guards).flatMap(({ joined }) => joined)),
  ];
}

/** What is asked of a document and of its EHR. */
function documentSteps(version: Guard, { ehr, ehrOfDocument }: PlanGuards): Step[] {
  if (ehrOfDocument !== null) return guardSteps(version, ehrOfDocument);
  const join = { as: 'perme', from: 'ehrs', localField: FIELD.ehrId, foreignField: '_id' } as const;
  return [...guardSteps(version), { ...lookup(join, guardSteps(ehr)), kept: ['_id'] }, some(join.as)];
}

function some(field: string): Step {
  return { kind: 'match', match: { [`${field}.0`]: { $exists: true } } };
}
