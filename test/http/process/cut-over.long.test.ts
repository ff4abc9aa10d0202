import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { folder, givenDirectory, givenUpdate, statusOf } from '../../support/merge-http.js';
import { answersTo, digestOf, questionsOf } from '../../support/migrate/answers.js';
import { oldPeer, type OldPeer } from '../../support/migrate/old-peer.js';
import { runCommand } from '../../support/process/command-line.js';
import { aComposition, givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';

/* docs/migration.md, line by line: its commands are run as they are printed, with the address of a server that plays EHRbase. */

const SYSTEM = 'local.ehrbase.org';
const PRINTED = 'https://old.example/ehrbase/rest/openehr/v1';
const PAGE = readFileSync(new URL('../../../docs/migration.md', import.meta.url), 'utf8');
const COMMANDS = [...PAGE.matchAll(/```sh\n\s*(.*?)\s*```/gs)].map(([, command = '']) => command);

useDatabase();
const there = testApp({ systemId: SYSTEM });
const here = testApp();
const place = mkdtempSync(join(tmpdir(), 'everchart-cut-over-'));
/** What the old server holds at first, after the first pass, and when it is frozen. */
const held: string[][] = [];
let peer: OldPeer;
let changed = '';
let questions: string[] = [];
let answers: string[] = [];

/** Between times: a pass that asks for what came since must find it. */
async function aMoment(): Promise<string> {
  await setTimeout(5);
  const now = new Date().toISOString();
  await setTimeout(5);
  return now;
}

beforeAll(async () => {
  await emptied(SYSTEM);
  await givenTemplate(there);
  await request(there)
    .put(`${V1}/definition/query/org.example::all/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT e FROM EHR e');
  const ehrId = await givenEhr(there, statusOf('p1'));
  const [first, second] = [await givenComposition(there, ehrId), await givenComposition(there, ehrId)];
  const directory = await givenDirectory(there, ehrId, folder('root'));
  await givenComposition(there, await givenEhr(there, statusOf('p2')));
  held.push(await exported());
  changed = await aMoment();
  await givenUpdate(there, ehrId, first, aComposition());
  await givenComposition(there, await givenEhr(there, statusOf('p3')));
  held.push(await exported());
  await aMoment();
  await request(there).delete(`${V1}/ehr/${ehrId}/composition/${second}`);
  await request(there)
    .put(`${V1}/ehr/${ehrId}/directory`)
    .set('If-Match', `"${directory}"`)
    .send(folder('changed'));
  const path = `${V1}/ehr/${ehrId}/ehr_status`;
  const { headers } = await request(there).get(path);
  await request(there).put(path).set('If-Match', headers.etag!).send(statusOf('p1'));
  held.push(await exported());
  // EHRbase tells no CONTRIBUTION of a directory, nor of what was deleted.
  const isMadeUp = (question: string): boolean =>
    question.includes('/contribution/') || question.endsWith(`/version/${second.replace(/1$/, '2')}`);
  questions = questionsOf(held[2]!).filter((question) => !isMadeUp(question));
  answers = await answersTo(there, questions);
  await emptied();
  peer = await oldPeer(held[0]!, { basic: 'reader:secret', hasTags: true, hidesDeletions: true });
});
afterAll(async () => {
  peer.server.closeAllConnections();
  await new Promise((resolve) => peer.server.close(resolve));
  rmSync(place, { recursive: true, force: true });
});

/** Runs the next command of the page; gives what it printed. @throws when it fails, or begins otherwise */
async function next(begins: string, ...changes: readonly (readonly [string, string])[]): Promise<string> {
  const command = COMMANDS.shift() ?? '';
  expect(command).toMatch(new RegExp(`^everchart ${begins}`));
  let text = command.replace(PRINTED, peer.url);
  for (const [printed, own] of changes) {
    expect(text).toContain(printed);
    text = text.replace(printed, own);
  }
  const [, ...args] = text.split(/\s+/);
  const env = {
    ...{ LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() },
    ...{ EVERCHART_FROM_PASSWORD: 'secret', EVERCHART_WITH_PASSWORD: 'secret' },
  };
  const { code, stdout, stderr } = await runCommand(args, env, place);
  expect([command, code, code === 0 ? '' : stderr]).toEqual([command, 0, '']);
  return stdout;
}

const batchIn = (printed: string): string => /^batch (\S+)$/m.exec(printed)?.[1] ?? '';

it('docs/migration.md moves a store as it is printed, and back', async () => {
  const count = COMMANDS.length;
  // 1. Rehearse.
  expect(await next('migrate .*--dry-run')).toContain('2 EHRs, 1 templates, 1 stored queries');
  expect((await request(here).get(`${V1}/definition/template/adl1.4`)).body).toEqual([]);
  // 2. First pass, while the old server runs.
  const first = await next('migrate');
  expect(first).toContain('2 EHRs read');
  // 3. Delta pass.
  peer.holds(held[1]!);
  const delta = await next('migrate .*--since', ['2026-11-27T06:00:00Z', changed]);
  expect(delta).toContain('2 EHRs read');
  // 4. and 5. The old server is frozen; last pass.
  peer.holds(held[2]!);
  const last = await next('migrate .*--report last-pass.json');
  expect(last).toMatch(/3 EHRs read\n[^]* 0 failed/);
  // 6. Compare.
  writeFileSync(join(place, 'queries.aql'), 'SELECT COUNT(c/uid/value) FROM EHR e CONTAINS COMPOSITION c\n');
  const compare = COMMANDS[0]!;
  expect(await next('compare')).toBe('3 EHRs compared, 0 differences\n');
  // 7. Verify.
  expect(await next('verify')).toMatch(/^sealed: \d+:[0-9a-f]{64}[^]*^no violation$/m);
  // 8. Switch: the new server says what the old one did, also of times before the move.
  const moved = await answersTo(here, questions);
  expect(moved).toEqual(answers);
  expect(digestOf(moved)).toBe(digestOf(answers));
  // 9. The old server can be read and compared again; nothing was ever written there.
  COMMANDS.unshift(compare);
  expect(await next('compare')).toContain('0 differences');
  expect(peer.asked.filter((line) => !line.startsWith('GET '))).toEqual([]);
  // 10. Go back.
  const batches = [first, delta, last].map(batchIn);
  const undone = await next(
    'import --undo',
    ...['FIRST', 'DELTA', 'LAST'].map((name, index) => [name, batches[index]!] as const),
  );
  expect(undone).toBe('3 EHRs erased, 0 kept\n');
  // The proof.
  await next('verify --report comparison.json');
  expect([count, COMMANDS]).toEqual([8, []]);
});
