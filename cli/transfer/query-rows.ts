import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { ApiClient } from './api-client.js';
import type { Output } from '../output.js';

/** Where a query is sent whose text is in the body. */
export const ADHOC = '/query/aql';

/** Copies the rows of a query as CSV, streaming. `body`: of POST /query/aql. @throws AnswerError */
export async function copyCsv(
  client: ApiClient,
  body: string,
  output: Output,
  path: string,
): Promise<number> {
  const chunks = await client.stream('POST', path, { body, accept: 'text/csv' });
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    await output.write(chunk);
  }
  return length;
}

/** Copies the rows of a query as one JSON object a line, by column name; gives how many. @throws AnswerError */
export async function copyRows(
  client: ApiClient,
  body: string,
  output: Output,
  path = ADHOC,
): Promise<number> {
  let count = 0;
  let pending = '';
  for await (const row of rowsOf(client, body, path)) {
    pending += `${JSON.stringify(row)}\n`;
    count += 1;
    if (pending.length < CHUNK_LENGTH) continue;
    await output.write(pending);
    pending = '';
  }
  if (pending !== '') await output.write(pending);
  return count;
}

const CHUNK_LENGTH = 64 * 1024;

/** The rows of a query, one after another as the server sends them. @throws AnswerError */
export async function* rowsOf(client: ApiClient, body: string, path = ADHOC): AsyncGenerator<JsonObject> {
  const chunks = await client.stream('POST', path, { body, accept: 'application/x-ndjson' });
  let names: readonly string[] | null = null;
  for await (const line of linesOf(chunks)) {
    if (names === null) {
      const head = JSON.parse(line) as { columns: { name: string }[] };
      names = distinct(head.columns.map(({ name }) => name));
      continue;
    }
    const cells = JSON.parse(line) as JsonValue[];
    yield Object.fromEntries(names.map((name, index) => [name, cells[index] ?? null]));
  }
}

/** Two columns of one name must not hide each other. */
function distinct(names: readonly string[]): string[] {
  return names.map((name, index) => (names.indexOf(name) === index ? name : `${name}#${index}`));
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
  if (rest !== '') yield rest;
}
