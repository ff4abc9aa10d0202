import { AsyncResource } from 'node:async_hooks';
import { CdrError } from '../../openehr/base/errors.js';
import { publishCommitGroup } from '../../database/events.js';
import { isDuplicateKey, isUnavailable } from '../../database/mongo-error.js';
import { inTransaction } from '../../database/transaction.js';
import { isCompletedMeanwhile } from '../../models/idempotency.js';
import { commitClock } from './commit-clock.js';
import {
  canRunTogether,
  refusedAmong,
  runTogether,
  runWrites,
  type Write,
} from '../../models/access/write.js';

/** What one commit writes, all or nothing. */
export interface CommitWrites {
  readonly ehrId: string;
  readonly writes: readonly Write[];
  /** About how many bytes they send to the database. */
  readonly bytes: number;
}

/** Commits of one group: of more the answers to the first would wait too long for the last. */
const MAX_COMMITS = 64;
/** Bytes of one group; a larger commit goes by itself. */
const MAX_BYTES = 4 * 1024 * 1024;
/** How often a group is tried again without those that cannot be written with it; then each goes by itself. */
const MAX_ATTEMPTS = 3;

/** Thrown inside a transaction to roll it back: what a plan expected is not so. */
class StaleState extends Error {}

/** Thrown inside a transaction to roll it back: some of its commits cannot be written with the others. */
class NotTogether extends Error {
  /** null: it is not known which. */
  constructor(readonly taken: Taken | null) {
    super();
  }
}

/** Places of commits in their group. */
interface Taken {
  /** Those whose expectations were wrong: they are to be planned anew. */
  readonly stale: readonly number[];
  /** Those that are to be tried by themselves. */
  readonly alone: readonly number[];
}

const UNREPEATED: ReadonlySet<string> = new Set(['unavailable', 'outcome-unknown']);

interface Waiting extends CommitWrites {
  readonly resolve: (isWritten: boolean | Promise<boolean>) => void;
  readonly reject: (error: unknown) => void;
}

const lanes: Lane[] = [];

/**
 * Group commit: writes that wait while a transaction is under way go into the next one together. No timer holds them back,
 * so a client that is alone waits for nobody. True once the transaction is on a majority; false: an expectation was wrong
 * or an id is taken, then nothing of this commit is written. What one commit fails of touches no other
 * (docs/spec/storage.md#group-commit).
 * `groups`: how many may be under way at the same time; commits of one EHR keep their order.
 * @throws the driver's errors; CdrError as `inTransaction`
 */
export async function writeGrouped(commit: CommitWrites, groups: number): Promise<boolean> {
  if (!(await canRunTogether())) return writeAlone(commit.writes);
  const number = laneOf(commit.ehrId, groups);
  const lane = (lanes[number] ??= new Lane());
  return lane.add(commit);
}

/** Runs the writes of one commit in a transaction of their own. Gives and throws as `writeGrouped`. */
export async function writeAlone(
  writes: readonly Write[],
  inSameTransaction: () => Promise<void> | undefined = () => undefined,
): Promise<boolean> {
  try {
    await inTransaction(async (session) => {
      if (!commitClock.isAlive() || !(await runWrites(session, writes))) throw new StaleState();
      await inSameTransaction();
    });
    return true;
  } catch (error) {
    if (error instanceof StaleState || isTaken(error)) return false;
    throw error;
  }
}

/** Where the same `Idempotency-Key` was completed meanwhile planning again does not help. */
function isTaken(error: unknown): boolean {
  return isDuplicateKey(error) && !isCompletedMeanwhile(error);
}

/** EHR ids are random but where clients choose them; all in one lane would be slow, not wrong. */
function laneOf(ehrId: string, groups: number): number {
  const number = Number.parseInt(ehrId.slice(0, 8), 16);
  return Number.isNaN(number) ? 0 : number % groups;
}

/** Commits that are written one group after another. */
class Lane {
  /** What a group does belongs to none of the requests that wait for it. */
  readonly #resource = new AsyncResource('everchart.CommitGroups');
  #waiting: Waiting[] = [];
  #isBusy = false;

  add(commit: CommitWrites): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...commit, resolve, reject });
      if (!this.#isBusy) void this.#resource.runInAsyncScope(() => this.#write());
    });
  }

  async #write(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const size = groupSize(this.#waiting);
      const group = this.#waiting.slice(0, size);
      this.#waiting = this.#waiting.slice(size);
      const unavailable = await writeGroup(group);
      if (unavailable !== undefined) this.#refuseWaiting(unavailable);
    }
    this.#isBusy = false;
  }

  /** Those who waited for a group that waited for the database have waited as long as it: not once more. */
  #refuseWaiting(error: unknown): void {
    const refused = this.#waiting;
    this.#waiting = [];
    for (const { reject } of refused) reject(error);
  }
}

/** How many of those who wait go together: at least the first. */
function groupSize(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const end = waiting.findIndex((commit, index) => {
    bytes += commit.bytes;
    return index > 0 && (index === MAX_COMMITS || bytes > MAX_BYTES);
  });
  return end === -1 ? waiting.length : end;
}

/** Tells each commit of a group what became of it, and gives the error when the database was not available; never throws. */
async function writeGroup(group: readonly Waiting[]): Promise<unknown> {
  const stale: Waiting[] = [];
  const alone: Waiting[] = [];
  let rest = group;
  let unavailable: unknown;
  try {
    for (let attempts = 0; rest.length > 0; attempts += 1) {
      const taken = attempts < MAX_ATTEMPTS ? await attempt(rest) : all(rest);
      stale.push(...taken.stale.flatMap((index) => rest[index] ?? []));
      alone.push(...taken.alone.flatMap((index) => rest[index] ?? []));
      const out = new Set([...taken.stale, ...taken.alone]);
      if (out.size === 0) break;
      rest = rest.filter((_, index) => !out.has(index));
    }
  } catch (error) {
    for (const { reject } of rest) reject(error);
    rest = [];
    const away = error instanceof CdrError && error.code === 'outcome-unknown' ? error.cause : error;
    if (isUnavailable(away)) unavailable = away;
  }
  for (const { resolve } of rest) resolve(true);
  // Only now, since what these will read may be what the others wrote.
  for (const { resolve } of stale) resolve(false);
  for (const { resolve, writes } of alone) resolve(writeAlone(writes));
  return unavailable;
}

const all = (group: readonly Waiting[]): Taken => ({ stale: [], alone: [...group.keys()] });

/** Writes a group in one transaction; gives those because of which nothing was written, none when all is done. */
async function attempt(group: readonly Waiting[]): Promise<Taken> {
  return (await writtenTogether(group, false)) ?? (await writtenTogether(group, true)) ?? all(group);
}

/** The same; null: nothing was written, and because of which only `tellsWhich`, which costs more, would say. */
async function writtenTogether(group: readonly Waiting[], tellsWhich: boolean): Promise<Taken | null> {
  const start = performance.now();
  try {
    await inTransaction(async (session) => {
      if (!commitClock.isAlive()) throw new NotTogether({ stale: [...group.keys()], alone: [] });
      const commits = group.map(({ writes }) => writes);
      const stale = await runTogether(session, commits, tellsWhich).catch((error: unknown) => {
        throw notTogether(group, error);
      });
      if (stale === null) throw new NotTogether(null);
      if (stale.length > 0) throw new NotTogether({ stale, alone: [] });
    });
    publishCommitGroup({ size: group.length, seconds: (performance.now() - start) / 1000 });
    return { stale: [], alone: [] };
  } catch (error) {
    if (error instanceof NotTogether) return error.taken;
    // Each by itself would wait as long for a database that is not there.
    // After a commit of which the outcome is unknown they could be written twice.
    if (isUnavailable(error) || (error instanceof CdrError && UNREPEATED.has(error.code))) throw error;
    return all(group);
  }
}

/** A failure of one commit concerns that one only; nobody waits while it is tried again. */
function notTogether(group: readonly Waiting[], error: unknown): unknown {
  if (isUnavailable(error)) return error;
  const refused = refusedAmong(error);
  if (refused === undefined) return new NotTogether(all(group));
  return new NotTogether(isTaken(error) ? { stale: [refused], alone: [] } : { stale: [], alone: [refused] });
}
