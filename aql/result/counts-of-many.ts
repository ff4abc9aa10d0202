import { counted } from '../../openehr/base/work.js';

/**
 * Rows of a query that `countsAlone` has changed, as JSON texts, without the number of EHRs that it put behind them: each count is
 * null where that is below `least`. docs/access.md#counts-alone
 */
export async function* countsOfMany(
  rows: AsyncIterable<readonly string[]>,
  least: number,
): AsyncGenerator<readonly string[]> {
  for await (const batch of rows) yield counted(batch).map((row) => countsOfRow(row, least));
}

function countsOfRow(row: string, least: number): string {
  const cells = JSON.parse(row) as (number | null)[];
  const ehrs = cells.pop() ?? 0;
  return JSON.stringify(ehrs < least ? counted(cells).map(() => null) : cells);
}
