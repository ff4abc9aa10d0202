import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import { jsonOf, type JsonValue } from '../openehr/base/json.js';
import { LargeComposition, type ValidatedLarge } from '../change/composition/large-composition.js';
import { derivedFrom, valueOf, type Answer } from './messages.js';
import type * as jobs from './jobs.js';
import type { BodyText, ParsedComposition } from './jobs.js';
import { CdrError } from '../openehr/base/errors.js';

/** A body of more characters is read in another thread. */
export const LARGE_BODY_CHARACTERS = 256 * 1024;

/** Whether a body is read in another thread. */
export function isLarge(text: string): boolean {
  return text.length > LARGE_BODY_CHARACTERS;
}

/** Parses a large body. @throws as `parseJson` and `fromXml`, and as `runJob` */
export async function parseLarge(body: BodyText): Promise<JsonValue> {
  return jsonOf(await parseLargeText(body));
}

/** As `parseLarge`, but gives JSON text, for `readLargeComposition`. */
export function parseLargeText(body: BodyText): Promise<string> {
  return runJob('parseBody', body);
}

/** Reads a large COMPOSITION that was parsed. @throws as `readObject` and `readFlat`, and as `runJob` */
export async function readLargeComposition(parsed: ParsedComposition): Promise<LargeComposition> {
  const { text, ...read } = await runJob('readComposition', parsed);
  return new LargeComposition(read, async (template, rules, leafIndex): Promise<ValidatedLarge> => {
    const { prepared, ...found } = await runJob('validateComposition', { text, template, rules, leafIndex });
    if (prepared === null) return { ...found, prepared };
    return { ...found, prepared: { tail: prepared.tail, derived: await derivedFrom(prepared.derived) } };
  });
}

type Jobs = typeof jobs;

/** The name of a job: an export of `jobs.ts`. */
type JobName = keyof Jobs;

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
async function runJob<Name extends JobName>(
  job: Name,
  request: Parameters<Jobs[Name]>[0],
): Promise<ReturnType<Jobs[Name]> extends Answer<infer Value> ? Value : never> {
  await turn();
  try {
    const threads = await import('piscina');
    pool ??= startPool(threads.Piscina);
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

function startPool(Threads: typeof Piscina): Piscina {
  const started = new Threads({
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
