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
import { Neighbour } from '../../support/process/neighbours.js';
import { begun, Stretch } from '../../support/process/stretch.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { aComposition } from '../../support/resources.js';
import { TEST_JWT_SECRET, testSettings } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

/** `UPGRADED=100000` on a quiet machine for figures: only then anything depends on them. */
const MEASURED = process.env['UPGRADED'];
const COMPOSITIONS = Number(MEASURED ?? 1_000);
/** What an upgrade keeps at least of the rate of the import before it, and how long others wait at most, ms. */
const LEAST_RATE = 0.5;
const LONGEST_WAIT_MS = 500;
const POLL_MS = 500;
/** All of it together, on a slow machine. */
const MOST_EACH_MS = 120;
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
  AQL_TIMEOUT_MS: '300000',
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

/** SHA-256 of the latest VERSIONs of the template by object id, without their uids, in these units instead of grams as they were. */
async function contents(units = 'gm'): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const all = versions().find({ template_id: NAME }).sort({ object_id: 1, version: 1 });
  for await (const stored of all) {
    const { _id: uid, object_id: objectId, data } = versionOf(stored);
    const text = (data ?? '').replaceAll(uid, '').replace('"units":"gm"', `"units":"${units}"`);
    found.set(objectId, createHash('sha256').update(text).digest('hex'));
  }
  return found;
}

/** SHA-256 of the rows of an answer. */
async function digestOfRows(): Promise<string> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const row of cdr().stream(MASSES)) {
    hash.update(`${JSON.stringify(row)}\n`);
    count += 1;
  }
  expect(count).toBe(COMPOSITIONS);
  return hash.digest('hex');
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
    await setTimeout(POLL_MS);
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
    await setTimeout(POLL_MS);
  }
}

let neighbours: readonly Neighbour[] = [];

/** Others, of whom one writes to an EHR of its own, one to the EHR whose turn is next, and one reads. */
async function others(): Promise<Neighbour[]> {
  const { id } = await cdr().ehr.create();
  const commitTo = (ehrId: string): Promise<number | null> =>
    timed(() => cdr().request('POST', `/rest/openehr/v1/ehr/${ehrId}/composition`, { body: OTHER }));
  return [
    new Neighbour('a commit to another EHR', () => commitTo(id)),
    new Neighbour('a commit just ahead', async () => {
      const ehrId = await ehrAhead();
      return ehrId === null ? null : commitTo(ehrId);
    }),
    new Neighbour('a read', async () => {
      const stored = await versions().findOne({ template_id: NAME }, { projection: { ehr_id: 1 } });
      if (stored === null) return null;
      const url = `/rest/openehr/v1/ehr/${stored.ehr_id}/composition/${stored._id}`;
      return timed(() => cdr().request('GET', url));
    }),
  ];
}

/** An EHR whose turn is next in the upgrade that goes on; null: none goes on. */
async function ehrAhead(): Promise<string | null> {
  const { connection } = mongoose;
  const jobs = connection.collection<{ _id: string; position: { ehr: string } }>('template_upgrades');
  const job = await jobs.findOne({ state: { $in: ['running', 'undoing'] } });
  if (job === null) return null;
  const ehrs = connection.collection<{ _id: string }>('ehrs');
  const next = await ehrs
    .find({ _id: { $gt: job.position.ehr } }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(AHEAD)
    .toArray();
  return next.at(-1)?._id ?? null;
}

/** EHRs behind the position: its step, or the next one, is about to write to it. */
const AHEAD = 3;

/** Tells how fast some work was, and how long others waited meanwhile. */
async function measured(what: string, work: () => Promise<Stretch | null>): Promise<Stretch | null> {
  neighbours = await others();
  const beside = neighbours.map((each) => each.run());
  const done = await work().finally(() => {
    for (const each of neighbours) each.end();
  });
  await Promise.all(beside);
  const told = neighbours.map(({ name, waits: { count, p99, longest } }) =>
    count === 0 ? '' : `  ${name}: p99 ${p99.toFixed(0)} ms, longest ${longest.toFixed(0)} ms of ${count}\n`,
  );
  const rates =
    done === null
      ? ''
      : `: ${done.rate.toFixed(0)} COMPOSITIONs/s, ${done.rateOfProcessors.toFixed(0)} in a second of processor time ` +
        `(worker ${done.processors.worker.toFixed(1)} s, database ${done.processors.database.toFixed(1)} s)`;
  process.stderr.write(`${what}${rates}\n${told.join('')}`);
  return done;
}

/** Tells what part one rate is of another, and where it is measured that it is enough. */
function compared(what: string, done: Stretch | null, to: Stretch | null, least: number): void {
  const rate = (done?.rate ?? 0) / (to?.rate ?? 1);
  const ofProcessors = (done?.rateOfProcessors ?? 0) / (to?.rateOfProcessors ?? 1);
  process.stderr.write(
    `${what}: ${rate.toFixed(2)} of the import's rate, ${ofProcessors.toFixed(2)} by processor time\n`,
  );
  if (MEASURED !== undefined) expect(rate).toBeGreaterThanOrEqual(least);
}

/** How long a request takes, ms; null: its server was killed, and answers nobody until the next one runs. */
async function timed(ask: () => Promise<unknown>): Promise<number | null> {
  const asked = performance.now();
  try {
    await ask();
    return performance.now() - asked;
  } catch (error) {
    if (error instanceof CdrError && error.code === 'network') return null;
    throw error;
  }
}

const OTHER = aComposition('minimal_observation.en.v1');

it(
  'upgrades what was imported, through a kill, and takes it back to the very bytes',
  async () => {
    await cdr().templates.upload(fixtureText(`opt/${NAME}.opt`));
    await cdr().templates.upload(fixtureText('opt/minimal_observation.en.v1.opt'));
    await measured('nothing', async () => {
      await setTimeout(MEASURED === undefined ? 1_000 : 10_000);
      return null;
    });
    const importing = await measured('import, in this process', async () => {
      const end = await begun(process.pid);
      await imported();
      return end(COMPOSITIONS);
    });
    const [before, inGrams] = [await contents(), await contents('g')];
    const masses = await digestOfRows();
    await cdr().templates.upload(secondOpt('a unit is replaced by another'));
    // Of all data nothing is valid by the second revision as it is.
    const { data } = await cdr().templates.compareData(NAME, { from: '1', to: '2' }, { data: 'all' });
    const judged = await settled(data.job);
    expect(judged).toMatchObject({ valid: 0, invalid: COMPOSITIONS, causes: [{ count: COMPOSITIONS }] });
    const planning = Date.now();
    const plan = await cdr().templates.upgrades.plan(NAME, { rules: RULES });
    process.stderr.write(`plan: ${((Date.now() - planning) / 1_000).toFixed(1)} s\n`);
    expect(plan).toMatchObject({ valid: 0, mappable: COMPOSITIONS, invalid: 0 });

    const { hash } = plan;
    let job = '';
    const upgrade = await measured('upgrade, without its kill', async () => {
      job = await cdr().templates.upgrades.begin(NAME, { rules: RULES, hash });
      const toKill = await begun(server.process.pid!);
      const { upgraded: killed } = await until(job, ({ upgraded }) => upgraded > COMPOSITIONS / 4);
      const first = await toKill(killed);
      const death = Date.now();
      await server.kill();
      server = await startServerProcess(env);
      for (const each of neighbours) each.isCold();
      const { state, upgraded: stood } = await cdr().templates.upgrades.get(NAME, job);
      expect(state).toBe('running');
      await cdr().templates.upgrades.steer(NAME, job, 'resume');
      const { upgraded: again } = await until(job, ({ upgraded }) => upgraded > stood);
      process.stderr.write(
        `it stood still for ${((Date.now() - death) / 1_000).toFixed(1)} s after its kill\n`,
      );
      const toEnd = await begun(server.process.pid!);
      const done = await until(job, (now) => now.state === 'done');
      const end = Date.parse(String(done.finished_at));
      return Stretch.sum([first, await toEnd(COMPOSITIONS - again, end)]);
    });
    compared('upgrade', upgrade, importing, LEAST_RATE);
    if (MEASURED !== undefined)
      for (const { name, waits } of neighbours)
        expect([name, waits.longest <= LONGEST_WAIT_MS, waits.longest]).toEqual([name, true, waits.longest]);
    expect(await cdr().templates.upgrades.get(NAME, job)).toMatchObject({ upgraded: COMPOSITIONS, left: 0 });
    const evaluations = { template_id: NAME };
    expect(await versions().countDocuments(evaluations)).toBe(2 * COMPOSITIONS);
    expect(before.size).toBe(COMPOSITIONS);
    const after = await contents();
    expect([...inGrams].filter(([id, digest]) => after.get(id) !== digest)).toEqual([]);
    expect(await digestOfRows()).toBe(masses);
    expect(await uses()).toEqual([
      ['1', COMPOSITIONS, COMPOSITIONS],
      ['2', COMPOSITIONS, COMPOSITIONS],
    ]);

    const undo = await measured('undo', async () => {
      const end = await begun(server.process.pid!);
      await cdr().templates.upgrades.steer(NAME, job, 'undo');
      const done = await until(job, ({ state }) => state === 'undone');
      return end(COMPOSITIONS, Date.parse(String(done.finished_at)));
    });
    compared('undo', undo, importing, 0);
    expect(await versions().countDocuments(evaluations)).toBe(3 * COMPOSITIONS);
    const undone = await contents();
    expect(undone.size).toBe(COMPOSITIONS);
    expect([...before].filter(([id, digest]) => undone.get(id) !== digest)).toEqual([]);
    expect(await digestOfRows()).toBe(masses);
    expect(await uses()).toEqual([
      ['1', COMPOSITIONS, 2 * COMPOSITIONS],
      ['2', COMPOSITIONS, COMPOSITIONS],
    ]);
    expect((await verifyStorage()).violations).toEqual([]);
  },
  180_000 + COMPOSITIONS * MOST_EACH_MS,
);
