import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { firstSeed } from '../../support/laws.js';
import { folder, givenDirectory, givenUpdate, statusOf } from '../../support/merge-http.js';
import { answersTo, digestOf, questionsOf } from '../../support/migrate/answers.js';
import { oldPeer, type OldPeer, type PeerManners } from '../../support/migrate/old-peer.js';
import { renamed, sections } from '../../support/migrate/renamed.js';
import { spawnEverchart } from '../../support/process/command.js';
import { Random } from '../../support/random.js';
import { aComposition, givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';

/*
 * COMPOSITIONs in three versions each: one EHR is written, the others are made of its lines under other ids. So many as TEST_MIGRATED says; then figures
 * for docs/performance.md are printed.
 */

const { TEST_MIGRATED } = process.env;
const COMPOSITIONS = TEST_MIGRATED === undefined ? 20 : 100;
const EHRS = Math.ceil(Number(TEST_MIGRATED ?? 500) / COMPOSITIONS);
/** EHRs whose every answer is compared. */
const ASKED = 2;
const SYSTEM = 'local.ehrbase.org';

useDatabase();
const there = testApp({ systemId: SYSTEM });
const here = testApp();
const place = mkdtempSync(join(tmpdir(), 'everchart-migrate-'));
const peers: OldPeer[] = [];
let lines: string[] = [];
let questions: string[] = [];
let answers: string[] = [];
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
  await givenDirectory(there, ehrId, folder('root'));
  const written = await exported();
  const begin = written.findIndex((line) => line.startsWith('{"kind":"ehr"'));
  const section = written.slice(begin, -1);
  lines = written.slice(0, begin);
  for (let index = 0; index < EHRS; index += 1) lines.push(...section.map((line) => renamed(line, index)));
  // The old server has all of them, and says what the new one must say.
  await emptied(SYSTEM);
  expect(refusals(await imported(lines))).toEqual([]);
  questions = questionsOf(lines.slice(0, begin + ASKED * section.length));
  answers = await answersTo(there, questions);
  await emptied();
}, 1_200_000);
afterAll(async () => {
  for (const { server } of peers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  rmSync(place, { recursive: true, force: true });
});

async function given(manners: PeerManners): Promise<OldPeer> {
  const peer = await oldPeer(lines, { lists: true, ...manners });
  peers.push(peer);
  return peer;
}

/** A migration; gives its exit code, null when it was killed. `begun`: gets the process. */
async function migrated(
  peer: OldPeer,
  begun: (child: ChildProcess) => void = () => undefined,
): Promise<number | null> {
  const files = ['--progress', join(place, 'progress'), '--errors', join(place, 'errors')];
  const child = spawnEverchart(['migrate', '--from', peer.url, '--local', ...files], env, {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  begun(child);
  await once(child, 'close');
  return child.exitCode;
}

/** Lines by EHR, in the order of the ids of the EHRs, without what ITS-REST does not show. */
function sorted(all: readonly string[]): string[][] {
  const shown = all.map((line) => line.replace(/,"authenticated":\{[^}]*\}/, ''));
  return sections(shown).sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
}

it('moves COMPOSITIONs in three versions each as they were, killed at random places while the old server fails', async () => {
  const random = new Random(firstSeed());
  // Of each version, of histories, and of CONTRIBUTIONs.
  const requests = EHRS * COMPOSITIONS * 6;
  const kills = new Set([random.below(requests), random.below(requests), random.below(requests)]);
  const running: { child?: ChildProcess } = {};
  const peer = await given({
    failsEvery: 97,
    onAsked: (count) => kills.has(count) && running.child?.kill('SIGKILL'),
  });
  let code: number | null = null;
  for (let run = 0; run <= kills.size && code === null; run += 1)
    code = await migrated(peer, (child) => (running.child = child));
  expect([[...kills], code]).toEqual([[...kills], 0]);
  // The same order of objects made at the same time is no promise.
  const [now, old] = [sorted(await exported()), sorted(lines)];
  expect(now.map((section) => section.length)).toEqual(old.map((section) => section.length));
  for (const [index, section] of now.entries()) expect([...section].sort()).toEqual([...old[index]!].sort());
  const moved = await answersTo(here, questions);
  expect(moved.find((answer, index) => answer !== answers[index])).toBeUndefined();
  expect(digestOf(moved)).toBe(digestOf(answers));
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
}, 3_600_000);

const measured = TEST_MIGRATED === undefined ? it.skip : it;
measured(
  'takes so long',
  async () => {
    await emptied();
    const peer = await given({});
    const times: number[] = [];
    for (const turn of ['first pass', 'last pass, nothing new']) {
      const start = performance.now();
      expect([turn, await migrated(peer)]).toEqual([turn, 0]);
      times.push((performance.now() - start) / 1_000);
      const requests = peer.asked.splice(0).length;
      const versions = (EHRS * COMPOSITIONS * 3) / times.at(-1)!;
      process.stdout.write(
        `${turn}: ${EHRS * COMPOSITIONS} COMPOSITIONs in ${times.at(-1)!.toFixed(1)} s, ${versions.toFixed(0)} versions/s, ${requests} requests\n`,
      );
    }
  },
  3_600_000,
);
