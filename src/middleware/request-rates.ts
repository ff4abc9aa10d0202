/** Requests of each client, user or address, in spans of a minute. */

const SPAN_MS = 60_000;
/** Clients that are counted at a time; beyond, the one whose span began first is forgotten. */
export const MOST_COUNTED_CLIENTS = 50_000;

interface Count {
  requests: number;
  readonly endsAt: number;
}

/** Counts for one process. */
export class RequestRates {
  readonly #perMinute: number;
  readonly #mostClients: number;
  /** All spans are as long as each other, so the first to end stands first. */
  readonly #counts = new Map<string, Count>();

  /** `perMinute`: requests that one client may make; `mostClients`: bounds the memory. */
  constructor(perMinute: number, mostClients = MOST_COUNTED_CLIENTS) {
    this.#perMinute = perMinute;
    this.#mostClients = mostClients;
  }

  /** Counts a request at a time in milliseconds. Gives those after which one more is allowed; 0: this one is. */
  waitAfter(client: string, now: number): number {
    this.#forgetEnded(now);
    const count = this.#counts.get(client) ?? { requests: 0, endsAt: now + SPAN_MS };
    if (count.requests === 0) this.#counts.set(client, count);
    count.requests += 1;
    return count.requests <= this.#perMinute ? 0 : count.endsAt - now;
  }

  #forgetEnded(now: number): void {
    for (const [client, { endsAt }] of this.#counts) {
      if (endsAt > now && this.#counts.size < this.#mostClients) return;
      this.#counts.delete(client);
    }
  }
}
