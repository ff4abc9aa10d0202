import { CdrError } from '../openehr/base/errors.js';
import type { Work } from '../openehr/base/work.js';
import { limitedTime, Threads } from './pool.js';
import type { Translation, TranslationRequest } from './translate.js';

/** Threads that translate large queries at the same time, of one user at most all but one of them. */
const TRANSLATOR_THREADS = 2;

const threads = new Threads({
  what: 'large queries',
  threads: TRANSLATOR_THREADS,
  waitMs: 30_000,
  outOfMemory: (limit) =>
    new CdrError(
      'unprocessable',
      `the query needs more than ${limit} MiB of memory to be translated (AQL_TRANSLATOR_MAX_HEAP_MIB): ask for less at a time`,
      { budget: { name: 'translatorHeap', setting: 'AQL_TRANSLATOR_MAX_HEAP_MIB', limit, used: null } },
    ),
});

/**
 * Translates a query in a thread, within the budget of its request and no longer than somebody waits for it.
 * @throws CdrError of a budget that is used up; as `translate`; the reason of the signal
 */
export async function translateInThread(
  request: Omit<TranslationRequest, 'budget'>,
  { work, user, signal }: { readonly work: Work; readonly user: string; readonly signal: AbortSignal },
): Promise<Translation> {
  const budget = work.left();
  const owner = { user, heapMiB: budget.translatorHeapMiB, signal: limitedTime(signal, budget.timeMs) };
  const made = await threads.run('translateQuery', { ...request, budget }, owner);
  work.add(made.used);
  return made;
}

/** Ends the threads; what runs fails. The next large query starts new ones. */
export function closeTranslators(): Promise<void> {
  return threads.close();
}
