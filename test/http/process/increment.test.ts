import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { givenUpdate, merge, statusOf, unmerge } from '../../support/merge-http.js';
import { runHere, type CommandResult } from '../../support/process/command-line.js';
import { aComposition, givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

/* A store that moves with little interruption: everything, then what was changed since. */

useDatabase();
const app = testApp(WITH_ADMIN);
const rolePermissions = { MOVER: ['restore', 'read'] } as const;
const served = useServer(testApp({ ...WITH_ADMIN, rolePermissions, auth: 'jwt' }));
const MOVER = bearer(['MOVER'], 'mover').replace('Bearer ', '');
const place = mkdtempSync(join(tmpdir(), 'everchart-increment-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

let ehrIds: string[] = [];
let uids: string[] = [];
let since = new Date();
let full: string[] = [];

beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  ehrIds = [await givenEhr(app, statusOf('p1')), await givenEhr(app, statusOf('p2')), await givenEhr(app)];
  uids = [];
  for (const ehrId of ehrIds) uids.push(await givenComposition(app, ehrId));
  full = await exported();
  await new Promise((resolve) => setTimeout(resolve, 5));
  since = new Date();
});

/** Imports lines through a server. */
function imported(lines: readonly string[], ...args: readonly string[]): Promise<CommandResult> {
  const file = join(place, 'store.ndjson');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return runHere('import', file, '--url', served.url, '--token', MOVER, ...args);
}

it('is brought by a full export, and one of what was changed since', async () => {
  await givenUpdate(app, ehrIds[0]!, uids[0]!, aComposition());
  await givenComposition(app, await givenEhr(app, statusOf('p4')));
  const [increment, whole] = [await exported({ ehrIds: null, since }), await exported()];
  expect(increment.filter((line) => line.startsWith('{"kind":"ehr"'))).toHaveLength(2);
  await emptied();
  const first = await imported(full);
  expect([first.code === 0 ? '' : first.stderr, first.stdout]).toEqual([
    '',
    expect.stringMatching(/^batch \S+\n\d+ imported, 0 there already, 0 failed/),
  ]);
  const second = await imported(increment);
  expect(second.code === 0 ? '' : second.stderr).toBe('');
  expect(await exported()).toEqual(whole);
});

it('is refused where EHRs were merged in between, and nothing of these is half there', async () => {
  expect((await merge(app, ehrIds[2]!, ehrIds[0]!)).status).toBe(200);
  await givenUpdate(app, ehrIds[1]!, uids[1]!, aComposition());
  const increment = await exported({ ehrIds: null, since });
  await emptied();
  expect((await imported(full)).code).toBe(0);
  const { code, stderr } = await imported(increment);
  expect([code, stderr]).toEqual([1, expect.stringContaining('was merged into')]);
  const untouched = (lines: readonly string[]): string[] =>
    lines.filter((line) => [ehrIds[0], ehrIds[2]].some((ehrId) => line.includes(ehrId!)));
  const now = await exported();
  expect(untouched(now)).toEqual(untouched(full));
  expect(now.filter((line) => line.includes(`${uids[1]!.slice(0, -1)}2`)).length).toBeGreaterThan(0);
});

it('is refused where a merge was taken back in between', async () => {
  expect((await merge(app, ehrIds[2]!, ehrIds[0]!)).status).toBe(200);
  full = await exported();
  since = new Date();
  expect((await unmerge(app, ehrIds[2]!, ehrIds[0]!)).status).toBe(200);
  const increment = await exported({ ehrIds: null, since });
  expect(increment.filter((line) => line.startsWith('{"kind":"ehr"'))).toHaveLength(2);
  const [ofTarget, ofSource] = [ehrIds[0]!, ehrIds[2]!].map((ehrId) =>
    exported({ ehrIds: [ehrId], since: null }),
  );
  const files = [increment, await ofTarget!, await ofSource!];
  await emptied();
  expect((await imported(full)).code).toBe(0);
  for (const file of files) {
    const { code, stderr } = await imported(file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('was merged into')]);
    expect(await exported()).toEqual(full);
  }
});

it('leaves an EHR where it is whose subject another one has here, and brings the others', async () => {
  await emptied();
  await givenTemplate(app);
  await givenEhr(app, statusOf('p1'));
  const { code, stdout, stderr } = await imported(full);
  expect([code, stderr]).toEqual([1, expect.stringContaining('the subject of EHR … is that of EHR … here')]);
  expect(stdout).toMatch(/^batch \S+\n/);
  const now = (await exported()).filter((line) => line.startsWith('{"kind":"ehr"'));
  expect(now).toHaveLength(3);
  expect(now.filter((line) => line.includes(ehrIds[0]!))).toEqual([]);
});

it('says its batch also where it ends by an error', async () => {
  await emptied();
  const file = join(place, 'store.ndjson');
  writeFileSync(file, full.map((line) => `${line}\n`).join(''));
  const other = bearer(['USER'], 'ada').replace('Bearer ', '');
  const refused = await runHere('import', file, '--url', served.url, '--token', other);
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/^batch \S+\n/)]);
  // The same import goes on.
  const { code, stdout } = await imported(full);
  expect([code, stdout]).toEqual([0, expect.stringContaining(refused.stdout.split('\n')[0]!)]);
});
