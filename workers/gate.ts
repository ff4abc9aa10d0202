import { CdrError } from '../openehr/base/errors.js';

/** How long a query waits for a place before it is answered 503. Milliseconds. */
export const QUERY_WAIT_MS = 10_000;
/** Queries of one user that may wait for each one that may run. */
export const WAITING_PER_PLACE = 16;
/** Of them, those that may wait however long it takes; more wait when a place is likely in time. */
export const PATIENT_PER_PLACE = 4;
/** Share of the latest query in the mean time of queries. */
const LATEST_SHARE = 0.1;
/** All that may wait, in queues as long as one user may fill. */
const FULL_QUEUES = 4;

/** How many queries run at once. */
export interface QueryPlaces {
  /** Of all users together. */
  readonly all: number;
  /** Of one user. */
  readonly perUser: number;
}

/** How many wait for a place now, in all gates of this process, by what they are. */
const waitingNow = new Map<string, number>();

/** How many queries of this process wait for a place now. */
export function waitingQueries(): number {
  return waitingNow.get(QUERIES) ?? 0;
}

const QUERIES = 'queries';

/**
 * Lets a few queries, or other work that `what` names, run at a time, shared fairly among users, so that the rest of the
 * server keeps answering.
 */
export class QueryGate {
  readonly #places: QueryPlaces;
  readonly #waitMs: number;
  readonly #soonMs: number;
  /** Those who run or wait; who was given a place stands last. */
  readonly #users = new Map<string, Share>();
  #running = 0;
  #waiting = 0;
  /** Mean time that a query had its place, the latest counting most. */
  #meanMs = 0;

  /** `waitMs`: what a query waits at most; `soonMs`: what it may be expected to wait where many wait already. */
  constructor(
    places: QueryPlaces,
    waitMs: number = QUERY_WAIT_MS,
    soonMs = Infinity,
    private readonly what = QUERIES,
  ) {
    this.#places = places;
    this.#soonMs = soonMs;
    this.#waitMs = waitMs;
  }

  /**
   * Waits for a place and gives what frees it again, once. Places go to the waiting users in turn, each with the query
   * that has waited longest. `end`: aborted when nobody wants the answer any more.
   * @throws unavailable when too many wait already or none was free in time; the reason of `end`
   */
  async enter(user: string, end: AbortSignal): Promise<() => void> {
    end.throwIfAborted();
    const share = this.#users.get(user) ?? { running: 0, waiting: new Set() };
    if (this.#isFreeFor(share)) this.#take(user, share);
    else await this.#wait(user, share, end);
    const start = performance.now();
    let isFree = false;
    const leave = (): void => {
      if (isFree) return;
      isFree = true;
      this.#meanMs += (performance.now() - start - this.#meanMs) * LATEST_SHARE;
      this.#free(user, share);
    };
    if (!end.aborted) return leave;
    leave();
    throw end.reason;
  }

  /** Nobody else waits who could have it: a place that is free has been given before. */
  #isFreeFor(share: Share): boolean {
    return this.#running < this.#places.all && share.running < this.#places.perUser;
  }

  async #wait(user: string, share: Share, end: AbortSignal): Promise<void> {
    const queue = this.#places.all * WAITING_PER_PLACE;
    const isFull = share.waiting.size >= queue || this.#waiting >= queue * FULL_QUEUES;
    if (isFull || !this.#isPatientOrSoon(share)) {
      throw new CdrError('unavailable', `too many ${this.what} are waiting`, { retryAfterSeconds: 1 });
    }
    this.#users.set(user, share);
    this.#waiting += 1;
    this.#note(1);
    let stop = (): void => undefined;
    try {
      await new Promise<void>((admit, refuse) => {
        // Out of the queue at once: a place given to one who is refused would be lost.
        const giveUp = (reason: Error): void => {
          if (share.waiting.delete(admit)) this.#waiting -= 1;
          this.#forgetIdle(user, share);
          refuse(reason);
        };
        stop = onceEndOrLate(end, { waitMs: this.#waitMs, what: this.what }, giveUp);
        share.waiting.add(admit);
      });
    } finally {
      this.#note(-1);
      stop();
    }
  }

  #note(change: 1 | -1): void {
    waitingNow.set(this.what, (waitingNow.get(this.what) ?? 0) + change);
  }

  #isPatientOrSoon({ waiting }: Share): boolean {
    const { all, perUser } = this.#places;
    return waiting.size < all * PATIENT_PER_PLACE || (waiting.size * this.#meanMs) / perUser <= this.#soonMs;
  }

  #take(user: string, share: Share): void {
    this.#running += 1;
    share.running += 1;
    this.#users.delete(user);
    this.#users.set(user, share);
  }

  #free(user: string, share: Share): void {
    this.#running -= 1;
    share.running -= 1;
    this.#forgetIdle(user, share);
    for (const [name, next] of this.#users) {
      const [admit] = next.waiting;
      if (admit === undefined || !this.#isFreeFor(next)) continue;
      next.waiting.delete(admit);
      this.#waiting -= 1;
      this.#take(name, next);
      admit();
      return;
    }
  }

  #forgetIdle(user: string, share: Share): void {
    if (share.running === 0 && share.waiting.size === 0) this.#users.delete(user);
  }
}

/** Calls back with the reason when the signal is aborted or the time is up; gives what stops that. */
function onceEndOrLate(
  end: AbortSignal,
  { waitMs, what }: { readonly waitMs: number; readonly what: string },
  giveUp: (reason: Error) => void,
): () => void {
  const timer = setTimeout(() => {
    giveUp(new CdrError('unavailable', `other ${what} keep the server busy`, { retryAfterSeconds: 5 }));
  }, waitMs);
  const leave = (): void => {
    giveUp(end.reason as Error);
  };
  end.addEventListener('abort', leave);
  return () => {
    clearTimeout(timer);
    end.removeEventListener('abort', leave);
  };
}

/** What one user has of the places. */
interface Share {
  running: number;
  /** Each lets its query go on; the one that has waited longest stands first. */
  readonly waiting: Set<() => void>;
}
