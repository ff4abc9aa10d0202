import { jsonOf, type JsonValue } from '../openehr/base/json.js';
import { LargeComposition, type ValidatedLarge } from '../change/composition/large-composition.js';
import { WAITING_PER_PLACE } from '../query/gate.js';
import { derivedFrom } from './messages.js';
import { Threads } from './pool.js';
import type { BodyText, ParsedComposition } from './jobs.js';
import { CdrError } from '../openehr/base/errors.js';
import type { Work } from '../openehr/base/work.js';

/** A body of more characters is read in another thread. */
export const LARGE_BODY_CHARACTERS = 256 * 1024;

/** Whether a body is read in another thread. */
export function isLarge(text: string): boolean {
  return text.length > LARGE_BODY_CHARACTERS;
}

/** Whose a large body is, what its request may use, and what is aborted when nobody waits for it any more. */
export interface BodyOwner {
  readonly user: string;
  readonly end: AbortSignal;
  readonly work: Work;
}

/** Parses a large body. @throws as `parseJson` and `fromXml`, and as `runJob` */
export async function parseLarge(body: BodyText, owner: BodyOwner): Promise<JsonValue> {
  return jsonOf(await parseLargeText(body, owner));
}

/** As `parseLarge`, but gives JSON text, for `readLargeComposition`. */
export function parseLargeText(body: BodyText, owner: BodyOwner): Promise<string> {
  return runJob('parseBody', body, owner);
}

/** Reads a large COMPOSITION that was parsed. @throws as `readObject` and `readFlat`, and as `runJob` */
export async function readLargeComposition(
  parsed: ParsedComposition,
  owner: BodyOwner,
): Promise<LargeComposition> {
  const { text, ...read } = await runJob('readComposition', parsed, owner);
  return new LargeComposition(read, async (template, rules, leafIndex): Promise<ValidatedLarge> => {
    const request = { text, template, rules, leafIndex, budget: owner.work.left() };
    const { prepared, used, ...found } = await runJob('validateComposition', request, owner);
    owner.work.add(used);
    if (prepared === null) return { ...found, prepared };
    return { ...found, prepared: { tail: prepared.tail, derived: await derivedFrom(prepared.derived) } };
  });
}

/** Threads that read large bodies at the same time, one user at most all but one of them; more bodies wait. */
export const MAX_WORKER_THREADS = 2;
/** Heap of one thread, MiB: several times of what `DEFAULT_MAX_NODES` need. A body that needs more is refused. */
export const WORKER_HEAP_MIB = 512;
/** Large bodies of one user that wait for a thread; further ones are answered 503. */
export const MAX_WAITING_BODIES = MAX_WORKER_THREADS * WAITING_PER_PLACE;
/** No job of a body within the limits takes that long: one that does is ended. */
const JOB_TIMEOUT_MS = 30_000;

const threads = new Threads({
  what: 'large bodies',
  threads: MAX_WORKER_THREADS,
  heapMiB: WORKER_HEAP_MIB,
  waitMs: JOB_TIMEOUT_MS,
  outOfMemory: () =>
    new CdrError('too-large', 'the body needs more memory than one body may have', {
      budget: { name: 'bodyHeap', setting: null, limit: WORKER_HEAP_MIB, used: null },
    }),
});

/** Runs a job of a body for the user that a request is of. @throws as `Threads.run`; too-large when it takes too long */
async function runJob<Name extends 'parseBody' | 'readComposition' | 'validateComposition'>(
  job: Name,
  request: Parameters<typeof threads.run<Name>>[1],
  { user, end }: BodyOwner,
): Promise<Awaited<ReturnType<typeof threads.run<Name>>>> {
  const time = AbortSignal.timeout(JOB_TIMEOUT_MS);
  try {
    return await threads.run(job, request, { user, signal: AbortSignal.any([end, time]) });
  } catch (error) {
    if (!time.aborted || end.aborted) throw error;
    throw new CdrError('too-large', 'the body takes longer to read than one body may', {
      budget: { name: 'bodyTimeMs', setting: null, limit: JOB_TIMEOUT_MS, used: null },
      cause: error,
    });
  }
}

/** Ends the threads; a job that runs fails. The next large body starts new ones. */
export function closePool(): Promise<void> {
  return threads.close();
}
