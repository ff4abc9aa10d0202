import { NO_MERGES, type MovingMerges } from '../aql/index/moved-owners.js';
import type { Page } from '../aql/semantics/page.js';
import type { Clock } from '../aql/semantics/present-time.js';
import type { RawRow } from '../aql/result/result-set.js';
import type { BoundQuery } from '../aql/syntax/ast.js';
import type { Permitted } from '../policy/condition.js';
import type { Work } from '../openehr/base/work.js';
import type { PathAlias } from '../openehr/template/upgrade/path-alias.js';
import { contentsPlan, storedContents } from '../models/cross-collection/contents.js';
import type { RunLimits, RunnablePlan } from '../models/cross-collection/run-pipeline.js';
import { evaluateInThread } from '../workers/evaluation.js';

/** What of the request changes the rows, and what it may use. */
export interface Evaluation {
  readonly query: BoundQuery;
  /** Paths that templates have moved. */
  readonly aliases: readonly PathAlias[];
  readonly page: Page;
  readonly systemId: string;
  readonly subsumption: boolean;
  readonly asOf: Date | null;
  readonly ehrId: string | null;
  /** What policies permit; absent: everything. */
  readonly permitted?: Permitted;
  readonly clock: Clock;
  readonly limits: RunLimits;
  readonly work: Work;
  /** Who shares the threads fairly with others. */
  readonly user: string;
}

/**
 * What is to be read for the evaluator instead of the rows of a plan: at most one VERSION more than the budget allows. `merges`:
 * those that the plan was made for.
 */
export function evaluatedPlan(
  plan: RunnablePlan,
  { budget }: Work,
  merges: MovingMerges = NO_MERGES,
): RunnablePlan {
  return contentsPlan(plan, budget.versions, merges);
}

/**
 * Evaluates a query over the EHRs that its pipeline found, in a thread: for the few constructs that compare whole objects.
 * `found`: the rows of its `evaluatedPlan`. Gives rows as JSON texts, some at a time.
 * @throws unprocessable when the EHRs hold too much for that; else as `evaluateInThread`
 */
export async function evaluateCandidates(
  found: AsyncIterable<readonly RawRow[]>,
  evaluation: Evaluation,
): Promise<readonly (readonly string[])[]> {
  const { query, aliases, page, systemId, subsumption, asOf, ehrId, permitted, clock, limits, work, user } =
    evaluation;
  const contents = await storedContents(found, work.budget.versions);
  const time = { now: clock.now, zoneOffsetMinutes: clock.offsetMinutes };
  const seen = permitted !== undefined && { permitted };
  const options = { systemId, subsumption, asOf, page, ...time, ...seen };
  const owner = { work, user, end: limits.signal ?? null };
  return evaluateInThread({ query, ehrId, aliases, options }, contents, owner);
}
