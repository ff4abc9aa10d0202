import type { TerminologyAnswer, TerminologyQuestion } from '../aql/semantics/terminology.js';
import { CdrError } from '../openehr/base/errors.js';
import { exceeded } from '../openehr/base/work.js';
import type { TerminologySettings } from '../config/settings.js';
import { terminologyServer, type TerminologyOperation } from '../change/terminology/terminology-server.js';
import type { AskTerminology } from './compile.js';
import { publishQuery } from '../database/events.js';

const OPERATIONS: readonly TerminologyOperation[] = ['expand', 'validate', 'subsumes', 'lookup', 'map'];

interface Request {
  readonly operation: TerminologyOperation;
  readonly parameters: string;
}

/**
 * Asks the configured FHIR server what a query needs; what it throws without one: `invalid`
 * (docs/spec/aql.md#terminology). All at once, within the time of the query, no longer than somebody waits for it.
 */
export function terminologyOf(settings: TerminologySettings): AskTerminology {
  const server = terminologyServer(settings);
  return async (questions, { work, signal }) => {
    if (server === null)
      throw new CdrError('invalid', 'the query needs a terminology service, and none is configured');
    const { terminologyQuestions: most } = work.budget;
    if (questions.length > most)
      throw new CdrError(
        'unprocessable',
        `the query needs ${questions.length} questions to a terminology service, at most ${most} are possible (TERMINOLOGY_MAX_QUESTIONS): ask for fewer value sets at a time`,
        {
          budget: {
            name: 'terminologyQuestions',
            setting: 'TERMINOLOGY_MAX_QUESTIONS',
            limit: most,
            used: questions.length,
          },
        },
      );
    const requests = questions.map((question) => ({ key: question.key, ...terminologyRequest(question) }));
    const time = AbortSignal.timeout(Math.ceil(work.left().timeMs));
    // Where one question fails the others are asked in vain.
    const failed = new AbortController();
    const end = AbortSignal.any([signal, time, failed.signal]);
    try {
      const ask = async ({ key, operation, parameters }: (typeof requests)[number]) =>
        [key, await server.ask(operation, parameters, end)] as const;
      return new Map<string, TerminologyAnswer>(await Promise.all(requests.map(ask)));
    } catch (error) {
      failed.abort(error);
      if (!time.aborted || signal.aborted) throw error;
      throw exceeded('timeMs', work.budget.timeMs, work.budget.timeMs);
    }
  };
}

/** @throws invalid for an operation that is none */
function terminologyRequest(question: TerminologyQuestion): Request {
  if (question.kind === 'uri') return uriRequest(question.uri);
  const operation = OPERATIONS.find((known) => known === question.operation);
  if (operation === undefined)
    throw new CdrError('invalid', `TERMINOLOGY knows ${OPERATIONS.join(', ')}, not '${question.operation}'`);
  return { operation, parameters: question.parameters };
}

/** `terminology://service/ValueSet/$expand?url=…`, or the URL of a value set itself. */
function uriRequest(uri: string): Request {
  if (!uri.startsWith('terminology:'))
    return { operation: 'expand', parameters: `url=${encodeURIComponent(uri)}` };
  const query = uri.indexOf('?');
  return { operation: 'expand', parameters: query < 0 ? '' : uri.slice(query + 1) };
}

/** Passes the rows of a query on and publishes, once they end or are given up, how many they were and how long it took. */
export async function* metered(
  requestId: string,
  aql: string,
  rows: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly string[], void, undefined> {
  const start = performance.now();
  let count = 0;
  try {
    for await (const batch of rows) {
      count += batch.length;
      yield batch;
    }
  } finally {
    publishQuery({ seconds: (performance.now() - start) / 1000, rows: count, aql, requestId });
  }
}
