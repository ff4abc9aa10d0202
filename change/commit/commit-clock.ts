/** Which moments are certain: no commit will get a time up to them any more. docs/spec/aql.md#as-of */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../../openehr/base/errors.js';
import {
  AHEAD_MS,
  certainMoment,
  GONE_MS,
  promiseFloor,
  withdrawFloor,
  type CertainMoment,
} from '../../models/access/certain-moment.js';
import { EndedProcesses, placeOfProcesses } from '../../database/ended-processes.js';

/** How long one waits at most for the commits under way, ms. */
const MOST_WAIT_MS = 10_000;
/** How often one looks whether another server waits, ms. */
const LOOK_MS = 250;
/** How old the certain moment of an answer is at most when nobody commits, ms. */
const FRESH_MS = 1_000;
/** How often a promise is renewed that nobody asks for, ms. */
const RENEW_MS = 5_000;
/** No transaction begins that much later than the last promise, ms: `GONE_MS`. */
const ALIVE_MS = GONE_MS / 6;
/** How long a commit of which the outcome is unknown may still come to be, ms: MongoDB ends transactions by then. */
const UNKNOWN_MS = 60_000;

/**
 * Commits under way here, and how far the other servers of the same database are. A process that has not joined them knows of
 * its own commits alone.
 */
export class CommitClock {
  readonly #id = randomUUID();
  readonly #place = placeOfProcesses();
  readonly #underWay = new Map<Promise<unknown>, number>();
  readonly #ended = new EndedProcesses(this.#place);
  /** No commit gets a time up to this, however the clock is set. */
  #floor = 0;
  /** What the servers have agreed on; null: not joined. */
  #certain: number | null = null;
  #wanted = 0;
  #isAlone = true;
  /** When the last promise that arrived was sent: by a clock that is never set, and by one that goes on while a machine sleeps. */
  #promisedAt = { steady: -Infinity, wall: -Infinity };
  #promising: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #looking: NodeJS.Timeout | null = null;

  /** Commits from now on by what all servers of the database have agreed on. @throws the driver's errors */
  async join(): Promise<void> {
    await this.#promise();
    this.#looking ??= setInterval(() => {
      // Without a database nobody is answered either; the next one may succeed.
      this.#look().catch(() => undefined);
    }, LOOK_MS).unref();
  }

  /** Commits no more; whoever waits for this server need not. */
  async leave(): Promise<void> {
    if (this.#looking === null) return;
    clearInterval(this.#looking);
    this.#looking = null;
    this.#certain = null;
    // It is found to be gone later.
    await withdrawFloor(this.#id).catch(() => undefined);
  }

  /** Before a commit is given its time. @throws the driver's errors */
  async ready(): Promise<void> {
    if (!this.isAlive()) await this.#promise();
  }

  /** Whether the others still count on what this server promised: else it may begin no transaction. */
  isAlive(): boolean {
    if (this.#certain === null) return true;
    const { steady, wall } = this.#promisedAt;
    return Math.max(performance.now() - steady, Date.now() - wall) < ALIVE_MS;
  }

  /** The time for a commit that is planned now. */
  now(): Date {
    return new Date(Math.max(Date.now(), this.#floor + 1));
  }

  /** Runs the writes of a commit that was given this time by `now`, without anything awaited in between. */
  async write<T>(time: Date, write: () => Promise<T>): Promise<T> {
    const writing = write();
    this.#underWay.set(writing, time.getTime());
    let keepMs = 0;
    try {
      return await writing;
    } catch (error) {
      if (error instanceof CdrError && error.code === 'outcome-unknown') keepMs = UNKNOWN_MS;
      throw error;
    } finally {
      if (keepMs === 0) this.#underWay.delete(writing);
      else void setTimeout(keepMs, undefined, { ref: false }).then(() => this.#underWay.delete(writing));
    }
  }

  /** The latest moment of which it is known that everything up to it can be read; of a server that is asked often at most a second old. */
  async certain(): Promise<Date> {
    if (this.#certain === null) return new Date(this.#own());
    const isOld =
      Math.min(Date.now() - this.#certain, performance.now() - this.#promisedAt.steady) > FRESH_MS;
    this.#wanted = Math.max(this.#wanted, this.#own());
    // While the database is away an older moment is as true, and the request waits for the database once.
    if (isOld) await Promise.race([this.#promise().catch(() => undefined), setTimeout(LOOK_MS)]);
    return new Date(this.#certain);
  }

  /**
   * Waits until a moment is certain; from then on a query as of it has one answer.
   * @throws invalid for a moment too far ahead; unavailable when commits take too long
   */
  async reached(moment: Date): Promise<void> {
    const time = moment.getTime();
    if (time - Date.now() > AHEAD_MS)
      throw new CdrError('invalid', `as_of must be no more than ${AHEAD_MS / 1000} s in the future`);
    const deadline = performance.now() + MOST_WAIT_MS;
    while (!(await this.#isCertain(time))) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0)
        throw new CdrError('unavailable', 'commits before that time are still under way', {
          retryAfterSeconds: 1,
        });
      await Promise.race([this.#progress(time), setTimeout(leftMs)]);
    }
  }

  async #isCertain(time: number): Promise<boolean> {
    if (this.#certain !== null && this.#certain >= time) return true;
    if (this.#own() < time) return false;
    if (this.#certain === null) {
      this.#floor = Math.max(this.#floor, time);
      return true;
    }
    this.#wanted = Math.max(this.#wanted, time);
    await this.#promise();
    return this.#certain >= time;
  }

  /** Until the commits here that are in the way have ended, the time has come, or other servers may have gone on. */
  async #progress(time: number): Promise<void> {
    const early = [...this.#underWay].filter(([, begun]) => begun <= time).map(([writing]) => writing);
    const toComeMs = time + 2 - Date.now();
    if (early.length > 0) await Promise.allSettled(early);
    await setTimeout(Math.max(LOOK_MS / 5, toComeMs));
  }

  /** What this server could promise now. */
  #own(): number {
    return Math.max(this.#floor, Math.min(this.now().getTime(), ...this.#underWay.values()) - 1);
  }

  async #look(): Promise<void> {
    const isOld = performance.now() - this.#promisedAt.steady > RENEW_MS;
    const others = this.#isAlone || isOld ? null : await certainMoment();
    if (isOld || (others !== null && others.wanted.getTime() > this.#floor)) await this.#promise();
  }

  /** One promise at a time; who asks meanwhile shares the next. */
  #promise(): Promise<void> {
    if (this.#promising === null) {
      this.#promising = this.#send().finally(() => {
        this.#promising = null;
      });
      return this.#promising;
    }
    this.#next ??= this.#promising
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#promise();
      });
    return this.#next;
  }

  async #send(): Promise<void> {
    this.#floor = this.#own();
    const sent = { steady: performance.now(), wall: Date.now() };
    const mine = { id: this.#id, place: this.#place, pid: process.pid, floor: new Date(this.#floor) };
    this.#told(await promiseFloor(mine, new Date(this.#wanted), this.#ended.ids()));
    this.#promisedAt = sent;
  }

  #told({ certain, servers }: CertainMoment): void {
    this.#certain = certain.getTime();
    const seenAt = servers.find(({ id }) => id === this.#id)?.seen_at.getTime() ?? Infinity;
    // Where this server has just come, others may be further; where a clock was ahead, nobody counts on it.
    this.#floor = Math.max(Math.min(this.#floor, seenAt + AHEAD_MS), this.#certain);
    this.#isAlone = servers.length === 1;
    this.#ended.look(servers);
  }
}

/** That of this process. */
export const commitClock = new CommitClock();
