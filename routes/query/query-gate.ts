import { CdrError } from '../../base/errors.js';

/** Queries that may wait for each one that may run. */
const WAITING_PER_RUNNING = 16;

/** Lets a few queries run at a time and a few more wait, so that the rest of the server keeps answering. */
export class QueryGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly maxRunning: number) {}

  /** Waits for a place and gives what frees it again. @throws unavailable when too many wait already */
  async enter(): Promise<() => void> {
    if (this.running >= this.maxRunning) {
      if (this.waiting.length >= this.maxRunning * WAITING_PER_RUNNING)
        throw new CdrError('unavailable', 'too many queries are waiting', { retryAfterSeconds: 1 });
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.running++;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    };
  }
}
