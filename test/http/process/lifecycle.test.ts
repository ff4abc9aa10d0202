import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoClient } from '../../../cli/demo/load.js';
import { realComposition, templateText } from '../../../cli/demo/patient.js';
import { startDatabaseProcess, type DatabaseProcess } from '../../support/process/database.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';

const TEMPLATE = 'ehrbase_multi_occurrence.de.v1';
const folder = mkdtempSync(join(tmpdir(), 'everchart-lifecycle-'));
let database: DatabaseProcess;
let server: ServerProcess;
let ehrId: string;

beforeAll(async () => {
  database = await startDatabaseProcess(folder);
  server = await startServerProcess({
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: 'lifecycle',
    MANAGEMENT_ENDPOINTS: 'health',
  });
  const client = demoClient(server.url);
  await client.uploadTemplate(templateText(TEMPLATE));
  ehrId = await client.createEhr();
}, 60_000);

afterAll(async () => {
  await server.stop();
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Timed {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly seconds: number;
}

async function timed(path: string, body?: string): Promise<Timed> {
  const start = performance.now();
  const response = await fetch(`${server.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  await response.arrayBuffer();
  const seconds = (performance.now() - start) / 1000;
  return { status: response.status, retryAfter: response.headers.get('Retry-After'), seconds };
}

const API = '/rest/openehr/v1';
const composition = JSON.stringify(realComposition(TEMPLATE));
const work = (): Promise<Timed>[] => [
  timed(`${API}/ehr/${ehrId}`),
  timed(`${API}/ehr/${ehrId}/composition`, composition),
  timed(`${API}/query/aql`, '{"q":"SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c"}'),
  timed(`${API}/definition/template/adl1.4`),
];

async function untilReady(): Promise<void> {
  const start = performance.now();
  while ((await timed('/management/health/readiness')).status !== 200) {
    expect(performance.now() - start).toBeLessThan(10_000);
    await pause(100);
  }
}

describe('a server whose database goes away', () => {
  // Where a request is when its database goes away decides what fails: a read, a write beside its transaction, the transaction.
  it.each([5, 20, 35, 50])('answers requests that are %d ms old 503 within 5 s', async (age) => {
    const commits = Array.from({ length: 8 }, () => timed(`${API}/ehr/${ehrId}/composition`, composition));
    const underWay = [...commits, ...work(), ...work()];
    await pause(age);
    await database.kill();
    for (const { status, seconds } of await Promise.all(underWay)) {
      expect([200, 201, 503]).toContain(status);
      expect(seconds).toBeLessThan(5);
    }
    database = await startDatabaseProcess(folder);
    await untilReady();
  });

  it('answers 503 with Retry-After within 5 s, is not ready, and recovers without restart', async () => {
    expect((await Promise.all(work())).map(({ status }) => status)).toEqual([200, 201, 200, 200]);
    await database.kill();
    for (const { status, retryAfter, seconds } of await Promise.all(work())) {
      expect([status, retryAfter]).toEqual([503, '2']);
      expect(seconds).toBeLessThan(5);
    }
    expect((await timed('/management/health/readiness')).status).toBe(503);
    expect((await timed('/management/health/liveness')).status).toBe(200);

    const before = database.uri;
    database = await startDatabaseProcess(folder);
    expect(database.uri).toBe(before);
    await untilReady();
    expect((await Promise.all(work())).map(({ status }) => status)).toEqual([200, 201, 200, 200]);
  }, 60_000);
});

/** One request over a connection that stays open; the status, or the code of the connection's failure. */
function over(agent: Agent, path: string, body: string): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const sent = request(`${server.url}${path}`, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => {
        resolve(response.statusCode ?? 0);
      });
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      resolve(sent.reusedSocket ? 'a kept connection failed' : (error.code ?? error.message));
    });
    sent.end(body);
  });
}

describe('a server that is told to stop', () => {
  it('ends requests that are under way, refuses new connections, and exits 0 within 10 s', async () => {
    const lanes = Array.from({ length: 6 }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const outcomes: (number | string)[] = [];
      while (typeof outcomes.at(-1) !== 'string')
        outcomes.push(await over(agent, `${API}/ehr/${ehrId}/composition`, composition));
      agent.destroy();
      return outcomes;
    });
    await pause(500);
    const start = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - start).toBeLessThan(10_000);
    for (const outcomes of await Promise.all(lanes)) {
      const last = outcomes.pop();
      expect(['ECONNREFUSED', 'ECONNRESET']).toContain(last);
      expect(outcomes.length).toBeGreaterThan(0);
      expect(new Set(outcomes)).toEqual(new Set([201]));
    }
  }, 60_000);
});
