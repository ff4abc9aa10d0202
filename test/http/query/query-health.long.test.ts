import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { vitalSigns } from '../../../bench/vital-signs.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';

/** Every pair of nodes of an EHR, some 400,000 each: the database works until the time limit. */
const PAIRS =
  "SELECT COUNT(*) FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b) WHERE CONCAT(a/name/value, b/name/value) = 'x'";
/** Whole compositions, 8 MB in one answer: the server works too. */
const WHOLE = 'SELECT c, c/uid/value FROM COMPOSITION c LIMIT 1000';
const QUERIES = 50;
const PROBES = ['/management/health', '/management/health/liveness', '/management/health/readiness'];
const ROUNDS = 21;
const PAUSE_MS = 50;
/** A probe that waited for its turn among the queries would take as long as they do. */
const SHARE = 5;

let server: ServerProcess;

useDatabase();
beforeAll(async () => {
  await loadReferenceData(vitalSigns({ ehrs: 100, compositionsPerEhr: 20, seed: 1 }));
  server = await startServerProcess({
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
    AUTH: 'none',
    MANAGEMENT_ACCESS: 'PUBLIC',
    AQL_TIMEOUT_MS: '700',
  });
});
afterAll(() => server.stop());

async function answerOf(q: string): Promise<{ status: number; ms: number }> {
  const start = performance.now();
  const response = await fetch(`${server.url}/rest/openehr/v1/query/aql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ q }),
  });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - start };
}

async function millisecondsOf(path: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${server.url}${path}`);
  expect(await response.json()).toEqual({ status: 'UP' });
  return performance.now() - start;
}

function medianOf(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1]!;
}

/** Median time of each probe, asked again and again. */
async function medians(): Promise<number[]> {
  const times: number[][] = PROBES.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, probe] of PROBES.entries()) times[index]!.push(await millisecondsOf(probe));
    await setTimeout(PAUSE_MS);
  }
  return times.map(medianOf);
}

describe('health', () => {
  it.each([
    ['the database', PAIRS],
    ['database and server', WHOLE],
  ])(`waits for no query while ${QUERIES} queries keep %s busy`, async (_, q) => {
    const answers = Promise.all(Array.from({ length: QUERIES }, () => answerOf(q)));
    const probes = await medians();
    const queries = await answers;
    for (const { status } of queries) expect([200, 408, 503]).toContain(status);
    // Those that found no room were refused at once.
    const query = medianOf(queries.flatMap(({ status, ms }) => (status === 503 ? [] : [ms])));
    for (const probe of probes) expect(probe).toBeLessThanOrEqual(query / SHARE);
  });
});
