import { jsonOf, type JsonValue } from '../openehr/base/json.js';
import { LargeComposition, type ValidatedLarge } from '../change/content/large-composition.js';
import { WAITING_PER_PLACE } from './gate.js';
import { derivedFrom } from './messages.js';
import { Threads } from './pool.js';
import { withMatcher, type CompiledTemplate } from '../openehr/template/compile.js';
import type { TemplateDifference } from '../openehr/template/difference/difference.js';
import type { BodyText, Counting, ParsedComposition, TemplatePair, WritingRequest } from './jobs.js';
import { CdrError } from '../openehr/base/errors.js';
import type { Work } from '../openehr/base/work.js';

/** A body of more characters is read, and an object of more is written in another form, in another thread. */
export const LARGE_BODY_CHARACTERS = 256 * 1024;

/** Whether a body is read, or an object written in another form, in another thread. */
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
    const request = { text, template, rules, leafIndex };
    const { prepared, ...found } = await runJob('validateComposition', request, owner);
    if (prepared === null) return { ...found, prepared };
    return { ...found, prepared: { tail: prepared.tail, derived: await derivedFrom(prepared.derived) } };
  });
}

/** Writes a large object in another form. @throws as `compositionText` and `compileTemplate`, and as `runJob` */
export function writeLarge(request: WritingRequest, owner: BodyOwner): Promise<string> {
  return runJob('writeObject', request, owner);
}

/** Compiles a template, most of it in a thread. @throws as `compileTemplate`, and as `runJob` */
export async function compileLarge(opt: string, owner: BodyOwner): Promise<CompiledTemplate> {
  const { webTemplateText, ...data } = await runJob('readOpt', { opt }, owner);
  // Between threads a Buffer becomes the bytes it is made of.
  const { buffer, byteOffset, byteLength } = webTemplateText;
  return withMatcher({ ...data, webTemplateText: Buffer.from(buffer, byteOffset, byteLength) });
}

/** Compares two templates, always in a thread. @throws as `compileTemplate`, and as `runJob` */
export function compareInThread(templates: TemplatePair, owner: BodyOwner): Promise<TemplateDifference> {
  return runJob('compareOpts', templates, owner);
}

/** Threads that read and write large bodies at the same time, one user at most all but one of them; more bodies wait. */
export const MAX_WORKER_THREADS = 2;
/** Large bodies of one user that wait for a thread; further ones are answered 503. */
export const MAX_WAITING_BODIES = MAX_WORKER_THREADS * WAITING_PER_PLACE;
/** How long a body waits for a thread. Milliseconds. */
const WAIT_MS = 30_000;

const threads = new Threads({
  what: 'large bodies',
  threads: MAX_WORKER_THREADS,
  waitMs: WAIT_MS,
  outOfMemory: (limit) =>
    new CdrError(
      'too-large',
      `the body needs more than ${limit} MiB of memory (BODY_MAX_HEAP_MIB): send less at a time`,
      {
        budget: { name: 'bodyHeap', setting: 'BODY_MAX_HEAP_MIB', limit, used: null },
      },
    ),
});

type BodyJob =
  'parseBody' | 'readOpt' | 'compareOpts' | 'readComposition' | 'validateComposition' | 'writeObject';

type JobResult<Name extends BodyJob> =
  Awaited<ReturnType<typeof threads.run<Name>>> extends Counting<infer Value> ? Value : never;

/** Runs a job of a body, within the budget of its request, for the user that a request is of. @throws as `Threads.run`; too-large when it takes too long */
async function runJob<Name extends BodyJob>(
  job: Name,
  request: Omit<Parameters<typeof threads.run<Name>>[1], 'budget'>,
  { user, end, work }: BodyOwner,
): Promise<JobResult<Name>> {
  const { bodyTimeMs: limit, bodyHeapMiB: heapMiB } = work.budget;
  const time = AbortSignal.timeout(limit);
  try {
    const budgeted = { ...request, budget: work.left() } as Parameters<typeof threads.run<Name>>[1];
    const owner = { user, heapMiB, signal: AbortSignal.any([end, time]) };
    const { value, used } = (await threads.run(job, budgeted, owner)) as Counting<JobResult<Name>>;
    work.add(used);
    return value;
  } catch (error) {
    if (!time.aborted || end.aborted) throw error;
    throw new CdrError(
      'too-large',
      `the body takes longer than ${limit} ms to be read (BODY_TIMEOUT_MS): send less at a time`,
      {
        budget: { name: 'bodyTimeMs', setting: 'BODY_TIMEOUT_MS', limit, used: null },
        cause: error,
      },
    );
  }
}

/** Ends the threads; a job that runs fails. The next large body starts new ones. */
export function closePool(): Promise<void> {
  return threads.close();
}
