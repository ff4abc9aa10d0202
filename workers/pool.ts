import { fileURLToPath } from 'node:url';
import type { Transferable } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { CdrError } from '../openehr/base/errors.js';
import { exceeded } from '../openehr/base/work.js';
import { QueryGate } from './gate.js';
import type * as jobs from './jobs.js';
import { valueOf, type Answer } from './messages.js';

type Jobs = typeof jobs;

/** The name of a job: an export of `jobs.ts`. */
type JobName = keyof Jobs;

type JobValue<Name extends JobName> =
  Awaited<ReturnType<Jobs[Name]>> extends Answer<infer Value> ? Value : never;

/** What the threads of a pool are for. */
interface PoolOptions {
  /** What runs in them, as a message names it. */
  readonly what: string;
  readonly threads: number;
  /** How long a job may wait for a thread. Milliseconds. */
  readonly waitMs: number;
  /** The refusal of a job that needs more than its heap. */
  readonly outOfMemory: (heapMiB: number) => CdrError;
}

/** Whom a job is for, and when it is ended. */
export interface JobOwner {
  /** Who shares the threads fairly with others. */
  readonly user: string;
  /** MiB of heap of its thread: a job that needs more is refused, and the thread ends. */
  readonly heapMiB: number;
  /** What ends the job and its thread: nobody waits for it any more, or its time is over. */
  readonly signal: AbortSignal;
  readonly transfer?: readonly Transferable[];
}

/** A thread without work ends after this time. */
const IDLE_MS = 30_000;

/** Threads for what may take long: with a heap of their own, shared fairly among users, ended with the request. */
export class Threads {
  readonly #gate: QueryGate;
  /** By the heap of their threads: one, where all requests have the same settings. */
  readonly #pools = new Map<number, Piscina>();

  constructor(private readonly options: PoolOptions) {
    const { threads: all, waitMs, what } = options;
    // One user never holds them all.
    this.#gate = new QueryGate({ all, perUser: Math.max(1, all - 1) }, waitMs, Infinity, what);
  }

  /**
   * Runs a job in a thread, which is started when none is idle.
   * @throws CdrError that the job refuses with, or `outOfMemory` makes; unavailable when too many wait; the reason of the
   * signal
   */
  async run<Name extends JobName>(
    job: Name,
    request: Parameters<Jobs[Name]>[0],
    { user, heapMiB, signal, transfer = [] }: JobOwner,
  ): Promise<JobValue<Name>> {
    const leave = await this.#gate.enter(user, signal);
    try {
      const threads = await import('piscina');
      const pool = this.#pools.get(heapMiB) ?? this.#start(threads.Piscina, heapMiB);
      const answer: unknown = await pool.run({ job, request }, { signal, transferList: [...transfer] });
      return valueOf(answer as Answer<never>);
    } catch (error) {
      if (isOutOfMemory(error)) throw this.options.outOfMemory(heapMiB);
      if (signal.aborted) throw reasonOf(signal);
      throw error;
    } finally {
      leave();
    }
  }

  /** Ends the threads; a job that runs fails. The next job starts new ones. */
  async close(): Promise<void> {
    const closing = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(closing.map((pool) => pool.destroy()));
  }

  #start(Pool: typeof Piscina, heapMiB: number): Piscina {
    const started = new Pool({
      filename: fileURLToPath(new URL('./thread.mjs', import.meta.url)),
      // What the options of this process load is for its own thread.
      execArgv: [],
      minThreads: 0,
      maxThreads: this.options.threads,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    });
    // A thread that ends before it has begun its job leaves the job waiting.
    started.on('error', (error: unknown) => {
      if (isOutOfMemory(error)) return;
      if (this.#pools.get(heapMiB) === started) this.#pools.delete(heapMiB);
      void started.destroy();
    });
    this.#pools.set(heapMiB, started);
    return started;
  }
}

/** A signal for what is ended when nobody waits for it (`end`) or after a time, then with a timeout. */
export function limitedTime(end: AbortSignal | null, timeoutMs: number): AbortSignal {
  const time = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
  return end === null ? time : AbortSignal.any([end, time]);
}

function reasonOf(signal: AbortSignal): Error {
  const reason = signal.reason as Error;
  return reason.name === 'TimeoutError' ? exceeded('timeMs', 0, 0) : reason;
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}
