import type { Context } from 'koa';
import { tellQuery } from '../../base/events.js';
import { requestState } from '../http/request-state.js';

/** Passes the rows of a query on and tells, once they end or are given up, how many they were and how long it took. */
export async function* toldQuery(
  ctx: Context,
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
    const { requestId } = requestState(ctx);
    tellQuery({ seconds: (performance.now() - start) / 1000, rows: count, aql, requestId });
  }
}
