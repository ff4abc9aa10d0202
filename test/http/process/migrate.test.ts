import type { ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKey } from 'openpgp';
import request from 'supertest';
import { canonicalText } from '../../../openehr/base/jcs.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { folder, givenDirectory, givenTag, givenUpdate, statusOf } from '../../support/merge-http.js';
import { answersTo, questionsOf } from '../../support/migrate/answers.js';
import { oldPeer, type OldPeer, type PeerManners } from '../../support/migrate/old-peer.js';
import { firstSeed } from '../../support/laws.js';
import { spawnEverchart } from '../../support/process/command.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { imported, otherVersion } from '../../support/imported-version.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

/* The old server is made of what this product exports under another system id, and answers as EHRbase does. */

useDatabase();
const SYSTEM = 'local.ehrbase.org';
const there = testApp({ systemId: SYSTEM });
const here = testApp();
const place = mkdtempSync(join(tmpdir(), 'everchart-migrate-'));
const peers: OldPeer[] = [];
let lines: string[] = [];
let ehrId = '';
let deleted = '';
let between = '';
let questions: string[] = [];
/** What the old server says to these. */
let answers: string[] = [];
let env: Record<string, string> = {};

/** Two EHRs: one with a COMPOSITION in three versions, one that was deleted, two EHR_STATUSes and a directory in three versions. */
beforeAll(async () => {
  env = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  await emptied(SYSTEM);
  await givenTemplate(there);
  await request(there)
    .put(`${V1}/definition/query/org.example::all/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT e FROM EHR e');
  ehrId = await givenEhr(there, statusOf('p1'));
  let uid = await givenComposition(there, ehrId);
  uid = await givenUpdate(there, ehrId, uid, aComposition());
  await givenUpdate(there, ehrId, uid, aComposition());
  deleted = await givenComposition(there, ehrId);
  await request(there).delete(`${V1}/ehr/${ehrId}/composition/${deleted}`);
  const path = `${V1}/ehr/${ehrId}/ehr_status`;
  const { headers } = await request(there).get(path);
  await request(there).put(path).set('If-Match', headers.etag!).send(statusOf('p1'));
  await new Promise((resolve) => setTimeout(resolve, 5));
  between = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await givenComposition(there, await givenEhr(there, statusOf('p2')));
  let directory = await givenDirectory(there, ehrId, folder('root'));
  for (const name of ['second', 'third']) directory = await changedDirectory(directory, folder(name));
  await givenTag(there, { ehrId, type: 'composition', uid: versionedObjectUidOf(uid) }, 'k');
  lines = await exported();
  questions = questionsOf(lines);
  answers = await answersTo(there, questions);
});

async function changedDirectory(uid: string, root: object): Promise<string> {
  const answer = await request(there)
    .put(`${V1}/ehr/${ehrId}/directory`)
    .set('If-Match', `"${uid}"`)
    .send(root);
  return versionUidOf(answer);
}
afterEach(async () => {
  for (const { server } of peers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

async function given(manners: PeerManners = {}, of: readonly string[] = lines): Promise<OldPeer> {
  const peer = await oldPeer(of, manners);
  peers.push(peer);
  return peer;
}

const MIGRATE = ['migrate', '--from'];
const COMPARE = ['compare', '--with'];
const FILES = ['--progress', join(place, 'progress'), '--errors', join(place, 'errors')];

const run = (
  peer: OldPeer,
  args: readonly string[] = [],
  further: Record<string, string> = {},
): Promise<CommandResult> =>
  runCommand([...MIGRATE, peer.url, '--local', ...FILES, ...args], { ...env, ...further });

/** What of an export a migration brings: nothing that ITS-REST does not show. */
function movable(all: readonly string[]): string[] {
  return all
    .filter((line) => !line.startsWith('{"kind":"end"'))
    .map((line) => line.replace(/,"authenticated":\{[^}]*\}/, ''));
}

describe('compare', () => {
  const served = useServer(here);
  const compared = (peer: OldPeer, ...args: string[]): Promise<CommandResult> =>
    runCommand([...COMPARE, peer.url, '--url', served.url, ...args]);

  it('finds nothing after a migration, and each thing that differs', async () => {
    await emptied();
    const peer = await given({ lists: true });
    await run(peer);
    const queries = join(place, 'queries');
    writeFileSync(queries, 'SELECT COUNT(c/uid/value) FROM EHR e CONTAINS COMPOSITION c\n');
    const report = join(place, 'comparison');
    const same = await compared(peer, '--queries', queries, '--report', report);
    // Nobody may see the seals of that server.
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
      ...{ kind: 'comparison', seal_before: null, result: { ehrs: 2, counts: {}, differences: [] } },
    });
    // Whoever compares again gets the same digest of what is the same.
    const again = join(place, 'again');
    await compared(peer, '--queries', queries, '--report', again);
    const answersIn = (file: string): unknown =>
      (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>).answers;
    expect(answersIn(again)).toEqual(answersIn(report));
    expect([same.code === 0 ? '' : same.stderr, same.stdout]).toEqual([
      '',
      '2 EHRs compared, 0 differences\n',
    ]);
    const without = lines.filter((line) => !line.includes(deleted.replace(/1$/, '2')));
    const changed = without.map((line) =>
      line.startsWith('{"kind":"version"') ? line.replace('"category":', '"categories":') : line,
    );
    const output = join(place, 'differences');
    const found = await compared(await given({ lists: true }, changed), '--output', output);
    expect(found.code).toBe(1);
    const kinds = readFileSync(output, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    // The deletion is missing there, so that one more is alive.
    expect(new Set(kinds)).toEqual(new Set(['version list', 'content', 'CONTRIBUTION', 'rows']));
    expect(found.stderr).toMatch(/content: \S+ at \/data\/categor/);
    // It had none when this one was read.
    const tagged = await compared(await given({ lists: true, hasTags: true }));
    expect([tagged.code, tagged.stdout]).toEqual([
      1,
      expect.stringMatching(/1 differences\n {2}1 × item tags/),
    ]);
    const empty = await compared(
      await given(
        {},
        lines.filter((line) => !line.includes('"ehr_id"')),
      ),
    );
    expect([empty.code, empty.stdout]).toEqual([1, expect.stringContaining('2 × only here')]);
  });
});

describe('migrate', () => {
  it('brings what another server shows as it was made, and nothing twice', async () => {
    await emptied();
    const peer = await given({ lists: true, hasTags: true });
    const first = await run(peer);
    expect([first.code === 0 ? '' : first.stderr, first.stdout]).toEqual([
      '',
      expect.stringMatching(/^batch \S+\n2 EHRs read\n\d+ imported, 0 there already, 0 failed/),
    ]);
    expect(movable(await exported())).toEqual(movable(lines));
    expect(lines.filter((line) => line.startsWith('{"kind":"item_tag"'))).toHaveLength(1);
    // Deletions have a history too.
    const history = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(deleted)}/revision_history`;
    expect((await request(here).get(history)).body).toMatchObject({
      items: [{ version_id: { value: deleted } }, { version_id: { value: deleted.replace(/1$/, '2') } }],
    });
    const { body } = await request(here).get(`${V1}/ehr/${ehrId}/directory`);
    expect(body).toMatchObject({
      name: { value: 'third' },
      uid: { value: expect.stringContaining(`::${SYSTEM}::3`) },
    });
    expect(await answersTo(here, questions)).toEqual(answers);
    const report = join(place, 'report');
    const again = await run(peer, ['--report', report]);
    const proven = await runCommand(['verify', '--report', report], env);
    expect([proven.code, proven.stderr]).toEqual([0, expect.stringContaining('its signature: absent')]);
    const changed = join(place, 'changed');
    writeFileSync(changed, readFileSync(report, 'utf8').replace('"failed": 0', '"failed": 1'));
    expect((await runCommand(['verify', '--report', changed], env)).stderr).toContain('another digest');
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
      kind: 'migration',
      seal_before: expect.stringMatching(/^\d+:[0-9a-f]{64}$/),
      answers: { count: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      result: { ehrs: 2, imported: 0, failed: 0, missing: 0 },
    });
    expect(again.stdout).toMatch(/2 EHRs read\n0 imported, \d+ there already, 0 failed/);
    expect(peer.asked.every((line) => line.startsWith('GET '))).toBe(true);
  });

  it('brings an IMPORTED_VERSION as one', async () => {
    await emptied(SYSTEM);
    await givenTemplate(there);
    const mover = { rolePermissions: { MOVER: ['restore', 'read', 'write'] }, auth: 'jwt' } as const;
    const { status } = await request(testApp({ ...WITH_ADMIN, systemId: SYSTEM, ...mover }))
      .post(`${V1}/ehr/${await givenEhr(there)}/contribution`)
      .set('Authorization', bearer(['MOVER'], 'mover'))
      .send({ versions: [imported(otherVersion({ uuid: randomUUID(), number: 1 }))] });
    expect(status).toBe(201);
    const old = await exported();
    expect(old.some((line) => line.includes('IMPORTED_VERSION'))).toBe(true);
    await emptied();
    const { code, stderr } = await run(await given({ lists: true }, old));
    expect(code === 0 ? '' : stderr).toBe('');
    expect(movable(await exported())).toEqual(movable(old));
  });

  it('signs its report with the key that signs VERSIONs', async () => {
    const { privateKey } = await generateKey({ userIDs: [{ name: 'server' }], format: 'armored' });
    const [ring, report] = [join(place, 'ring.asc'), join(place, 'signed')];
    writeFileSync(ring, privateKey);
    const signing = { SIGNING: 'pgp', SIGNING_KEYS_FILE: ring };
    const moved = await run(await given({ lists: true }), ['--report', report], signing);
    expect(moved.code === 0 ? '' : moved.stderr).toBe('');
    const verified = await runCommand(['verify', '--report', report], { ...env, ...signing });
    expect([verified.code, verified.stderr]).toEqual([0, expect.stringContaining('its signature: verified')]);
    // Whoever changes it can make the digest anew, and no signature.
    const { sha256, signature, ...proof } = JSON.parse(readFileSync(report, 'utf8')) as Json;
    const changed = { ...proof, other: 'http://elsewhere' };
    const digest = createHash('sha256').update(canonicalText(changed)).digest('hex');
    expect(digest).not.toBe(sha256);
    writeFileSync(report, JSON.stringify({ ...changed, sha256: digest, signature }));
    const refused = await runCommand(['verify', '--report', report], { ...env, ...signing });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not what was signed')]);
  });

  it('says that it cannot find what was deleted where nobody lists CONTRIBUTIONs', async () => {
    await emptied();
    const { code, stdout } = await run(await given());
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('of 2 EHRs the other server lists no CONTRIBUTIONs'),
    ]);
    expect((await request(here).get(`${V1}/ehr/${ehrId}/composition/${deleted}`)).status).toBe(404);
  });

  it('makes a deletion that only the history tells of', async () => {
    await emptied();
    const { code, stderr } = await run(await given({ hidesDeletions: true, lists: true, hasTags: true }));
    expect(code === 0 ? '' : stderr).toBe('');
    expect(movable(await exported())).toEqual(movable(lines));
  });

  it('finds when versions of a directory came where nobody tells who made them, or commits it as it is', async () => {
    await emptied();
    const told = await run(await given());
    expect([told.code === 0 ? '' : told.stderr, told.stdout]).toEqual([
      '',
      expect.stringContaining('of 3 versions of directories the other server tells when'),
    ]);
    const asked = questions.filter((question) => question.includes('/directory'));
    expect(asked.length).toBeGreaterThan(5);
    expect(await answersTo(here, asked)).toEqual(
      answers.filter((answer) => asked.includes(answer.split(' ')[0] ?? '')),
    );
    expect((await run(await given())).stdout).toMatch(/2 EHRs read\n.*\n.*\n0 imported/);
    await emptied();
    const peer = await given({ hidesDirectories: true });
    expect((await run(peer)).stdout).toContain('1 directories were committed as they are now');
    const { body } = await request(here).get(`${V1}/ehr/${ehrId}/directory`);
    expect(body).toMatchObject({
      name: { value: 'third' },
      uid: { value: expect.stringContaining('::local.cdr::1') },
    });
    expect((await run(peer)).stdout).not.toContain('directories were committed');
  });

  it('takes what was deleted there after a pass, though nothing lists it any more', async () => {
    await emptied();
    const isDeletion = (line: string): boolean => line.includes(deleted.replace(/1$/, '2'));
    const peer = await given(
      { hidesDeletions: true },
      lines.filter((line) => !isDeletion(line)),
    );
    expect((await run(peer)).code).toBe(0);
    const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(deleted)}`;
    expect((await request(here).get(path)).status).toBe(200);
    peer.holds(lines);
    const last = await run(peer);
    expect(last.code === 0 ? '' : last.stderr).toBe('');
    expect((await request(here).get(path)).status).toBe(204);
    const history = questions.filter((question) => question.includes('revision_history'));
    expect(await answersTo(here, history)).toEqual(
      answers.filter((answer) => history.includes(answer.split(' ')[0] ?? '')),
    );
  });

  it.each([
    { rows: 10, refuses: true },
    { rows: 1, refuses: false },
  ])('reads all pages of a server that gives few rows at once: %j', async (most) => {
    await emptied();
    const moved = await run(await given({ most, lists: true, hasTags: true }));
    expect(moved.code === 0 ? '' : moved.stderr).toBe('');
    expect(movable(await exported())).toEqual(movable(lines));
  });

  it('comes through failures of the old server, with its password', async () => {
    await emptied();
    const peer = await given({ failsEvery: 7, basic: 'old:secret', lists: true, hasTags: true });
    expect((await run(peer)).stderr).toContain('answered 401');
    const moved = await run(peer, ['--from-user', 'old'], { EVERCHART_FROM_PASSWORD: 'secret' });
    expect(moved.code === 0 ? '' : moved.stderr).toBe('');
    expect(movable(await exported())).toEqual(movable(lines));
  });

  it('goes on after it was killed, wherever that was', async () => {
    const random = new Random(firstSeed());
    const whole = await given({ lists: true, hasTags: true });
    await emptied();
    expect((await run(whole)).code).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      await emptied();
      const last = 1 + random.below(whole.asked.length);
      const killed: { child?: ChildProcess } = {};
      const peer = await given({
        ...{ lists: true, hasTags: true },
        onAsked: (count) => count === last && killed.child?.kill('SIGKILL'),
      });
      const args = [...MIGRATE, peer.url, '--local', ...FILES];
      killed.child = spawnEverchart(args, env, { stdio: 'ignore' });
      await once(killed.child, 'close');
      expect([last, killed.child.signalCode]).toEqual([last, 'SIGKILL']);
      const { code, stderr } = await run(peer);
      expect([last, code === 0 ? '' : stderr]).toEqual([last, '']);
      expect([last, movable(await exported())]).toEqual([last, movable(lines)]);
    }
  }, 600_000);

  it('reads with --since the EHRs that were changed', async () => {
    await emptied();
    const peer = await given();
    expect((await run(peer, ['--since', between])).stdout).toMatch(/1 EHRs read/);
    expect((await run(peer)).stdout).toMatch(/2 EHRs read/);
  });

  it('says what was named and not shown', async () => {
    await emptied();
    const { code, stderr } = await run(await given({ hidden: [versionedObjectUidOf(deleted)], lists: true }));
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`versioned_composition/${versionedObjectUidOf(deleted)}`),
    ]);
    expect((await request(here).get(`${V1}/ehr/${ehrId}`)).status).toBe(200);
  });

  it('leaves an EHR where it is whose content breaks rules, or keeps it marked', async () => {
    const broken = lines.map((line) =>
      line.startsWith('{"kind":"version"') && line.includes(`"ehr_id":"${ehrId}"`)
        ? line.replace('"_type":"EVALUATION"', '"_type":"EVALUATION","unknown":1')
        : line,
    );
    expect(broken).not.toEqual(lines);
    await emptied();
    const peer = await given({ lists: true }, broken);
    const rehearsal = await run(peer, ['--dry-run']);
    expect([rehearsal.code, rehearsal.stdout]).toEqual([
      0,
      expect.stringMatching(/^2 EHRs, 1 templates, 1 stored queries\n/),
    ]);
    expect(rehearsal.stdout).toMatch(/4 break rules, and move with --lenient only/);
    const strict = await run(peer);
    expect([strict.code, strict.stderr]).toEqual([1, expect.stringContaining('--lenient keeps it, marked')]);
    expect(JSON.parse(readFileSync(join(place, 'errors'), 'utf8').split('\n')[0]!)).toMatchObject({
      ehr_id: ehrId,
      status: 422,
    });
    expect((await request(here).get(`${V1}/ehr/${ehrId}`)).status).toBe(404);
    const lenient = await run(peer, ['--lenient']);
    expect(lenient.code === 0 ? '' : lenient.stderr).toBe('');
    expect((await verifyStorage()).acceptedVersions).toBe(4);
  });
});
