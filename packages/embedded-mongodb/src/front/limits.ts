/** What the front allows; times in ms, sizes in bytes. */
export interface FrontLimits {
  /** Wait of a transaction's first command for the transactions before it. */
  readonly slotWaitMs: number;
  /** Wait of a command outside transactions; a shorter `maxTimeMS` of its own wins. */
  readonly commandWaitMs: number;
  /** Wait after which a warning is logged. */
  readonly warnAfterMs: number;
  /** Longest life of a transaction. */
  readonly lifetimeMs: number;
  /** Largest sum of what an abort would have to put back. */
  readonly undoBytes: number;
  /** Sessions that are memoized. */
  readonly sessions: number;
}

/** The limits of everyday use. */
export const DEFAULT_LIMITS: FrontLimits = {
  slotWaitMs: 5_000,
  commandWaitMs: 20_000,
  warnAfterMs: 2_000,
  lifetimeMs: 60_000,
  undoBytes: 256 * 1024 * 1024,
  sessions: 10_000,
};
