/** Clients that are counted at a time; beyond, the one whose span began first is forgotten. */
export const MOST_COUNTED_CLIENTS = 50_000;

interface Count {
  taken: number;
  readonly endsAt: number;
}

/** What each client may do in a span of time. */
interface RateOptions {
  readonly most: number;
  readonly spanMs: number;
  /** Bounds the memory. */
  readonly clients?: number;
}

/** Counts, for one process, how often clients do something in spans that begin with the first time. Times are in milliseconds. */
export class Rates {
  /** All spans are as long as each other, so the first to end stands first. */
  readonly #counts = new Map<string, Count>();

  constructor(private readonly options: RateOptions) {}

  /** Counts one more. Gives the time after which the next is allowed; 0: this one is. */
  take(client: string, now: number): number {
    this.#forgetEnded(now);
    const count = this.#counts.get(client) ?? { taken: 0, endsAt: now + this.options.spanMs };
    if (count.taken === 0) this.#counts.set(client, count);
    count.taken += 1;
    return count.taken <= this.options.most ? 0 : count.endsAt - now;
  }

  /** The time after which one more is allowed; 0: now. Counts nothing. */
  waitOf(client: string, now: number): number {
    const count = this.#counts.get(client);
    return count === undefined || count.taken < this.options.most ? 0 : Math.max(0, count.endsAt - now);
  }

  /** Takes back one that was counted. */
  takeBack(client: string): void {
    const count = this.#counts.get(client);
    if (count === undefined) return;
    count.taken -= 1;
    if (count.taken === 0) this.#counts.delete(client);
  }

  #forgetEnded(now: number): void {
    const { clients = MOST_COUNTED_CLIENTS } = this.options;
    for (const [client, { endsAt }] of this.#counts) {
      if (endsAt > now && this.#counts.size < clients) return;
      this.#counts.delete(client);
    }
  }
}
