import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { demoClient, loadDemoData } from '../cli/demo/load.js';
import { textTable } from '../cli/output.js';
import { startServerProcess, type ServerProcess } from '../test/support/process/server.js';
import { childrenOf, processFigures } from './process-figures.js';

/** 800 compositions with 4 to 11 ELEMENTs: 1.3 million triples. */
const DATA = { ehrs: 40, compositionsPerEhr: 20, seed: 1, parallel: 4 } as const;
const AQL =
  'SELECT e/ehr_id/value, c/uid/value, x/name/value, y/name/value, z/name/value FROM EHR e CONTAINS COMPOSITION c CONTAINS (ELEMENT x AND ELEMENT y AND ELEMENT z)';
const ROWS_PER_LINE = 200_000;
const COLUMNS = ['rows', 'rows/s', 'MiB sent', 'server MiB', 'server peak MiB', 'database MiB'];
const NEWLINE = 10;

/** How much memory a server process holds while it streams more than a million rows as NDJSON. */
export async function benchStream(print: (line: string) => void): Promise<void> {
  const server = await startServerProcess({
    EMBEDDED_DATA_DIR: 'temporary',
    AUTH: 'none',
    AQL_TIMEOUT_MS: '600000',
  });
  try {
    await loadDemoData(demoClient(server.url), DATA, () => undefined);
    print(`\`${AQL}\`\n`);
    print(textTable(COLUMNS, await streamed(server)));
  } finally {
    await server.stop();
  }
}

/** A line of figures at the start, after each `ROWS_PER_LINE` rows, and at the end. */
async function streamed(server: ServerProcess): Promise<string[][]> {
  const lines: string[][] = [];
  const start = performance.now();
  let rows = 0;
  let bytes = 0;
  const note = (): void => {
    const seconds = (performance.now() - start) / 1000;
    lines.push([String(rows), String(Math.round(rows / seconds)), mebibytes(bytes), ...memoryOf(server)]);
  };
  note();
  for await (const chunk of await answerTo(server.url)) {
    for (const byte of chunk as Buffer) if (byte === NEWLINE) rows++;
    bytes += (chunk as Buffer).length;
    if (rows >= lines.length * ROWS_PER_LINE) note();
  }
  rows--; // the first line is meta and columns
  note();
  return lines;
}

function memoryOf(server: ServerProcess): string[] {
  const id = server.process.pid ?? 0;
  const own = processFigures(id);
  const database = childrenOf(id).reduce((sum, child) => sum + processFigures(child).residentBytes, 0);
  return [own.residentBytes, own.peakBytes, database].map(mebibytes);
}

const mebibytes = (bytes: number): string => String(Math.round(bytes / 1024 / 1024));

async function answerTo(url: string): Promise<IncomingMessage> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' };
  const call = request(`${url}/rest/openehr/v1/query/aql`, { method: 'POST', headers });
  call.end(JSON.stringify({ q: AQL }));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`the query was answered ${String(answer.statusCode)}`);
  return answer;
}
