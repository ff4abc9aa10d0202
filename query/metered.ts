import { publishQuery } from '../database/events.js';

/** Passes the rows of a query on and publishes, once they end or are given up, how many they were and how long it took. */
export async function* metered(
  requestId: string,
  aql: string,
  rows: AsyncIterable<string>,
): AsyncGenerator<string> {
  const start = performance.now();
  let count = 0;
  try {
    for await (const row of rows) {
      count += 1;
      yield row;
    }
  } finally {
    publishQuery({ seconds: (performance.now() - start) / 1000, rows: count, aql, requestId });
  }
}
