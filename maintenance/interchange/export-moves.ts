import type { Session } from '../../models/access/write.js';
import { movedEhrs, movesAmong, type MovedEhr } from '../../models/cross-collection/interchange-moves.js';
import type { EhrDoc } from '../../models/ehr.js';

/** Older than what may have been begun before the export and committed after. */
const MARGIN_MS = 3_600_000;

/**
 * What merges, unmerges and moves did while an export was under way: each EHR is of one moment, but of two between which content went
 * one may have been read before and one after. Of those the second is left out, and named.
 */
export class ExportMoves {
  /** EHRs that were written when they had been part of something since the export began, as they were then. */
  readonly #later = new Map<string, number>();
  /** EHRs that were listed and not written. */
  readonly #passed = new Set<string>();
  readonly #since: Date;
  #last = '';

  private constructor(
    private readonly session: Session,
    private readonly first: ReadonlyMap<string, MovedEhr>,
    /** Ids of those that were written; null: all up to the last, in their order. */
    private readonly written: Set<string> | null,
    private readonly begun: Date,
  ) {
    this.#since = new Date(begun.getTime() - MARGIN_MS);
  }

  /** `isWhole`: EHRs come in the order of their ids, and none is left out. */
  static async begin(session: Session, isWhole: boolean): Promise<ExportMoves> {
    const begun = new Date();
    return new ExportMoves(session, await movedEhrs(session), isWhole ? null : new Set(), begun);
  }

  /** An EHR is written. */
  wrote(ehr: EhrDoc): void {
    this.written?.add(ehr._id);
    if (ehr._id > this.#last) this.#last = ehr._id;
    this.#passed.delete(ehr._id);
    if (this.#isInvolved(ehr)) this.#later.set(ehr._id, ehr.merge_seq ?? 0);
  }

  /** An EHR had its turn and is not written. */
  pass(ehrId: string): void {
    this.#passed.add(ehrId);
    if (ehrId > this.#last) this.#last = ehrId;
  }

  /** An EHR that was written before content went between it and this one; null: this one may be written as it was read. */
  async staleBeside(ehr: EhrDoc): Promise<string | null> {
    if (!this.#isInvolved(ehr)) return null;
    const changed = await this.#changed();
    for (const id of await this.#connected(ehr._id, changed))
      if (id !== ehr._id && this.#isStale(id, changed)) return id;
    return null;
  }

  /** EHRs that were part of something since, and whose content may be nowhere in the file. */
  async left(): Promise<MovedEhr[]> {
    const changed = await this.#changed();
    return [...changed.values()].filter(
      ({ _id, state, merged_into: into }) =>
        !this.#isWritten(_id) &&
        (state === 'active' || this.#passed.has(_id) || this.#wasListed(_id)) &&
        !(state === 'merged' && this.#isWhole(into, changed)),
    );
  }

  /** Whether an EHR was to be exported when it began, had it not been merged before its turn. */
  #wasListed(ehrId: string): boolean {
    return this.written === null && (this.first.get(ehrId)?.state ?? 'active') === 'active';
  }

  /** EHRs that were merged since. */
  async merged(): Promise<MovedEhr[]> {
    return [...(await this.#changed()).values()].filter(({ state }) => state === 'merged');
  }

  /** Whether the EHR that another was merged into was written after that. */
  #isWhole(ehrId: string | undefined, changed: ReadonlyMap<string, MovedEhr>): boolean {
    let last = ehrId;
    for (let turns = 0; turns < changed.size; turns += 1) {
      const next: string | undefined = changed.get(last ?? '')?.merged_into;
      if (next === undefined) break;
      last = next;
    }
    return last !== undefined && this.#isWritten(last) && !this.#isStale(last, changed);
  }

  #isInvolved({ _id, merge_seq: seq = 0 }: Pick<MovedEhr, '_id' | 'merge_seq'>): boolean {
    return seq !== (this.first.get(_id)?.merge_seq ?? 0);
  }

  async #changed(): Promise<Map<string, MovedEhr>> {
    const all = await movedEhrs(this.session);
    return new Map([...all].filter(([, ehr]) => this.#isInvolved(ehr)));
  }

  #isWritten(ehrId: string): boolean {
    if (this.#later.has(ehrId)) return true;
    if (this.written !== null) return this.written.has(ehrId);
    const wasThere = (this.first.get(ehrId)?.state ?? 'active') === 'active';
    return wasThere && ehrId <= this.#last && !this.#passed.has(ehrId);
  }

  #isStale(ehrId: string, changed: ReadonlyMap<string, MovedEhr>): boolean {
    const now = changed.get(ehrId);
    if (now === undefined || !this.#isWritten(ehrId)) return false;
    const seq = this.#later.get(ehrId);
    if (seq !== undefined) return seq !== now.merge_seq;
    return this.written !== null || now.time_created < this.begun;
  }

  /** All between which and this one content went since, directly or through others. */
  async #connected(ehrId: string, changed: ReadonlyMap<string, MovedEhr>): Promise<ReadonlySet<string>> {
    const edges = await movesAmong(this.session, changed, this.#since);
    const found = new Set([ehrId]);
    for (const one of found)
      for (const [from, to] of edges) {
        if (from === one) found.add(to);
        if (to === one) found.add(from);
      }
    return found;
  }
}
