/** What travels beside a call, so that no function on the way needs a parameter for it. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A value of the work under way, and those around it. */
interface Held {
  readonly of: object;
  readonly value: unknown;
  readonly outer: Held | undefined;
}

/**
 * The one asynchronous context of the process: Node.js hands each of them on with every promise that is made, whoever makes it,
 * so all values share this one (docs/performance.md#a-commit-made-cheaper).
 */
const context = new AsyncLocalStorage<Held>();

/** A kind of value that the work under way may have; the methods are called as those of `AsyncLocalStorage`, for mongoose. */
export class Ambient<T> {
  /** Does work that has this value, and all it causes. */
  run<R>(value: T, work: () => R): R {
    return context.run({ of: this, value, outer: context.getStore() }, work);
  }

  /** The value of the work under way; undefined: it has none. */
  getStore(): T | undefined {
    let held = context.getStore();
    while (held !== undefined && held.of !== this) held = held.outer;
    return held?.value as T | undefined;
  }
}
