import { CdrError } from '@everchart/client';

/** Whether the server has told that it no longer knows who asks; whoever listens is told of each change. */
class Expiry {
  #isOver = false;
  readonly #listeners = new Set<() => void>();

  get isOver(): boolean {
    return this.#isOver;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** What a request failed with. */
  readonly see = (error: Error): void => {
    if (error instanceof CdrError && error.status === 401) this.#set(true);
  };

  /** Somebody has signed in, or nobody is any more. */
  readonly end = (): void => this.#set(false);

  #set(isOver: boolean): void {
    if (this.#isOver === isOver) return;
    this.#isOver = isOver;
    for (const listener of this.#listeners) listener();
  }
}

/** The one of this page. */
export const expiry = new Expiry();
