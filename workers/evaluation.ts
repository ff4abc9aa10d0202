import { setImmediate } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { CdrError } from '../openehr/base/errors.js';
import type { Counted, Work } from '../openehr/base/work.js';
import type { EvaluationRequest, RowsMessage } from './evaluate.js';
import { limitedTime, Threads } from './pool.js';

/** Threads that evaluate queries at the same time, of one user at most all but one of them. */
const EVALUATOR_THREADS = 2;

const threads = new Threads({
  what: 'queries of whole objects',
  threads: EVALUATOR_THREADS,
  waitMs: 60_000,
  outOfMemory: (limit) =>
    new CdrError(
      'unprocessable',
      `the query needs more than ${limit} MiB of memory (AQL_EVALUATOR_MAX_HEAP_MIB): name one EHR, or select values instead of whole objects`,
      { budget: { name: 'evaluatorHeap', setting: 'AQL_EVALUATOR_MAX_HEAP_MIB', limit, used: null } },
    ),
});

/** What of a query an evaluation needs; its data follow. */
type Question = Omit<EvaluationRequest, 'port' | 'budget'>;

/**
 * Evaluates a query over stored data in a thread, within the budget of its request and no longer than somebody waits for it.
 * `contents`: for `readContents`; they are moved to the thread. Gives the rows as JSON texts.
 * @throws CdrError of a budget that is used up; unprocessable when the thread has not enough memory; the reason of `end`
 */
export async function evaluateInThread(
  question: Question,
  contents: readonly Uint8Array<ArrayBuffer>[],
  { work, user, end }: { readonly work: Work; readonly user: string; readonly end: AbortSignal | null },
): Promise<readonly (readonly string[])[]> {
  const budget = work.left();
  const { port1: ours, port2: theirs } = new MessageChannel();
  try {
    const rows = rowsFrom(ours);
    const signal = limitedTime(end, budget.timeMs);
    const request: EvaluationRequest = { ...question, budget, port: theirs };
    const owner = { user, signal, heapMiB: budget.evaluatorHeapMiB, transfer: [theirs] };
    const running = threads.run('evaluate', request, owner);
    const [used] = await Promise.all([running, sendContents(ours, contents, signal)]);
    work.add(used satisfies Readonly<Record<Counted, number>>);
    return await rows;
  } finally {
    ours.close();
  }
}

/** Chunk by chunk: other requests get their turn in between. */
async function sendContents(
  port: MessagePort,
  contents: readonly Uint8Array<ArrayBuffer>[],
  signal: AbortSignal,
): Promise<void> {
  for (const chunk of contents) {
    if (signal.aborted) break;
    port.postMessage(chunk, [chunk.buffer]);
    await setImmediate();
  }
  port.postMessage(null);
}

/** What the thread sends, once it is all there. */
function rowsFrom(port: MessagePort): Promise<readonly (readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  return new Promise((resolve) => {
    port.on('message', (message: RowsMessage) => {
      if (message === null) resolve(rows);
      else rows.push(message);
    });
  });
}

/** Ends the threads; what runs fails. The next query starts new ones. */
export function closeEvaluators(): Promise<void> {
  return threads.close();
}
