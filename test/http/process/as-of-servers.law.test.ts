import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { demoClient } from '../../../cli/demo/load.js';
import { realComposition, templateText } from '../../../cli/demo/patient.js';
import { draws, firstSeed } from '../../support/laws.js';
import { clockAhead } from '../../support/process/clock.js';
import { startDatabaseProcess, type DatabaseProcess } from '../../support/process/database.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { Random } from '../../support/random.js';

/**
 * Several servers on one database, whose clocks differ, one of which is killed again and again: what one of them answers as of a
 * moment, each answers for ever.
 */
jest.setTimeout(7_200_000);
const TEMPLATE = 'ehrbase_multi_occurrence.de.v1';
const API = '/rest/openehr/v1';
const ANSWERS = { small: 4, full: 4_000 };
const WRITERS = 3;
/** Each waits for the server whose clock is behind, most of its time. */
const READERS = 12;
/** How far the clocks of the servers are from that of the machine, ms. */
const CLOCKS = [0, -1_200, 700];
const QUERIES = [
  'SELECT COUNT(*) FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c',
  'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value',
];
const composition = JSON.stringify(realComposition(TEMPLATE));
const folder = mkdtempSync(join(tmpdir(), 'everchart-as-of-'));
let database: DatabaseProcess;
const servers: ServerProcess[] = [];

const started = (ms: number): Promise<ServerProcess> =>
  startServerProcess({
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: 'as_of',
    MANAGEMENT_ENDPOINTS: 'health',
    NODE_OPTIONS: clockAhead(ms),
  });

async function untilReady({ url }: ServerProcess): Promise<void> {
  while ((await fetch(`${url}/management/health/readiness`)).status !== 200) await pause(50);
}

beforeAll(async () => {
  database = await startDatabaseProcess(folder);
  for (const ms of CLOCKS) servers.push(await started(ms));
  await Promise.all(servers.map(untilReady));
  await demoClient(servers[0]!.url).uploadTemplate(templateText(TEMPLATE));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly rows: string;
  readonly certain: string;
}

async function answerOf(server: ServerProcess, q: string, asOf?: string): Promise<Answer> {
  const response = await fetch(`${server.url}${API}/query/aql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ q, as_of: asOf }),
  });
  const { rows, meta } = (await response.json()) as {
    rows?: unknown;
    meta?: { _certain_until: string };
  };
  return { status: response.status, rows: JSON.stringify(rows), certain: meta?._certain_until ?? '' };
}

/** Versions of one COMPOSITION after another, on a server at random: one that was killed refuses the connection. */
async function write(random: Random, isGoingOn: () => boolean): Promise<void> {
  const ehrId = await demoClient(servers[0]!.url).createEhr();
  let uid: string | undefined;
  while (isGoingOn()) {
    const [id] = uid?.split('::') ?? [];
    const path = `${API}/ehr/${ehrId}/composition${id === undefined ? '' : `/${id}`}`;
    const sent = fetch(`${random.pick(servers).url}${path}`, {
      method: id === undefined ? 'POST' : 'PUT',
      headers: { 'Content-Type': 'application/json', ...(uid !== undefined && { 'If-Match': uid }) },
      body: composition,
    });
    const answer = await sent.catch(() => undefined);
    const made = answer?.headers.get('ETag')?.replaceAll('"', '');
    uid = answer !== undefined && answer.status < 300 ? made : undefined;
  }
}

it('what one server answers as of a moment, each of them answers for ever', async () => {
  const seed = firstSeed();
  const given: { q: string; asOf: string; rows: string }[] = [];
  const statuses = new Map<number, number>();
  const isGoingOn = (): boolean => given.length < draws(ANSWERS);
  const ask = async (server: ServerProcess, q: string, asOf: string): Promise<void> => {
    const { status, rows } = await answerOf(server, q, asOf);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 200) given.push({ q, asOf, rows });
  };
  const read = async (random: Random): Promise<void> => {
    while (isGoingOn()) {
      const server = random.pick(servers);
      const q = random.pick(QUERIES);
      try {
        await ask(server, q, new Date(Date.now() + random.whole(-150, 100)).toISOString());
        const { certain } = await answerOf(server, q);
        await ask(random.pick(servers), q, certain);
      } catch {
        // It was killed.
        await pause(20);
      }
    }
  };
  const kill = async (random: Random): Promise<void> => {
    while (isGoingOn()) {
      await pause(random.whole(2_000, 6_000));
      if (!isGoingOn()) return;
      const last = servers.length - 1;
      await servers[last]!.kill();
      const next = await started(random.pick(CLOCKS));
      await untilReady(next);
      servers[last] = next;
    }
  };
  await Promise.all([
    ...Array.from({ length: WRITERS }, (_, n) => write(new Random(seed + n), isGoingOn)),
    ...Array.from({ length: READERS }, (_, n) => read(new Random(seed + 100 + n))),
    kill(new Random(seed + 200)),
  ]);
  // Both what is waited for in vain while a server is found to be gone, and its answer, are right: 503.
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const wrong: unknown[] = [];
  for (const { q, asOf, rows } of given)
    for (const server of servers) {
      const again = await answerOf(server, q, asOf);
      if (again.rows !== rows)
        wrong.push({ q, asOf, rows: rows.slice(0, 200), again: again.rows.slice(0, 200) });
    }
  expect({ seed, count: wrong.length, wrong: wrong.slice(0, 3) }).toEqual({ seed, count: 0, wrong: [] });
  process.stderr.write(`as of: ${given.length} answers, statuses ${JSON.stringify([...statuses])}\n`);
});
