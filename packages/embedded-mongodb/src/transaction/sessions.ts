/** What the front remembers of client sessions: their last number, transaction and retryable write. */
import type { Transaction } from './transaction.js';

/** One client session (`lsid`). */
export interface Session {
  /** Highest transaction number seen; -1 before the first. */
  last: bigint;
  /** The transaction of the number `last`, if it was one. */
  transaction: Transaction | null;
  /** The reply to the retryable write of the number `last`, if it was one. */
  reply: Promise<Buffer> | null;
}

/** The newest sessions by their id. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  readonly #limit: number;

  /** `limit`: sessions that are kept; those with an open transaction are never dropped. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The session, made when it is new. */
  get(id: string): Session {
    const session = this.#byId.get(id) ?? { last: -1n, transaction: null, reply: null };
    this.#byId.delete(id);
    this.#byId.set(id, session);
    if (this.#byId.size > this.#limit) this.#dropOldest();
    return session;
  }

  /** The session, if it is known. */
  find(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /** Forgets a session. */
  forget(id: string): void {
    this.#byId.delete(id);
  }

  /** Ids of all known sessions. */
  ids(): string[] {
    return [...this.#byId.keys()];
  }

  #dropOldest(): void {
    for (const [id, session] of this.#byId) {
      if (session.transaction?.isOpen !== true) {
        this.#byId.delete(id);
        return;
      }
    }
  }
}
