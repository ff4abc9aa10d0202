/** How long a commit may keep readers waiting for the journal, ms. */
const QUICK_MS = 3;

/** What waiting for the journal took last: a quick disk allows what would hold up others on a slow one. */
export class JournalPace {
  #lastMs = Infinity;

  /** Whether the wait before this one was short. */
  get isQuick(): boolean {
    return this.#lastMs <= QUICK_MS;
  }

  /** Runs a command; `waits`: for the journal, so that its time counts. */
  async timed(waits: boolean, work: () => Promise<void>): Promise<void> {
    const start = performance.now();
    await work();
    if (waits) this.#lastMs = performance.now() - start;
  }
}
