import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { generateKey } from 'openpgp';
import request from 'supertest';
import { canonicalText } from '../../../openehr/base/jcs.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { imported, otherVersion } from '../../support/imported-version.js';
import { emptied, exported } from '../../support/interchange.js';
import { statusOf } from '../../support/merge-http.js';
import { answersTo, questionsOf } from '../../support/migrate/answers.js';
import {
  givenOldStore,
  here,
  movable,
  OPEN,
  SYSTEM,
  there,
  useMoves,
  type OldStore,
} from '../../support/migrate/old-store.js';
import { givenEhr, givenTemplate, V1, versionedObjectUidOf, type Json } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const { given, migrated, migratedAs, local, file } = useMoves();
let store: OldStore;
let questions: string[] = [];
/** What the old server says to these. */
let answers: string[] = [];

beforeAll(async () => {
  store = await givenOldStore();
  questions = questionsOf(store.lines);
  answers = await answersTo(there, questions);
});
beforeEach(() => emptied());

it('brings what another server shows as it was made, and nothing twice', async () => {
  const { lines, ehrId, deleted } = store;
  const peer = await given(lines, OPEN);
  const first = await migrated(peer);
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
  const again = await migrated(peer, '--report', file('report'));
  expect(JSON.parse(readFileSync(file('report'), 'utf8'))).toMatchObject({
    kind: 'migration',
    // Nobody may see the seals of that server.
    seal_before: null,
    answers: { count: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    result: { ehrs: 2, runs: 1, imported: 0, failed: 0, missing: 0 },
  });
  expect(again.stdout).toMatch(/2 EHRs read\n0 imported, \d+ there already, 0 failed/);
  expect(peer.asked.every((line) => line.startsWith('GET '))).toBe(true);
});

it('writes nothing for who may not restore', async () => {
  const { code, stderr } = await migratedAs('WRITER', await given(store.lines, OPEN));
  expect([code, stderr]).toEqual([1, expect.stringContaining('restore')]);
  expect((await request(here).get(`${V1}/definition/template/adl1.4`)).body).toEqual([]);
});

it('writes to the database itself, and signs its report with the key that signs VERSIONs', async () => {
  const { privateKey } = await generateKey({ userIDs: [{ name: 'server' }], format: 'armored' });
  const [ring, report, changed] = ['ring.asc', 'signed', 'changed'].map(file) as [string, string, string];
  writeFileSync(ring, privateKey);
  const signing = { SIGNING: 'pgp', SIGNING_KEYS_FILE: ring };
  const peer = await given(store.lines, OPEN);
  const files = ['--progress', file('own-progress'), '--errors', file('own-errors')];
  const moved = await local(
    ['migrate', '--from', peer.url, '--local', ...files, '--report', report],
    signing,
  );
  expect(moved.code === 0 ? '' : moved.stderr).toBe('');
  expect(movable(await exported())).toEqual(movable(store.lines));
  const verified = await local(['verify', '--report', report], signing);
  expect([verified.code, verified.stderr]).toEqual([0, expect.stringContaining('its signature: verified')]);
  const text = readFileSync(report, 'utf8');
  expect(JSON.parse(text)).toMatchObject({ seal_before: expect.stringMatching(/^\d+:[0-9a-f]{64}$/) });
  writeFileSync(changed, text.replace('"failed": 0', '"failed": 1'));
  expect((await local(['verify', '--report', changed], signing)).stderr).toContain('another digest');
  // Whoever changes it can make the digest anew, and no signature.
  const { sha256, signature, ...proof } = JSON.parse(text) as Json;
  const other = { ...proof, other: 'http://elsewhere' };
  const digest = createHash('sha256').update(canonicalText(other)).digest('hex');
  expect(digest).not.toBe(sha256);
  writeFileSync(changed, JSON.stringify({ ...other, sha256: digest, signature }));
  const refused = await local(['verify', '--report', changed], signing);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not what was signed')]);
  // Its heads are those of a chain that is no more.
  await emptied();
  expect((await local(['verify', '--report', report], signing)).code).toBe(1);
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
  const { code, stderr } = await migrated(await given(old, { lists: true }));
  expect(code === 0 ? '' : stderr).toBe('');
  expect(movable(await exported())).toEqual(movable(old));
});

it('says that it cannot find what was deleted where nobody lists CONTRIBUTIONs', async () => {
  const { code, stdout } = await migrated(await given(store.lines));
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('of 2 EHRs the other server lists no CONTRIBUTIONs'),
  ]);
  const path = `${V1}/ehr/${store.ehrId}/composition/${store.deleted}`;
  expect((await request(here).get(path)).status).toBe(404);
});

it('makes a deletion that only the history tells of', async () => {
  const { code, stderr } = await migrated(await given(store.lines, { ...OPEN, hidesDeletions: true }));
  expect(code === 0 ? '' : stderr).toBe('');
  expect(movable(await exported())).toEqual(movable(store.lines));
});

it('finds when versions of a directory came where nobody tells who made them, or commits it as it is', async () => {
  const told = await migrated(await given(store.lines));
  expect([told.code === 0 ? '' : told.stderr, told.stdout]).toEqual([
    '',
    expect.stringContaining('of 3 versions of directories the other server tells when'),
  ]);
  const asked = questions.filter((question) => question.includes('/directory'));
  expect(asked.length).toBeGreaterThan(5);
  expect(await answersTo(here, asked)).toEqual(
    answers.filter((answer) => asked.includes(answer.split(' ')[0] ?? '')),
  );
  expect((await migrated(await given(store.lines))).stdout).toMatch(/2 EHRs read\n.*\n.*\n0 imported/);
  await emptied();
  const peer = await given(store.lines, { hidesDirectories: true });
  expect((await migrated(peer)).stdout).toContain('1 directories were committed as they are now');
  const { body } = await request(here).get(`${V1}/ehr/${store.ehrId}/directory`);
  expect(body).toMatchObject({
    name: { value: 'third' },
    uid: { value: expect.stringContaining('::local.cdr::1') },
  });
  expect((await migrated(peer)).stdout).not.toContain('directories were committed');
});

it.each([
  { rows: 10, refuses: true },
  { rows: 1, refuses: false },
])('reads all pages of a server that gives few rows at once: %j', async (most) => {
  const moved = await migrated(await given(store.lines, { ...OPEN, most }));
  expect(moved.code === 0 ? '' : moved.stderr).toBe('');
  expect(movable(await exported())).toEqual(movable(store.lines));
});

it('comes through failures of the old server, with its password', async () => {
  const peer = await given(store.lines, { ...OPEN, failsEvery: 7, basic: 'old:secret' });
  expect((await migrated(peer)).stderr).toContain('answered 401');
  const moved = await migrated(peer, '--from-user', 'old:secret');
  expect(moved.code === 0 ? '' : moved.stderr).toBe('');
  expect(movable(await exported())).toEqual(movable(store.lines));
});

it('shows the old server a token', async () => {
  const peer = await given(store.lines, { ...OPEN, token: 'of-the-old-one' });
  const moved = await migrated(peer, '--from-token', 'of-the-old-one');
  expect([moved.code === 0 ? '' : moved.stderr, moved.stdout]).toEqual([
    '',
    expect.stringContaining('2 EHRs read'),
  ]);
});

it('reads several EHRs at once, or as many as it is told', async () => {
  const alone = await given(store.lines, OPEN);
  expect((await migrated(alone, '--parallel', '1')).code).toBe(0);
  expect(alone.most()).toBe(1);
  const waiting: (() => void)[] = [];
  // Nobody gets an EHR before both are asked for.
  const both = await given(store.lines, {
    ...OPEN,
    waits: async (path) => {
      if (!path.includes('?include=')) return;
      const gate = new Promise<void>((resolve) => waiting.push(resolve));
      if (waiting.length === 2) for (const open of waiting) open();
      await gate;
    },
  });
  expect((await migrated(both)).code).toBe(0);
  expect(both.most()).toBeGreaterThan(1);
});

it('says what was named and not shown', async () => {
  const hidden = versionedObjectUidOf(store.deleted);
  const { code, stderr } = await migrated(await given(store.lines, { hidden: [hidden], lists: true }));
  expect([code, stderr]).toEqual([1, expect.stringContaining(`versioned_composition/${hidden}`)]);
  expect((await request(here).get(`${V1}/ehr/${store.ehrId}`)).status).toBe(200);
});

it('leaves an EHR where it is whose subject another one has here, or moves it without', async () => {
  await givenTemplate(here);
  await givenEhr(here, statusOf('p2'));
  const peer = await given(store.lines, OPEN);
  const kept = await migrated(peer);
  expect([kept.code, kept.stderr]).toEqual([
    1,
    expect.stringContaining('the subject of EHR … is that of EHR … here'),
  ]);
  const ehrs = async (): Promise<number> =>
    (await exported()).filter((line) => line.startsWith('{"kind":"ehr"')).length;
  expect(await ehrs()).toBe(2);
  const dropped = await migrated(peer, '--subject', 'drop');
  expect(dropped.code === 0 ? '' : dropped.stderr).toBe('');
  expect(await ehrs()).toBe(3);
  expect((await exported()).filter((line) => line.includes('"subject_dropped":true'))).toHaveLength(1);
});

it('leaves an EHR where it is whose content breaks rules, or keeps it marked', async () => {
  const { ehrId } = store;
  const broken = store.lines.map((line) =>
    line.startsWith('{"kind":"version"') && line.includes(`"ehr_id":"${ehrId}"`)
      ? line.replace('"_type":"EVALUATION"', '"_type":"EVALUATION","unknown":1')
      : line,
  );
  expect(broken).not.toEqual(store.lines);
  const useless = JSON.stringify({
    ...{ kind: 'template', template_id: 'useless', created_timestamp: '2026-01-01T00:00:00Z' },
    opt: '<template/>',
  });
  const rehearsal = await migrated(await given([useless, ...broken], { lists: true }), '--dry-run');
  expect([rehearsal.code, rehearsal.stdout]).toEqual([
    0,
    expect.stringMatching(/^2 EHRs, 2 templates, 1 stored queries\nrefused: template useless: \S/),
  ]);
  expect(rehearsal.stdout).toMatch(/4 break rules, and move with --lenient only/);
  expect(rehearsal.stdout).toMatch(/\nto read all takes about \d+ (seconds|minutes)\n$/);
  expect(movable(await exported())).toHaveLength(1);
  const peer = await given(broken, { lists: true });
  const strict = await migrated(peer);
  expect([strict.code, strict.stderr]).toEqual([1, expect.stringContaining('--lenient keeps it, marked')]);
  expect(JSON.parse(readFileSync(file('errors'), 'utf8').split('\n')[0]!)).toMatchObject({
    ehr_id: ehrId,
    status: 422,
  });
  expect((await request(here).get(`${V1}/ehr/${ehrId}`)).status).toBe(404);
  const lenient = await migrated(peer, '--lenient');
  expect(lenient.code === 0 ? '' : lenient.stderr).toBe('');
  expect((await verifyStorage()).acceptedVersions).toBe(4);
});
