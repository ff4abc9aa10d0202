import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
import { givenUpdate, merge, statusOf } from '../../support/merge-http.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { spawnEverchart } from '../../support/process/command.js';
import { Random } from '../../support/random.js';
import { aComposition, givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const EHRS = 60;
/** Versions of the one COMPOSITION of the largest EHR: its lines come in more than one transaction. */
const VERSIONS = 1_200;
const ROUNDS = 5;
const KILLS = 3;

useDatabase();
const app = testApp(WITH_ADMIN);
const folder = mkdtempSync(join(tmpdir(), 'everchart-killed-'));
const file = join(folder, 'store.ndjson');
let env: Record<string, string> = {};
let lines: string[] = [];

const run = (...args: string[]): Promise<CommandResult> => runCommand([...args, '--local'], env);

beforeAll(async () => {
  env = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  await emptied();
  await givenTemplate(app);
  const ehrIds: string[] = [];
  for (let index = 0; index < EHRS; index += 1) {
    const ehrId = await givenEhr(app, statusOf(`p${index}`));
    await givenComposition(app, ehrId);
    ehrIds.push(ehrId);
  }
  const [large = '', source = '', target = ''] = ehrIds;
  let uid = await givenComposition(app, large);
  for (let version = 2; version <= VERSIONS; version += 1)
    uid = await givenUpdate(app, large, uid, aComposition());
  expect((await merge(app, source, target)).status).toBe(200);
  lines = await exported();
  expect((await run('export', '--all-versions', '--output', file)).code).toBe(0);
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Begins the import and kills it. @throws never: it may have ended before */
async function killedAfter(ms: number): Promise<void> {
  const child = spawnEverchart(['import', file, '--local', '--parallel', '3'], env, { stdio: 'ignore' });
  const closed = new Promise((resolve) => child.once('close', resolve));
  await Promise.race([setTimeout(ms), closed]);
  child.kill('SIGKILL');
  await closed;
}

it('an import that is killed at random moments and run again gives the same store', async () => {
  const random = new Random(firstSeed());
  await emptied();
  const start = performance.now();
  expect((await run('import', file)).code).toBe(0);
  const whole = performance.now() - start;
  for (let round = 0; round < ROUNDS; round += 1) {
    await emptied();
    for (let kill = 0; kill < KILLS; kill += 1) await killedAfter(random.below(whole));
    const { code, stderr } = await run('import', file);
    expect([round, code, code === 0 ? '' : stderr]).toEqual([round, 0, '']);
    expect([round, await exported()]).toEqual([round, lines]);
    await sealNewRecords();
    expect([round, (await verifyStorage()).violations]).toEqual([round, []]);
  }
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toEqual(lines);
}, 900_000);
