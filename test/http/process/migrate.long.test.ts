import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { firstSeed } from '../../support/laws.js';
import { givenUpdate, statusOf } from '../../support/merge-http.js';
import { oldPeer, type OldPeer } from '../../support/migrate/old-peer.js';
import { spawnEverchart } from '../../support/process/command.js';
import { Random } from '../../support/random.js';
import { aComposition, givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';

/* 10,000 COMPOSITIONs in three versions each: one EHR is written, the others are made of its lines under other ids. */

const EHRS = 100;
const COMPOSITIONS = 100;
const SYSTEM = 'local.ehrbase.org';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

useDatabase();
const there = testApp({ systemId: SYSTEM });
const place = mkdtempSync(join(tmpdir(), 'everchart-migrate-'));
let peer: OldPeer;
let lines: string[] = [];
let env: Record<string, string> = {};

beforeAll(async () => {
  env = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  await emptied(SYSTEM);
  await givenTemplate(there);
  const ehrId = await givenEhr(there, statusOf('p'));
  for (let index = 0; index < COMPOSITIONS; index += 1) {
    let uid = await givenComposition(there, ehrId);
    for (let version = 2; version <= 3; version += 1)
      uid = await givenUpdate(there, ehrId, uid, aComposition());
  }
  const written = await exported();
  const begin = written.findIndex((line) => line.startsWith('{"kind":"ehr"'));
  const section = written.slice(begin, -1);
  lines = written.slice(0, begin);
  for (let index = 0; index < EHRS; index += 1) lines.push(...section.map((line) => renamed(line, index)));
  peer = await oldPeer(lines, { lists: true });
  await emptied();
}, 600_000);
afterAll(async () => {
  peer.server.closeAllConnections();
  await new Promise((resolve) => peer.server.close(resolve));
  rmSync(place, { recursive: true, force: true });
});

/** A line with other ids, the same ones for each id and number, and another subject. */
function renamed(line: string, index: number): string {
  const other = (id: string): string => {
    const hex = createHash('sha256').update(`${index} ${id}`).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
  return line.replaceAll(UUID, other).replaceAll('"value":"p"', `"value":"p${index}"`);
}

/** Begins a migration, and kills it after a time; gives its exit code, null when it was killed. */
async function migrated(killAfterMs?: number): Promise<number | null> {
  const files = ['--progress', join(place, 'progress'), '--errors', join(place, 'errors')];
  const child = spawnEverchart(['migrate', '--from', peer.url, '--local', ...files], env, {
    stdio: 'ignore',
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  if (killAfterMs !== undefined) {
    await Promise.race([setTimeout(killAfterMs), closed]);
    child.kill('SIGKILL');
  }
  return closed;
}

/** Lines by EHR, in the order of the ids of the EHRs, without what ITS-REST does not show. */
function sections(all: readonly string[]): string[][] {
  const found: string[][] = [];
  for (const line of all) {
    if (line.startsWith('{"kind":"ehr"')) found.push([]);
    if (!line.startsWith('{"kind":"end"')) found.at(-1)?.push(line.replace(/,"authenticated":\{[^}]*\}/, ''));
  }
  return found.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
}

it('moves 10,000 COMPOSITIONs in three versions each, killed in between, as they were', async () => {
  const random = new Random(firstSeed());
  for (let kill = 0; kill < 2; kill += 1) await migrated(3_000 + random.below(20_000));
  expect(await migrated()).toBe(0);
  // The same order of objects made at the same time is no promise.
  const [here, old] = [sections(await exported()), sections(lines)];
  expect(here.map((section) => section.length)).toEqual(old.map((section) => section.length));
  for (const [index, section] of here.entries()) expect([...section].sort()).toEqual([...old[index]!].sort());
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
}, 1_800_000);
