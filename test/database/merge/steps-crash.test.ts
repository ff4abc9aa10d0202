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
/** When the server that merges is killed, ms after the request: before the decision, about it, while documents move. */
const KILLED_AFTER = [60, 350, 500, 620];

let dir = '';
let database: DatabaseProcess;
let servers: ServerProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'everchart-merge-steps-'));
  database = await startDatabaseProcess(dir);
}, 60_000);
afterEach(async () => {
  for (const server of servers) await server.kill();
  servers = [];
  await database.kill();
  await rm(dir, { recursive: true, force: true });
}, 60_000);

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

it('what a killed server left of a merge in steps another one ends, and nobody ever saw half of it', async () => {
  const other = await start();
  const uploaded = await fetch(`${other.url}${V1}/definition/template/adl1.4`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: fixtureText(`opt/${TEMPLATE}.opt`),
  });
  expect(uploaded.status).toBe(201);
  for (const killedAfter of KILLED_AFTER) {
    const [source, target] = [
      (await call(other, 'POST', `${V1}/ehr`)).etag,
      (await call(other, 'POST', `${V1}/ehr`)).etag,
    ];
    for (let count = 0; count < COMPOSITIONS; count += 1)
      expect(
        (await call(other, 'POST', `${V1}/ehr/${source}/composition`, aComposition(TEMPLATE))).status,
      ).toBe(201);
    const merging = await start();
    const request = { source_ehr: source, target_ehr: target, reversible: true };
    const answer = call(merging, 'POST', '/rest/admin/ehr/merge', request).catch(() => null);
    await setTimeout(killedAfter);
    await merging.kill();
    await answer;
    const deadline = Date.now() + 30_000;
    let written = 503;
    while (written === 503 && Date.now() < deadline) {
      const seen = [await countIn(other, target), await countIn(other, source)].join();
      expect(['0,40', '40,0', '0,0']).toContain(seen);
      const { rows } = (
        await call(other, 'POST', `${V1}/query/aql`, {
          q: `SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c`,
          ehr_id: target,
        })
      ).body as unknown as { rows: number[][] };
      expect([0, COMPOSITIONS]).toContain(rows[0]![0]);
      written = (await call(other, 'POST', `${V1}/ehr/${target}/composition`, aComposition(TEMPLATE))).status;
      await setTimeout(200);
    }
    expect(written).toBe(201);
    const isMerged = (await call(other, 'GET', `/rest/admin/ehr/merge_target/${source}`)).status === 200;
    expect([await countIn(other, source), await countIn(other, target)]).toEqual(
      isMerged ? [0, COMPOSITIONS + 1] : [COMPOSITIONS, 1],
    );
    expect((await call(other, 'POST', '/rest/admin/verify')).body.violations).toEqual([]);
    const next = isMerged ? 'unmerge' : 'merge';
    const pair = { source_ehr: source, target_ehr: target };
    const done = await call(other, 'POST', `/rest/admin/ehr/${next}`, isMerged ? pair : request);
    expect([done.status, done.body.way]).toEqual([200, 'steps']);
  }
}, 600_000);
