import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { commitInBulk, type BulkContent } from '../../../change/bulk.js';
import { partyNamed } from '../../../change/commit/audit.js';
import { LIFECYCLE } from '../../../change/commit/codes.js';
import { changeContext } from '../../../change/commit/context.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { versionOf, type StoredVersion } from '../../../models/version-text.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import {
  Cdr,
  CdrError,
  type TemplateComparison,
  type TemplateUpgrade,
} from '../../../packages/client/src/main.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { secondOpt } from '../../support/openehr/revisions.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { aComposition } from '../../support/resources.js';
import { TEST_JWT_SECRET, testSettings } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

/** `UPGRADED=100000` for figures: they are told, and nothing depends on them. */
const COMPOSITIONS = Number(process.env['UPGRADED'] ?? 1_000);
const EACH = 20;
/** EHRs of one transaction of an import. */
const TOGETHER = 5;
const NAME = 'minimal_evaluation.en.v1';
const EVALUATION = 'openEHR-EHR-EVALUATION.minimal.v1';
const MASS = '/data[at0001]/items[at0002]/value';
const RULES = [{ unit: `/content[${EVALUATION}]${MASS}`, from: 'gm', to: 'g', factor: 1 }];
const MASSES = `SELECT v${MASS}/magnitude AS mass FROM EHR e CONTAINS EVALUATION v[${EVALUATION}] ORDER BY mass`;

const env = {
  MONGODB_URI: testDatabaseUri(),
  MONGODB_DATABASE: testDatabaseName(),
  JWT_SECRET: TEST_JWT_SECRET,
  ADMIN_API_ACTIVE: 'true',
  AUTH: 'none',
  TEMPLATE_REVISIONS: 'true',
};
let server: ServerProcess;
const cdr = () => new Cdr({ url: server.url, token: ADMIN.replace('Bearer ', '') });

beforeAll(async () => {
  server = await startServerProcess(env);
});
afterAll(() => server.stop());

/** What the audits of an import of so many COMPOSITIONs say; each has a mass of its own. */
async function imported(): Promise<void> {
  const context = changeContext(testSettings({ templateRevisions: true }));
  const how = { committer: partyNamed('import'), isLenient: false };
  const text = JSON.stringify(aComposition(NAME)).replace('"units":"kg"', '"units":"gm"');
  const massOf = (mass: number): JsonObject =>
    JSON.parse(text.replace(/"magnitude":[\d.]+/, `"magnitude":${mass}`)) as JsonObject;
  for (let from = 0; from < COMPOSITIONS; from += EACH * TOGETHER) {
    const contents = Array.from({ length: TOGETHER }, (_, ehr): BulkContent => ({
      ehrId: randomUUID(),
      newEhr: { status: null },
      contributions: Array.from({ length: EACH }, (_each, index) => [
        { object: massOf(1 + ((from + ehr * EACH + index) % 900)), lifecycleState: LIFECYCLE.complete },
      ]),
    }));
    expect(await commitInBulk(context, how, contents)).not.toContain(false);
  }
}

const versions = () => mongoose.connection.collection<StoredVersion>('versions');

/** Content of the latest VERSIONs of the template by object id, without their uids. */
async function contents(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const all = versions().find({ template_id: NAME }).sort({ object_id: 1, version: 1 });
  for await (const stored of all) {
    const { _id: uid, object_id: objectId, data } = versionOf(stored);
    found.set(objectId, (data ?? '').replaceAll(uid, ''));
  }
  return found;
}

/** SHA-256 of all contents, by object id: equal where every byte is. */
function digestOf(found: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [id, text] of [...found].sort(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`${id} ${text}\n`);
  return hash.digest('hex');
}

/** The same of an answer. */
async function digestOfRows(): Promise<string> {
  const { rows } = await cdr().query(MASSES);
  expect(rows).not.toHaveLength(0);
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

/** How much was judged by each revision, oldest first. */
async function uses(): Promise<[string, number, number][]> {
  const all = await cdr().templates.revisions(NAME);
  return all
    .map(({ revision, compositions, versions: count }) => [revision, compositions, count])
    .reverse() as [string, number, number][];
}

async function until(
  job: string,
  isReached: (upgrade: TemplateUpgrade) => boolean,
): Promise<TemplateUpgrade> {
  for (;;) {
    const upgrade = await cdr().templates.upgrades.get(NAME, job);
    if (isReached(upgrade)) return upgrade;
    await setTimeout(20);
  }
}

/** A comparison of data that is done; its server is killed in the middle, and the next one goes on. */
async function settled(job: string): Promise<TemplateComparison> {
  for (let isKilled = false; ;) {
    const now = await cdr().templates.comparisons.get(NAME, job);
    if (now.state !== 'running') return now;
    if (!isKilled && now.invalid > COMPOSITIONS / 4) {
      isKilled = true;
      await server.kill();
      server = await startServerProcess(env);
      await cdr().templates.comparisons.steer(NAME, job, 'resume');
    }
    await setTimeout(20);
  }
}

/** How many of `COMPOSITIONS` are done in a second, and the longest read and commit of others meanwhile, ms. */
async function measured(what: string, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  let isDone = false;
  let longest = 0;
  const others = async (): Promise<void> => {
    const { id } = await cdr().ehr.create();
    while (!isDone) {
      const asked = performance.now();
      const isAnswered = await cdr()
        .request('POST', `/rest/openehr/v1/ehr/${id}/composition`, { body: OTHER })
        .then(() => true, whileItIsKilled);
      if (isAnswered) longest = Math.max(longest, performance.now() - asked);
      await setTimeout(50);
    }
  };
  const beside = others();
  await work();
  isDone = true;
  await beside;
  const perSecond = COMPOSITIONS / ((performance.now() - start) / 1_000);
  process.stderr.write(
    `${what}: ${perSecond.toFixed(0)} COMPOSITIONs/s, the longest commit beside it ${longest.toFixed(0)} ms\n`,
  );
}

/** A server that was killed answers nobody until the next one runs. */
function whileItIsKilled(error: unknown): false {
  if (error instanceof CdrError && error.code === 'network') return false;
  throw error;
}

const OTHER = aComposition('minimal_observation.en.v1');

it('upgrades what was imported, through a kill, and takes it back to the very bytes', async () => {
  await cdr().templates.upload(fixtureText(`opt/${NAME}.opt`));
  await cdr().templates.upload(fixtureText('opt/minimal_observation.en.v1.opt'));
  await measured('import', imported);
  const before = await contents();
  const masses = await digestOfRows();
  await cdr().templates.upload(secondOpt('a unit is replaced by another'));
  // Of all data nothing is valid by the second revision as it is.
  const { data } = await cdr().templates.compareData(NAME, { from: '1', to: '2' }, { data: 'all' });
  const judged = await settled(data.job);
  expect(judged).toMatchObject({ valid: 0, invalid: COMPOSITIONS, causes: [{ count: COMPOSITIONS }] });
  const plan = await cdr().templates.upgrades.plan(NAME, { rules: RULES });
  expect(plan).toMatchObject({ valid: 0, mappable: COMPOSITIONS, invalid: 0 });

  const { hash } = plan;
  let job = '';
  await measured('upgrade with a kill', async () => {
    job = await cdr().templates.upgrades.begin(NAME, { rules: RULES, hash });
    await until(job, ({ upgraded }) => upgraded > COMPOSITIONS / 4);
    await server.kill();
    server = await startServerProcess(env);
    expect((await cdr().templates.upgrades.get(NAME, job)).state).toBe('running');
    await cdr().templates.upgrades.steer(NAME, job, 'resume');
    await until(job, ({ state }) => state === 'done');
  });
  expect(await cdr().templates.upgrades.get(NAME, job)).toMatchObject({ upgraded: COMPOSITIONS, left: 0 });
  const evaluations = { template_id: NAME };
  expect(await versions().countDocuments(evaluations)).toBe(2 * COMPOSITIONS);
  const after = await contents();
  expect([...before].filter(([id, text]) => after.get(id) === text.replace('"gm"', '"g"'))).toHaveLength(
    COMPOSITIONS,
  );
  expect(await digestOfRows()).toBe(masses);
  expect(await uses()).toEqual([
    ['1', COMPOSITIONS, COMPOSITIONS],
    ['2', COMPOSITIONS, COMPOSITIONS],
  ]);

  await measured('undo', async () => {
    await cdr().templates.upgrades.steer(NAME, job, 'undo');
    await until(job, ({ state }) => state === 'undone');
  });
  expect(await versions().countDocuments(evaluations)).toBe(3 * COMPOSITIONS);
  const undone = await contents();
  expect([...before].filter(([id, text]) => undone.get(id) !== text)).toEqual([]);
  expect(digestOf(undone)).toBe(digestOf(before));
  expect(await digestOfRows()).toBe(masses);
  expect(await uses()).toEqual([
    ['1', COMPOSITIONS, 2 * COMPOSITIONS],
    ['2', COMPOSITIONS, COMPOSITIONS],
  ]);
  expect((await verifyStorage()).violations).toEqual([]);
});
