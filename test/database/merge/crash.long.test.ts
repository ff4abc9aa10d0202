import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fixtureText } from '../../support/fixture.js';
import { aComposition, V1, type Json } from '../../support/resources.js';
import { ADMIN } from '../../support/tokens.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';

/** `MERGE_RUNS=200` for a long look. */
const ROUNDS = Math.ceil(Number(process.env['MERGE_RUNS'] ?? 8) / 12);
const MERGES = 50;
const TEMPLATES = ['persistent_minimal.en.v1', 'minimal_evaluation.en.v1'];

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

let dir = '';
let server: Server | null = null;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'everchart-merge-crash-'));
});
afterEach(async () => {
  if (server !== null) await kill(server);
  await rm(dir, { recursive: true, force: true });
});

/** A server of its own process group, with its database below it. */
async function start(): Promise<Server> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/process/server-main.ts'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      MONGODB_URI: '',
      LOCAL_DATABASE: 'embedded',
      EMBEDDED_DATA_DIR: dir,
      AUTH: 'none',
      JWT_SECRET: TEST_JWT_SECRET,
      ADMIN_API_ACTIVE: 'true',
      LOG_LEVEL: 'info',
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (http:[^"\s]+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url };
  }
  throw new Error('the server did not start');
}

/** The server and its database at once. */
async function kill({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await gone;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; text: string; etag: string }> {
  const response = await fetch(`${server!.url}${path}`, {
    method,
    headers: { Authorization: ADMIN, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const etag = String(response.headers.get('etag')).replaceAll('"', '');
  return { status: response.status, text: await response.text(), etag };
}

async function made(path: string, body?: unknown): Promise<string> {
  const { status, text, etag } = await call('POST', path, body);
  expect([status, text]).toEqual([201, '']);
  return etag;
}

interface Pair {
  readonly source: string;
  readonly target: string;
  /** Version uids of the source. */
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

async function givenPair(): Promise<Pair> {
  const [source, target] = [await made(`${V1}/ehr`), await made(`${V1}/ehr`)];
  const compose = (ehrId: string, name: string): Promise<string> =>
    made(`${V1}/ehr/${ehrId}/composition`, aComposition(name));
  const mine = [await compose(source, TEMPLATES[0]!), await compose(source, TEMPLATES[1]!)];
  const theirs = [await compose(target, TEMPLATES[0]!)];
  return { source, target, mine, theirs };
}

/** Merges pair after pair until the server is gone; gives those acknowledged. */
async function mergeUntilKilled(pairs: readonly Pair[], killAfter: number): Promise<Set<Pair>> {
  const done = new Set<Pair>();
  for (const [index, pair] of pairs.entries()) {
    const modes = { reversible: true, folder_merge: 'COPY', composition_merge: 'PERSISTENT' };
    const running = call('POST', '/rest/admin/ehr/merge', {
      source_ehr: pair.source,
      target_ehr: pair.target,
      ...modes,
    });
    if (index === killAfter) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 25));
      await kill(server!);
    }
    const answer = await running.catch(() => null);
    if (answer === null) return done;
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('1 joined')]);
    done.add(pair);
  }
  return done;
}

async function isMerged(pair: Pair): Promise<boolean> {
  const lookup = await call('GET', `/rest/admin/ehr/merge_target/${pair.source}`);
  expect([200, 404]).toContain(lookup.status);
  const isWhole = lookup.status === 200;
  const owner = isWhole ? pair.target : pair.source;
  expect((await call('GET', `${V1}/ehr/${pair.source}`)).status).toBe(isWhole ? 404 : 200);
  for (const uid of pair.mine)
    expect((await call('GET', `${V1}/ehr/${owner}/composition/${uid}`)).status).toBe(200);
  for (const uid of pair.theirs) {
    expect((await call('GET', `${V1}/ehr/${pair.target}/composition/${uid}`)).status).toBe(200);
    const latest = await call('GET', `${V1}/ehr/${pair.target}/composition/${uid.split('::')[0]!}`);
    expect(latest.etag).toMatch(isWhole ? /::2$/ : /::1$/);
  }
  return isWhole;
}

it('is whole or not at all after kill -9 in the middle of many', async () => {
  server = await start();
  for (const name of TEMPLATES) {
    const response = await fetch(`${server.url}${V1}/definition/template/adl1.4`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: fixtureText(`opt/${name}.opt`),
    });
    expect(response.status).toBe(201);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const pairs: Pair[] = [];
    while (pairs.length < MERGES) {
      pairs.push(...(await Promise.all(Array.from({ length: 10 }, givenPair))));
    }
    const killAfter = 1 + Math.floor(Math.random() * (MERGES - 2));
    const acknowledged = await mergeUntilKilled(pairs, killAfter);
    server = await start();
    const merged = new Set<Pair>();
    await Promise.all(
      pairs.map(async (pair) => {
        if (await isMerged(pair)) merged.add(pair);
      }),
    );
    expect([...acknowledged].filter((pair) => !merged.has(pair))).toEqual([]);
    // The one under way may have been committed without its answer.
    expect(merged.size - acknowledged.size).toBeLessThanOrEqual(1);
    const report = JSON.parse((await call('POST', '/rest/admin/verify')).text) as Json;
    expect(report['violations']).toEqual([]);
    for (const pair of pairs.slice(killAfter - 1, killAfter + 2)) {
      const body = { source_ehr: pair.source, target_ehr: pair.target };
      if (merged.has(pair)) expect((await call('POST', '/rest/admin/ehr/unmerge', body)).status).toBe(200);
      const again = await call('POST', '/rest/admin/ehr/merge', { ...body, reversible: true });
      expect(again.status).toBe(200);
    }
  }
}, 3_600_000);
