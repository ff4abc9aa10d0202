import { ownersOf } from '../aql/index/moved-owners.js';
import { CdrError } from '../openehr/base/errors.js';
import { requireQueriedEhr } from '../change/commit/ehr-access.js';
import { ehrById, ehrIdsAfter } from '../models/ehr.js';
import { movesOfContent } from '../models/merge/moves.js';
import { holdsSnapshots } from '../models/access/one-snapshot.js';
import { runPipeline, type PipelineRow, type RunLimits } from '../models/cross-collection/run-pipeline.js';
import { learnOfMerges, movingMerges, takesPartInMerge } from '../models/access/merge-job.js';
import type { QueryPlan } from '../aql/plan/query-plan.js';
import { begunRows, MAX_READS, rowsOfOneMoment, type PlanBeside, type RequestedEhr } from './one-moment.js';
import { required } from '../openehr/base/required.js';

/** EHRs whose rows are read at one moment: at first, and at most. */
const FIRST_EHRS = 16;
const MOST_EHRS = 1_000;

/** What rows are found by. */
interface StreamedPlan extends Pick<QueryPlan, 'ehrField'> {
  readonly planBeside: PlanBeside;
}

/** What a stream must not take of others. */
export interface HeldLimits {
  /** How long commits may be kept waiting for a part of the rows, ms. */
  readonly holdMs: number;
  /** Called before the first row when the EHRs will each be of a moment of their own. */
  readonly onManyMoments: () => void;
}

type StreamLimits = RunLimits & HeldLimits;

type Rows = AsyncGenerator<readonly PipelineRow[], void, undefined>;

/**
 * The rows of a stream. Where the database keeps a moment, and where all of them are found within `holdMs`, they are of one.
 * Else the embedded engine, which makes commits wait for such a read, gives the rows of some EHRs at a time, each EHR as it was
 * at one moment. docs/decisions/0047-streams-by-ehr.md
 * @throws as `rowsOfOneMoment`; unavailable, after the first rows too, when what they are of was changed meanwhile
 */
export async function* rowsOfStream(
  plan: StreamedPlan,
  limits: StreamLimits,
  ehr: RequestedEhr | null,
): Rows {
  if (!(await holdsSnapshots())) {
    yield* rowsOfOneMoment(plan.planBeside, limits, ehr);
    return;
  }
  const stream = new HeldStream(plan, limits);
  const whole = await stream.held(plan.planBeside, ehr);
  if (whole !== null) yield* whole;
  else if (plan.ehrField === null) yield* rowsOfOneMoment(plan.planBeside, stream.left(), ehr);
  else if (ehr !== null) yield* stream.ofUnchanged(ehr.ehrId, ehr);
  else yield* stream.byEhrs();
}

class HeldStream {
  /** Time in which the database held rows, ms. */
  #usedMs = 0;

  constructor(
    private readonly plan: StreamedPlan,
    private readonly limits: StreamLimits,
  ) {}

  /** What the stream may still take. */
  left(): StreamLimits {
    const { timeoutMs } = this.limits;
    return { ...this.limits, timeoutMs: Math.max(1, Math.ceil(timeoutMs - this.#usedMs)) };
  }

  /** Rows of one moment, all of which are found; null: commits would wait for too long. */
  async held(planBeside: PlanBeside, ehr: RequestedEhr | null): Promise<Rows | null> {
    const { holdMs, timeoutMs, ...limits } = this.left();
    const start = performance.now();
    const rows = rowsOfOneMoment(planBeside, { ...limits, timeoutMs: Math.min(holdMs, timeoutMs) }, ehr);
    try {
      return await begunRows(rows);
    } catch (error) {
      if (timeoutMs > holdMs && error instanceof CdrError && error.code === 'timeout') return null;
      throw error;
    } finally {
      this.#usedMs += performance.now() - start;
    }
  }

  /** The rows of all EHRs. What moves between those that had their turn and others would be met twice, or not at all. */
  async *byEhrs(): Rows {
    this.limits.onManyMoments();
    for (let reads = 1, isBegun = false; reads <= MAX_READS && !isBegun; reads += 1) {
      const moves = await movesOfContent();
      for await (const rows of this.#parts()) {
        isBegun = true;
        yield rows;
      }
      if ((await movesOfContent()) === moves) return;
    }
    throw new CdrError('unavailable', 'EHRs were merged, or content was moved, while the rows were given', {
      retryAfterSeconds: 1,
    });
  }

  async *#parts(): Rows {
    let last = '';
    for (let size = FIRST_EHRS; ;) {
      const ehrIds = await ehrIdsAfter(last, size);
      const [first] = ehrIds;
      if (first === undefined) return;
      const start = performance.now();
      const rows = await this.held(this.#ofEhrs(ehrIds), null);
      const share = (performance.now() - start) / this.limits.holdMs;
      if (rows === null && ehrIds.length > 1) {
        size = Math.ceil(ehrIds.length / 4);
        continue;
      }
      last = ehrIds.at(-1) ?? last;
      yield* rows ?? this.ofUnchanged(first);
      if (share < 1 / 4) size = Math.min(2 * size, MOST_EHRS);
      else if (share > 1 / 2) size = Math.ceil(size / 2);
    }
  }

  /** The rows of one EHR, read while others commit, for as long as they do not commit to it. `asked`: the request is about it. */
  async *ofUnchanged(ehrId: string, asked: RequestedEhr | null = null): Rows {
    const planBeside = this.#ofEhrs([ehrId]);
    for (let reads = 1, isBegun = false; reads <= MAX_READS && !isBegun; reads += 1) {
      const state = await ehrState(ehrId);
      if (state === null) {
        yield* rowsOfOneMoment(planBeside, this.left(), asked);
        return;
      }
      if (asked !== null) await requireQueriedEhr(ehrId);
      let isChanged = false;
      const plan = await planBeside(movingMerges());
      for await (const rows of runPipeline(plan, { ...this.left(), isHeld: false })) {
        isChanged = (await ehrState(ehrId)) !== state;
        if (isChanged) break;
        isBegun = true;
        yield rows;
      }
      if (!isChanged && (await ehrState(ehrId)) === state) return;
    }
    throw new CdrError('unavailable', `EHR ${ehrId} was changed while its rows were given`, {
      retryAfterSeconds: 1,
    });
  }

  #ofEhrs(ehrIds: readonly string[]): PlanBeside {
    const { planBeside, ehrField } = this.plan;
    return async (merges) => {
      const plan = await planBeside(merges);
      const owners = plan.collection === 'ehrs' ? ehrIds : ehrIds.flatMap((each) => ownersOf(each, merges));
      const match = { $match: { [required(ehrField, 'field of the EHR')]: { $in: owners } } };
      return { ...plan, pipeline: [match, ...plan.pipeline], probe: null };
    };
  }
}

/** A text that each change of an EHR changes; null while a merge in steps moves documents from or to it. */
async function ehrState(ehrId: string): Promise<string | null> {
  await learnOfMerges();
  if (takesPartInMerge(ehrId)) return null;
  const ehr = await ehrById(ehrId);
  return ehr === null ? 'none' : `${ehr.state} ${ehr.write_seq}`;
}
