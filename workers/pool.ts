import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { CdrError } from '../openehr/base/errors.js';
import { valueOf, type Answer } from './answer.js';
import type * as jobs from './jobs.js';

type Jobs = typeof jobs;

/** The name of a job: an export of `jobs.ts`. */
export type JobName = keyof Jobs;

/** Threads that read large bodies at the same time; more bodies wait. */
export const MAX_WORKER_THREADS = 2;
/** Heap of one thread, MiB: several times of what `DEFAULT_MAX_NODES` need. A body that needs more is refused. */
export const WORKER_HEAP_MIB = 512;
/** Large bodies that wait for a thread; further ones are answered 503. */
export const MAX_WAITING_BODIES = 32;
/** A thread without work ends after this time. */
const IDLE_MS = 30_000;
/** No job of a body within the limits takes that long: one that does is ended. */
const JOB_TIMEOUT_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

let pool: Piscina | null = null;
let running = 0;
const waiting: (() => void)[] = [];

/**
 * Runs a job in a worker thread, which is started when none is idle.
 * @throws CdrError that the job refuses with; too-large when the thread runs out of memory, unavailable when too many
 * bodies wait
 */
export async function runJob<Name extends JobName>(
  job: Name,
  request: Parameters<Jobs[Name]>[0],
): Promise<ReturnType<Jobs[Name]> extends Answer<infer Value> ? Value : never> {
  await turn();
  try {
    pool ??= startPool();
    const answer: unknown = await pool.run({ job, request }, { signal: AbortSignal.timeout(JOB_TIMEOUT_MS) });
    return valueOf(answer as Answer<never>);
  } catch (error) {
    throw failureOf(error);
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

/** Ends the threads; a job that runs fails. The next large body starts new ones. */
export async function closePool(): Promise<void> {
  const closing = pool;
  pool = null;
  await closing?.destroy();
}

/**
 * Waits here, not in the queue of the pool: what waits there for a thread that dies is forgotten.
 * @throws unavailable when too many wait
 */
async function turn(): Promise<void> {
  if (running < MAX_WORKER_THREADS) {
    running += 1;
    return;
  }
  if (waiting.length >= MAX_WAITING_BODIES)
    throw new CdrError('unavailable', 'too many large bodies are being read, try again later', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  await new Promise<void>((resolve) => waiting.push(resolve));
}

function startPool(): Piscina {
  const started = new Piscina({
    filename: fileURLToPath(new URL('./thread.mjs', import.meta.url)),
    // What the options of this process load is for its own thread.
    execArgv: [],
    minThreads: 0,
    maxThreads: MAX_WORKER_THREADS,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MIB },
  });
  // A thread that ends before it has begun its job leaves the job waiting.
  started.on('error', (error: unknown) => {
    if (isOutOfMemory(error)) return;
    if (pool === started) pool = null;
    void started.destroy();
  });
  return started;
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function failureOf(error: unknown): unknown {
  if (isOutOfMemory(error))
    return new CdrError('too-large', 'the body needs more memory than one body may have', { cause: error });
  if ((error as Error).name === 'AbortError')
    return new CdrError('too-large', 'the body takes longer to read than one body may', { cause: error });
  return error;
}
