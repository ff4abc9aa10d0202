/** What three EHRs held, change after change, and when: by it one knows what a reader may be answered. */

export const SIDES = ['source', 'target', 'third'] as const;
/** Which of the three; merges give what is of one to another. */
export type Side = (typeof SIDES)[number];

/** A VERSION of a COMPOSITION. */
interface HeldVersion {
  readonly uid: string;
  /** Of its commit, in ms since 1970. */
  readonly time: number;
  /** false: it is a logical deletion. */
  readonly hasContent: boolean;
}

/** A COMPOSITION, which may be deleted. */
export interface Held {
  /** Whose it is while nothing is merged. */
  readonly home: Side;
  /** Oldest first. */
  readonly versions: readonly HeldVersion[];
  readonly isTagged: boolean;
  /** Whether one CONTRIBUTION made versions of it and of another. */
  readonly isJoint: boolean;
  /** Whether it is persistent, so that merges may join it to another. */
  readonly isList: boolean;
}

/** All that readers are asked about. */
export interface GroupState {
  /** The change that made it. */
  readonly after: string;
  /** Where each was merged. */
  readonly into: Readonly<Partial<Record<Side, Side>>>;
  /** By object id. */
  readonly held: ReadonlyMap<string, Held>;
  /** Uids of the latest EHR_STATUS and directory of each; null: no live directory. */
  readonly status: Readonly<Record<Side, string>>;
  readonly directory: Readonly<Record<Side, string | null>>;
  /** Uids of the versions of each CONTRIBUTION, by its id, of each that is not merged. */
  readonly contributions: Readonly<Record<Side, ReadonlyMap<string, readonly string[]>>>;
}

interface Change {
  /** null: it is under way. */
  state: GroupState | null;
  readonly begun: number;
  ended: number;
}

/** A change after the other: one writer, any number of readers. */
export class Recorded {
  readonly #changes: Change[];
  #last: Promise<unknown> = Promise.resolve();

  constructor(state: GroupState) {
    this.#changes = [{ state, begun: -Infinity, ended: -Infinity }];
  }

  /** As the writer knows it: after the last change that is done. */
  get now(): GroupState {
    return this.#changes.findLast(({ state }) => state !== null)!.state!;
  }

  /** How many there were. */
  get changes(): number {
    return this.#changes.length - 1;
  }

  /** Makes a change, which may be seen from now on, and must be when it is done. `make` gives when that was, and the state after it. */
  async change(make: () => Promise<{ readonly ended: number; readonly state: GroupState }>): Promise<void> {
    const change: Change = { state: null, begun: performance.now(), ended: Infinity };
    this.#changes.push(change);
    this.#last = make().then((done) => Object.assign(change, done));
    await this.#last;
  }

  /** The states in which the group was at some time between the two; known once the change that is under way is done. */
  async between(asked: number, answered: number): Promise<GroupState[]> {
    await this.#last;
    const since = this.#changes.findLastIndex(({ ended }) => ended < asked);
    return this.#changes
      .filter(({ begun }, at) => at >= since && begun <= answered)
      .map(({ state }) => state!);
  }
}

/** Which EHR the content of one is in. */
export function ownerOf(side: Side, { into }: Pick<GroupState, 'into'>): Side {
  const next = into[side];
  return next === undefined ? side : ownerOf(next, { into });
}

/** The COMPOSITIONs of an EHR, deleted ones too, as entries by object id; null: it is merged away. */
export function heldBy(side: Side, state: GroupState): [string, Held][] | null {
  if (state.into[side] !== undefined) return null;
  return [...state.held].filter(([, { home }]) => ownerOf(home, state) === side);
}

/** Those of them that are not deleted. */
export function liveOf(side: Side, state: GroupState): [string, Held][] | null {
  return heldBy(side, state)?.filter(([, { versions }]) => versions.at(-1)!.hasContent) ?? null;
}

/** The uid of the latest version. */
export function uidOf({ versions }: Held): string {
  return versions.at(-1)!.uid;
}
