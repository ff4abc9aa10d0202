import type { LogicalPlan, PassContext } from '../logical-plan.js';
import { boundByProbe } from './bound-by-probe.js';
import { countDocuments } from './count-documents.js';
import { deferLookups } from './defer-lookups.js';
import { moveOwners } from './move-owners.js';
import { permit } from './permit.js';
import { pruneFields } from './prune-fields.js';
import { semiJoins } from './semi-joins.js';
import { useLeafIndex } from './use-leaf-index.js';
import { useStartIndex } from './use-start-index.js';

/** A rewrite of a plan that keeps its rows (but for `permit`, those that are permitted). Pure; gives the plan itself back where there is nothing to do. */
export type Pass = (plan: LogicalPlan, context: PassContext) => LogicalPlan;

/** Names of the passes, as explain prints them. */
type PassName = keyof typeof PASSES;

/** All passes in the order in which they run. */
export const PASSES = {
  permit,
  useLeafIndex,
  useStartIndex,
  semiJoins,
  deferLookups,
  boundByProbe,
  pruneFields,
  countDocuments,
  moveOwners,
} as const satisfies Record<string, Pass>;

/** A plan after all passes, with the names of those that changed it. */
export interface OptimizedPlan {
  readonly plan: LogicalPlan;
  readonly applied: readonly PassName[];
}

/** Runs all passes. */
export function optimize(logical: LogicalPlan, context: PassContext): OptimizedPlan {
  const applied: PassName[] = [];
  let plan = logical;
  for (const [name, pass] of Object.entries(PASSES) as [PassName, Pass][]) {
    // Without policies nothing of them is entered.
    if (name === 'permit' && context.guards === null) continue;
    const next = pass(plan, context);
    if (next !== plan) applied.push(name);
    plan = next;
  }
  return { plan, applied };
}
