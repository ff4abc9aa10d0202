import { FIELD } from '../../index/document.js';
import type { Stage } from '../../index/stage.js';
import { counted } from '../../../openehr/base/work.js';
import type { LogicalPlan, PassContext, PlanGuards } from '../logical-plan.js';
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
        const own = { ...step, conditions: [...step.conditions, ...guards.matches] };
        const ofEhr = step.owner === 'joined' ? [] : ehrSteps(guards);
        return [own, ...versionSteps(guards), ...ofEhr];
      }
      case 'match':
        // An OR of EHRs begins with any one document, of which nothing is read.
        return index === 0 && collection === 'ehrs' ? [step, ...matchSteps([guards.ehr])] : [step];
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
    return { ...join, steps: [...steps, ...matchSteps(guards.matches), ...versionSteps(guards)] };
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
  const inner = [...matchSteps([match, ...guards.matches]), ...versionSteps(guards)];
  const join = { as: 'permo', from: 'aql', localField, foreignField } as const;
  return [lookup(join, inner, { firstOnly: true }), some(join.as)];
}

function matchSteps(matches: readonly Stage[]): Step[] {
  return counted(matches)
    .filter((match) => Object.keys(match).length > 0)
    .map((match) => ({ kind: 'match', match }));
}

/** What is asked of a VERSION that its query index document does not have. */
function versionSteps({ joined }: PlanGuards): Step[] {
  if (joined === null) return [];
  const join = { as: joined.as, from: 'versions', localField: '_id', foreignField: '_id' } as const;
  return [
    { ...lookup(join, []), kept: ['commit_audit'] },
    { kind: 'match', match: joined.match },
  ];
}

/** What is asked of the EHR of a document. */
function ehrSteps({ ehr, ehrOfDocument }: PlanGuards): Step[] {
  if (Object.keys(ehr).length === 0) return [];
  if (ehrOfDocument !== null) return [{ kind: 'match', match: ehrOfDocument }];
  const join = { as: 'perme', from: 'ehrs', localField: FIELD.ehrId, foreignField: '_id' } as const;
  const inner: Step[] = [{ kind: 'match', match: ehr }];
  return [{ ...lookup(join, inner), kept: ['_id'] }, some(join.as)];
}

function some(field: string): Step {
  return { kind: 'match', match: { [`${field}.0`]: { $exists: true } } };
}
