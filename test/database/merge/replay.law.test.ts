import { setTimeout } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { changeContext } from '../../../change/commit/context.js';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { repairMerges } from '../../../merge/repair.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { Script } from '../../support/merge/replay-script.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/** Scripts. */
const SIZES = { small: 60, full: 1_000 };

/** Of the scripts at least so many have to take a merge back: what took nothing back proves nothing. */
const TAKEN_BACK = 0.6;

/** Scripts at once: each waits for the database, or for a merge in steps, most of its time. */
const LANES = 4;

/** Between two seals, in milliseconds. */
const SEAL_MS = 500;

/** Scripts that failed, shown before the law gives up. */
const SHOWN = Number(process.env['LAW_SHOWN'] ?? 3);

useDatabase();
const apps = { whole: testApp(WITH_ADMIN), steps: testApp({ ...WITH_ADMIN, mergeStepsFrom: 0 }) };
beforeAll(async () => {
  await sealBaseline();
  await givenMergeTemplates(apps.whole);
});

/** How many scripts took something back, and of how many everything was compared. */
const seen = { undone: 0, whole: 0 };

async function failureOf(seed: number, app: typeof apps.whole): Promise<string | null> {
  const script = new Script(seed, app);
  try {
    await script.run();
    await script.expectReplay();
    if (script.undone > 0) seen.undone += 1;
    if (script.undone > 0 && !script.leftOut.lists && !script.leftOut.directories) seen.whole += 1;
    await script.keepWhatIsInTheWay();
    return null;
  } catch (error) {
    return `LAW_SEED=${seed} ${JSON.stringify(script.told)}\n${String(error)}`;
  }
}

async function harms(): Promise<unknown[]> {
  const context = { change: changeContext(testSettings()), retries: 3, stepsFrom: 1_000 };
  const found: unknown[] = [];
  for await (const { ehrId, latest } of repairMerges(context, 'none')) found.push([ehrId, latest._id]);
  return found;
}

/** Seals what is new, as a server does, until told to end: so most of what moves was sealed before. */
async function seal(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sealNewRecords();
    await setTimeout(SEAL_MS);
  }
}

/** Tries scripts, some at a time: what failed. */
async function tried(scripts: readonly (readonly [number, number])[]): Promise<string[]> {
  const failed: string[] = [];
  const left = [...scripts];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && failed.length < SHOWN; next = left.shift()) {
      const [index, seed] = next;
      const failure = await failureOf(seed, index % 10 === 9 ? apps.steps : apps.whole);
      if (failure !== null) failed.push(failure);
    }
  };
  const state = { isOver: false };
  const sealing = seal(() => state.isOver);
  await Promise.all(Array.from({ length: LANES }, lane));
  state.isOver = true;
  await sealing;
  return failed;
}

/** Nothing stored is wrong, by the seals too, nor left by an undo as older releases left it. */
async function expectSound(): Promise<void> {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
  expect(await harms()).toEqual([]);
}

it(`after any merges and unmerges every EHR is what the remaining merges alone would give (${draws(SIZES)} scripts)`, async () => {
  const scripts = [...seeds(SIZES).entries()];
  expect(await tried(scripts)).toEqual([]);
  await expectSound();
  process.stderr.write(`${scripts.length} scripts: ${JSON.stringify(seen)}\n`);
  // One script that is repeated may be any.
  if (scripts.length > 1) expect(seen.undone).toBeGreaterThanOrEqual(scripts.length * TAKEN_BACK);
}, 14_400_000);
