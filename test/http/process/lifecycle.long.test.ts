import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { demoClient } from '../../../cli/demo/load.js';
import { realComposition, templateText } from '../../../cli/demo/patient.js';
import { startDatabaseProcess, type DatabaseProcess } from '../../support/process/database.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';

const TEMPLATE = 'ehrbase_multi_occurrence.de.v1';
const API = '/rest/openehr/v1';
const composition = JSON.stringify(realComposition(TEMPLATE));
/** How long a request waits for a database that is away (2 s by default), long beside what the machine takes for it. */
const WAIT_MS = 8_000;

/** A server with a database of its own: what one case does to them, no other meets. */
interface World {
  readonly folder: string;
  readonly server: ServerProcess;
  readonly ehrId: string;
  database: DatabaseProcess;
}

let world: World;

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-lifecycle-'));
  const database = await startDatabaseProcess(folder);
  const server = await startServerProcess({
    MONGODB_URI: `${database.uri}&serverSelectionTimeoutMS=${WAIT_MS}`,
    MONGODB_DATABASE: 'lifecycle',
    MANAGEMENT_ENDPOINTS: 'health',
  });
  const client = demoClient(server.url);
  await client.uploadTemplate(templateText(TEMPLATE));
  world = { folder, server, ehrId: await client.createEhr(), database };
});

afterEach(async () => {
  await world.server.stop();
  await world.database.stop();
  rmSync(world.folder, { recursive: true, force: true });
});

interface Timed {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly answered: number;
}

async function timed(path: string, body?: string): Promise<Timed> {
  const response = await fetch(`${world.server.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  await response.arrayBuffer();
  return {
    status: response.status,
    retryAfter: response.headers.get('Retry-After'),
    answered: performance.now(),
  };
}

const commit = (): Promise<Timed> => timed(`${API}/ehr/${world.ehrId}/composition`, composition);
const work = (): Promise<Timed>[] => [
  timed(`${API}/ehr/${world.ehrId}`),
  commit(),
  timed(`${API}/query/aql`, '{"q":"SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c"}'),
  timed(`${API}/definition/template/adl1.4`),
];

async function untilReady(): Promise<void> {
  while ((await timed('/management/health/readiness')).status !== 200) await pause(100);
}

/**
 * The answers of requests that were under way when the database was killed. Each waits for it once: at the deadline, which
 * is that of a second wait, all are answered. So the default of two seconds keeps the promise of five.
 */
async function answersAfterLoss(underWay: readonly Promise<Timed>[]): Promise<Timed[]> {
  const deadline = performance.now() + 2 * WAIT_MS;
  const answers = await Promise.all(underWay);
  expect(answers.filter(({ answered }) => answered >= deadline)).toEqual([]);
  return answers;
}

describe('a server whose database goes away', () => {
  // Where a request is when its database goes away decides what fails: a read, a write beside its transaction, the transaction.
  it.each([5, 20, 35, 50])('answers requests that are %d ms old 503 once they waited for it', async (age) => {
    const underWay = [...Array.from({ length: 8 }, commit), ...work(), ...work()];
    await pause(age);
    await world.database.kill();
    for (const { status } of await answersAfterLoss(underWay)) expect([200, 201, 503]).toContain(status);
  });

  it('answers 503 with Retry-After, is not ready, and recovers without restart', async () => {
    expect((await Promise.all(work())).map(({ status }) => status)).toEqual([200, 201, 200, 200]);
    await world.database.kill();
    for (const { status, retryAfter } of await answersAfterLoss(work()))
      expect([status, retryAfter]).toEqual([503, '2']);
    expect((await timed('/management/health/readiness')).status).toBe(503);
    expect((await timed('/management/health/liveness')).status).toBe(200);

    const before = world.database.uri;
    world.database = await startDatabaseProcess(world.folder);
    expect(world.database.uri).toBe(before);
    await untilReady();
    expect((await Promise.all(work())).map(({ status }) => status)).toEqual([200, 201, 200, 200]);
  });
});

/** One request over a connection that stays open; the status, or the code of the connection's failure. */
function over(agent: Agent, path: string, body: string): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const sent = request(`${world.server.url}${path}`, { method: 'POST', agent, headers }, (response) => {
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
  it('ends as it should from the moment on in which it says that it listens', async () => {
    const env = { MONGODB_URI: world.database.uri, MONGODB_DATABASE: 'lifecycle' };
    for (let starts = 0; starts < 3; starts += 1)
      expect(await (await startServerProcess(env)).stop()).toBe(0);
    const workers = await startServerProcess({ ...env, CLUSTER_WORKERS: '2' });
    expect(await workers.stop()).toBe(0);
  });

  it('ends requests that are under way, refuses new connections, and exits 0 before its deadline', async () => {
    const lanes = Array.from({ length: 6 }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const outcomes: (number | string)[] = [];
      while (typeof outcomes.at(-1) !== 'string')
        outcomes.push(await over(agent, `${API}/ehr/${world.ehrId}/composition`, composition));
      agent.destroy();
      return outcomes;
    });
    await pause(500);
    expect(await world.server.stop()).toBe(0); // cut off at its deadline it would end with another code
    for (const outcomes of await Promise.all(lanes)) {
      const last = outcomes.pop();
      expect(['ECONNREFUSED', 'ECONNRESET']).toContain(last);
      expect(outcomes.length).toBeGreaterThan(0);
      expect(new Set(outcomes)).toEqual(new Set([201]));
    }
  });
});
