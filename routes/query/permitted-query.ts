import { countsOfRow } from '../../aql/semantics/counts-alone.js';
import type { Viewer } from '../../change/access/viewer.js';
import type { QueryRequest } from '../../query/compile.js';

/** A query narrowed to what policies permit, and how they let it be answered. @throws as `Viewer.permitted` */
export async function permittedQuery(viewer: Viewer, request: QueryRequest): Promise<QueryRequest> {
  const { ehrId } = request;
  const leastPatients = viewer.leastPatients(ehrId);
  const permitted = await viewer.permitted(ehrId);
  return { ...request, permitted, ...(leastPatients !== null && { leastPatients }) };
}

/** Rows of counts as they are answered, each as `countsOfRow` gives it. */
export async function* countsOfMany(
  rows: AsyncIterable<readonly string[]>,
  least: number,
): AsyncGenerator<readonly string[]> {
  for await (const batch of rows) yield batch.map((row) => countsOfRow(row, least));
}
