/** What two EHRs held, change after change, and when: by it one knows what a reader may be answered. */

/** Which of the two: documents of `source` are the target's while it is merged. */
export type Side = 'source' | 'target';

/** A live COMPOSITION. */
export interface Held {
  /** Whose it is while the two are not merged. */
  readonly side: Side;
  readonly uid: string;
  readonly isTagged: boolean;
  /** Whether one CONTRIBUTION made versions of it and of another. */
  readonly isJoint: boolean;
}

/** All that readers are asked about. */
export interface PairState {
  readonly isMerged: boolean;
  /** By object id. */
  readonly held: ReadonlyMap<string, Held>;
}

interface Change {
  readonly state: PairState;
  readonly begun: number;
  ended: number;
}

/** A change after the other: one writer, any number of readers. */
export class Recorded {
  readonly #changes: Change[];

  constructor(state: PairState) {
    this.#changes = [{ state, begun: -Infinity, ended: -Infinity }];
  }

  /** As the writer knows it. */
  get now(): PairState {
    return this.#changes.at(-1)!.state;
  }

  /** How many there were. */
  get changes(): number {
    return this.#changes.length - 1;
  }

  /** Makes a change, which may be seen from now on, and must be when it is done. */
  async change(state: PairState, make: () => Promise<unknown>): Promise<void> {
    const change = { state, begun: performance.now(), ended: Infinity };
    this.#changes.push(change);
    await make();
    change.ended = performance.now();
  }

  /** The states in which the pair was at some time between the two. */
  between(asked: number, answered: number): PairState[] {
    const since = this.#changes.findLastIndex(({ ended }) => ended < asked);
    return this.#changes
      .filter(({ begun }, at) => at >= since && begun <= answered)
      .map(({ state }) => state);
  }
}

/** What an EHR of the pair holds, as entries by object id; null: it is merged away. */
export function heldBy(side: Side, { isMerged, held }: PairState): [string, Held][] | null {
  if (isMerged && side === 'source') return null;
  return [...held].filter(([, one]) => isMerged || one.side === side);
}
