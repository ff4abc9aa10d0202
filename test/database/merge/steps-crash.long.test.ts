import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startDatabaseProcess, type DatabaseProcess } from '../../support/process/database.js';
import { fixtureText } from '../../support/fixture.js';
import { aComposition, V1, type Json } from '../../support/resources.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

const TEMPLATE = 'minimal_evaluation.en.v1';
const COMPOSITIONS = 40;
/**
 * When the server at work is killed, ms after the request: of a merge before the decision, about it, while documents move; of
 * an unmerge before anything moves, while documents move, about the decision.
 */
const KILLED_AFTER = { merge: [60, 350, 500, 620], unmerge: [60, 350, 560] } as const;

let dir = '';
let database: DatabaseProcess;
let servers: ServerProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'everchart-merge-steps-'));
  database = await startDatabaseProcess(dir);
});
afterEach(async () => {
  for (const server of servers) await server.kill();
  servers = [];
  await database.kill();
  await rm(dir, { recursive: true, force: true });
});

async function start(): Promise<ServerProcess> {
  const server = await startServerProcess({
    MONGODB_URI: database.uri,
    AUTH: 'none',
    JWT_SECRET: TEST_JWT_SECRET,
    ADMIN_API_ACTIVE: 'true',
    MERGE_STEPS_FROM: '0',
    LOG_LEVEL: 'info',
  });
  servers.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly etag: string;
}

async function call(server: ServerProcess, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { Authorization: ADMIN, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const etag = String(response.headers.get('etag')).replaceAll('"', '');
  const isJson = String(response.headers.get('content-type')).includes('json');
  return { status: response.status, body: isJson ? (JSON.parse(text) as Json) : {}, etag };
}

async function countIn(server: ServerProcess, ehrId: string): Promise<number> {
  const { body } = await call(server, 'GET', `${V1}/ehr/${ehrId}?include=compositions`);
  return (body.compositions as Json[] | undefined)?.length ?? 0;
}

/** Two EHRs, the first with the compositions. */
async function givenPair(server: ServerProcess): Promise<{ source_ehr: string; target_ehr: string }> {
  const made = async (): Promise<string> => (await call(server, 'POST', `${V1}/ehr`)).etag;
  const [source, target] = [await made(), await made()];
  const path = `${V1}/ehr/${source}/composition`;
  for (let count = 0; count < COMPOSITIONS; count += 1)
    expect((await call(server, 'POST', path, aComposition(TEMPLATE))).status).toBe(201);
  return { source_ehr: source, target_ehr: target };
}

/** Merges the pair or takes it back. */
function ask(server: ServerProcess, kind: 'merge' | 'unmerge', pair: object): Promise<Answer> {
  const body = kind === 'merge' ? { ...pair, reversible: true } : pair;
  return call(server, 'POST', `/rest/admin/ehr/${kind}`, body);
}

/** Reads both until the target can be written to again; gives whether it could not before. */
async function readUntilEnded(server: ServerProcess, source: string, target: string): Promise<boolean> {
  const deadline = Date.now() + 30_000;
  let wasHeld = false;
  for (;;) {
    const seen = [await countIn(server, target), await countIn(server, source)].join();
    expect(['0,40', '40,0', '0,0']).toContain(seen);
    const q = 'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c';
    const { body } = await call(server, 'POST', `${V1}/query/aql`, { q, ehr_id: target });
    expect([0, COMPOSITIONS]).toContain((body.rows as number[][])[0]![0]);
    const path = `${V1}/ehr/${target}/composition`;
    const { status } = await call(server, 'POST', path, aComposition(TEMPLATE));
    if (status !== 503 || Date.now() > deadline) {
      expect(status).toBe(201);
      return wasHeld;
    }
    wasHeld = true;
    await setTimeout(200);
  }
}

it.each(['merge', 'unmerge'] as const)(
  'what a killed server left of a %s in steps another one ends, and nobody ever saw half of it',
  async (kind) => {
    const other = await start();
    const uploaded = await fetch(`${other.url}${V1}/definition/template/adl1.4`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: fixtureText(`opt/${TEMPLATE}.opt`),
    });
    expect(uploaded.status).toBe(201);
    let held = 0;
    for (const killedAfter of KILLED_AFTER[kind]) {
      const pair = await givenPair(other);
      const { source_ehr: source, target_ehr: target } = pair;
      if (kind === 'unmerge') expect((await ask(other, 'merge', pair)).status).toBe(200);
      const atWork = await start();
      const answer = ask(atWork, kind, pair).catch(() => null);
      await setTimeout(killedAfter);
      await atWork.kill();
      await answer;
      if (await readUntilEnded(other, source, target)) held += 1;
      const isMerged = (await call(other, 'GET', `/rest/admin/ehr/merge_target/${source}`)).status === 200;
      expect([await countIn(other, source), await countIn(other, target)]).toEqual(
        isMerged ? [0, COMPOSITIONS + 1] : [COMPOSITIONS, 1],
      );
      expect((await call(other, 'POST', '/rest/admin/verify')).body.violations).toEqual([]);
      const done = await ask(other, isMerged ? 'unmerge' : 'merge', pair);
      expect([done.status, done.body.way]).toEqual([200, 'steps']);
    }
    // Otherwise each was done, or not begun, when it was killed.
    expect(held).toBeGreaterThan(0);
  },
  600_000,
);
