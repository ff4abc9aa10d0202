import type { TerminologyAnswer, TerminologyQuestion } from '../aql/semantics/terminology.js';
import { CdrError } from '../openehr/base/errors.js';
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
 * (docs/spec/aql.md#terminology).
 */
export function terminologyOf(settings: TerminologySettings): AskTerminology {
  const server = terminologyServer(settings);
  return async (questions) => {
    if (server === null)
      throw new CdrError('invalid', 'the query needs a terminology service, and none is configured');
    const answers = new Map<string, TerminologyAnswer>();
    for (const question of questions) {
      const { operation, parameters } = requestOf(question);
      answers.set(question.key, await server.ask(operation, parameters));
    }
    return answers;
  };
}

/** @throws invalid for an operation that is none */
function requestOf(question: TerminologyQuestion): Request {
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
): AsyncGenerator<readonly string[]> {
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
