import { CdrError } from '../openehr/base/errors.js';
import type { Work } from '../openehr/base/work.js';
import { limitedTime, Threads } from './pool.js';
import type { Translation, TranslationRequest } from './translate.js';

/** Threads that translate large queries at the same time, of one user at most all but one of them. */
const TRANSLATOR_THREADS = 2;
/** Heap of one thread, MiB: many times what `AQL_MAX_COMPILE_STEPS` make. */
const TRANSLATOR_HEAP_MIB = 256;

const threads = new Threads({
  what: 'large queries',
  threads: TRANSLATOR_THREADS,
  heapMiB: TRANSLATOR_HEAP_MIB,
  waitMs: 30_000,
  outOfMemory: () =>
    new CdrError('unprocessable', 'the query needs more memory to be translated than one query may have', {
      budget: { name: 'translatorHeap', setting: null, limit: TRANSLATOR_HEAP_MIB, used: null },
    }),
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
  const owner = { user, signal: limitedTime(signal, budget.timeMs) };
  const made = await threads.run('translateQuery', { ...request, budget }, owner);
  work.add(made.used);
  return made;
}

/** Ends the threads; what runs fails. The next large query starts new ones. */
export function closeTranslators(): Promise<void> {
  return threads.close();
}
