import { CdrError } from '../openehr/base/errors.js';
import { requireQueriedEhr } from '../change/commit/ehr-access.js';
import {
  runPipeline,
  type PipelineRow,
  type RunLimits,
  type RunnablePlan,
} from '../models/cross-collection/run-pipeline.js';
import type { MovingMerges } from '../aql/index/moved-owners.js';
import { areStillMoving, movingMerges } from '../models/access/merge-job.js';

/** Makes the plan of a query for the merges in steps beside which it is to run. */
export type PlanBeside = (merges: MovingMerges) => Promise<RunnablePlan>;

/** How often a query is run anew because EHRs were merged meanwhile. */
export const MAX_READS = 20;

/** The EHR that a request is about. */
export interface RequestedEhr {
  readonly ehrId: string;
  /** Of `requireQueriedEhr`, asked before. */
  readonly mergeSeq: number;
}

/**
 * The rows of a pipeline as they were at one moment, beside merges too: a query under which a merge began to move
 * documents, or ended, is run again before anything of it is given. docs/spec/merge.md#atomicity
 * @throws as `planBeside` and `runPipeline`; not-found when the EHR was merged away meanwhile; unavailable when merges follow each other
 * without end
 */
export async function* rowsOfOneMoment(
  planBeside: PlanBeside,
  limits: RunLimits,
  ehr: RequestedEhr | null,
): AsyncGenerator<readonly PipelineRow[], void, undefined> {
  let mergeSeq = ehr?.mergeSeq;
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const merges = movingMerges();
    const rows = runPipeline(await planBeside(merges), limits);
    try {
      // The database gives the first of them when it has found them all.
      const first = await rows.next();
      if (!(await areStillMoving(merges))) continue;
      if (first.done === true) {
        // What is missing may be where a merge took it.
        const now = ehr === null ? mergeSeq : await requireQueriedEhr(ehr.ehrId);
        if (now === mergeSeq) return;
        mergeSeq = now;
        continue;
      }
      yield first.value;
      yield* rows;
      return;
    } finally {
      await rows.return();
    }
  }
  throw new CdrError('unavailable', 'EHRs are merged again and again', { retryAfterSeconds: 1 });
}

/** The same rows, of which the first are there. @throws what the rows throw until then */
export async function begunRows<T>(
  rows: AsyncGenerator<T, void, undefined>,
): Promise<AsyncGenerator<T, void, undefined>> {
  const first = await rows.next();
  return (async function* () {
    try {
      if (first.done !== true) yield first.value;
      yield* rows;
    } finally {
      await rows.return();
    }
  })();
}
