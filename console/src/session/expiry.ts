import { CdrError } from '@everchart/client';

/** Why nobody goes on before he has said again who he is: the server no longer knows him, or he was away. */
export type WhyOver = 'refused' | 'away';

/** Whether a session is over, and why; whoever listens is told of each change. */
class Expiry {
  #why: WhyOver | null = null;
  readonly #listeners = new Set<() => void>();

  get why(): WhyOver | null {
    return this.#why;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** What a request failed with. */
  readonly see = (error: Error): void => {
    // Whoever is away stays so, whatever the server says meanwhile.
    if (error instanceof CdrError && error.status === 401) this.#set(this.#why ?? 'refused');
  };

  /** Nobody has touched the page for long. */
  readonly lock = (): void => this.#set('away');

  /** Somebody has signed in, or nobody is any more. */
  readonly end = (): void => this.#set(null);

  #set(why: WhyOver | null): void {
    if (this.#why === why) return;
    this.#why = why;
    for (const listener of this.#listeners) listener();
  }
}

/** The one of this page. */
export const expiry = new Expiry();
