import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import {
  IN_GRAMS,
  massIn,
  notedDigest,
  RevisedData,
  revisionTexts,
} from '../../support/openehr/revised-data.js';
import { aComposition, versionedObjectUidOf, type Json } from '../../support/resources.js';
import { runCommand, runHere } from '../../support/process/command-line.js';
import { ADMIN, USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();

const app = testApp({ ...WITH_ADMIN, templateRevisions: true });
const data = new RevisedData(app);
const server = useServer(app);
const folder = mkdtempSync(join(tmpdir(), 'everchart-revisions-'));
const file = (name: string): string => join(folder, name);
const run = (...args: string[]) =>
  runHere(...args, '--url', server.url, '--token', ADMIN.replace('Bearer ', ''));
const [first, second] = revisionTexts('typed');

beforeEach(async () => {
  await emptied();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('template judge', () => {
  it('says which stored data an OPT would not take, and ends with 1 where there are any', async () => {
    await data.upload(first);
    for (const unit of ['kg', 'gm', 'gm']) await data.commit(massIn(unit, 'typed'));
    writeFileSync(file('second.opt'), second);
    writeFileSync(file('first.opt'), first);
    const broken = await run('template', 'judge', 'typed', file('second.opt'), '--data', 'all');
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('done: 1 valid, 2 not')]);
    expect(broken.stdout).toMatch(/^ +2 +\/content\[openEHR-EHR-EVALUATION\.minimal\.v1\]\/data\[at0001\]/m);
    const same = await run('template', 'judge', 'typed', file('first.opt'), '--json');
    expect([same.code, (JSON.parse(same.stdout) as Json).valid]).toEqual([0, 3]);
    const both = await run('template', 'judge', 'typed', file('first.opt'), '--to', '1');
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('leave the OPT file out')]);
  });
});

describe('template revisions and upgrade', () => {
  it('list what was judged by each, plan, and move data', async () => {
    await data.given('typed', 'gm', 'kg');
    const listed = JSON.parse((await run('template', 'revisions', 'typed', '--json')).stdout) as Json[];
    expect(listed.map(({ revision, compositions }) => [revision, compositions])).toEqual([
      ['2', 0],
      ['1', 2],
    ]);
    writeFileSync(file('rules.json'), JSON.stringify(IN_GRAMS));
    const plan = await run('template', 'upgrade', 'typed', file('rules.json'));
    expect([plan.code, plan.stdout]).toEqual([0, '1 to 2: 1 valid as they are, 1 by the rules, 0 not\n']);
    const done = await run('template', 'upgrade', 'typed', file('rules.json'), '--yes');
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/ done: 1 upgraded, 0 left$/m)]);
    // As if its server had been killed.
    const jobs = mongoose.connection.collection('template_upgrades');
    await jobs.updateOne({}, { $set: { state: 'running' } });
    const running = await run('job', 'list');
    await jobs.updateOne({}, { $set: { state: 'done' } });
    expect([running.code, running.stdout]).toEqual([0, expect.stringMatching(/^template_upgrade .* 2$/m)]);
  });
});

describe('export and import', () => {
  it('keep by which revision a COMPOSITION was judged, or let the newest judge', async () => {
    const [old] = await data.given('typed', 'gm');
    const young = await data.commit(massIn('g', 'typed'), old!.ehrId);
    await data.upload(revisionTexts('other')[0]);
    await data.commit({ ...massIn('kg', 'other') }, old!.ehrId);
    const digests = await Promise.all([old!, young].map(({ uid }) => notedDigest(uid)));
    const exported = file('plain.ndjson');
    expect((await run('export', '--output', exported)).code).toBe(0);
    const lines = readFileSync(exported, 'utf8').trimEnd().split('\n');
    const named = lines.filter((line) => line.includes('"template_revision"'));
    expect(named).toHaveLength(1);
    expect(named[0]).toContain(versionedObjectUidOf(old!.uid));

    const again = async (): Promise<void> => {
      await emptied();
      for (const opt of [first, second, revisionTexts('other')[0]]) await data.upload(opt);
    };
    await again();
    const kept = await run('import', exported);
    expect([kept.code, kept.stdout]).toEqual([
      0,
      expect.stringMatching(/^4 imported, 0 there already, 0 failed/),
    ]);
    expect(await Promise.all([old!, young].map(({ uid }) => notedDigest(uid)))).toEqual(digests);
    // A second time nothing is done.
    expect((await run('import', exported)).stdout).toMatch(/^0 imported, 4 there already, 0 failed/);

    await again();
    const newest = await run('import', exported, '--revision', 'newest');
    expect([newest.code, newest.stdout]).toEqual([
      1,
      expect.stringMatching(/^3 imported, 0 there already, 1 failed/),
    ]);

    await emptied();
    for (const opt of [second, revisionTexts('other')[0]]) await data.upload(opt);
    const missing = await run('import', exported);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('has no revision')]);
  });

  it('say nothing of revisions where there are none', async () => {
    await data.upload(first);
    await data.commit(massIn('kg', 'typed'));
    expect((await run('export')).stdout).not.toContain('template_revision');
    writeFileSync(
      file('beside.ndjson'),
      `${JSON.stringify({ ehr_id: '7d44b88c-4199-4bad-97dc-d78268e01398', ehr_status: aComposition(), template_revision: '1' })}\n`,
    );
    const { code, stderr } = await run('import', file('beside.ndjson'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('beside a composition in canonical JSON only'),
    ]);
  });
});

describe('migrate', () => {
  it('brings all revisions of templates of another everchart, and by which each VERSION was judged', async () => {
    const [old] = await data.given('typed', 'gm');
    const young = await data.commit(massIn('g', 'typed'), old!.ehrId);
    const digests = await Promise.all([old!, young].map(({ uid }) => notedDigest(uid)));
    const target = {
      ...{ LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), SYSTEM_ID: 'new.system' },
      ...{ MONGODB_DATABASE: `${testDatabaseName()}_m`, EVERCHART_FROM_TOKEN: ADMIN.replace('Bearer ', '') },
    };
    const from = ['migrate', '--from', `${server.url}/rest/openehr/v1`, '--local'];
    const files = ['--progress', file('progress'), '--errors', file('errors')];
    const moved = await runCommand([...from, ...files], target);
    expect([moved.code, moved.stderr]).toEqual([0, expect.any(String)]);
    const brought = mongoose.connection.getClient().db(target.MONGODB_DATABASE);
    const versions = brought.collection<{ _id: string; template_digest?: string }>('versions');
    const noted = await Promise.all([old!, young].map(({ uid }) => versions.findOne({ _id: uid })));
    expect(noted.map((version) => version?.template_digest)).toEqual(digests);
    expect(await brought.collection('template_revisions').countDocuments({})).toBe(1);
    const verified = await runCommand(['verify'], target);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('no violation')]);

    // Who may not be told of revisions brings the newest ones, and what was judged by others says nothing of it.
    await brought.dropDatabase();
    const user = { ...target, EVERCHART_FROM_TOKEN: USER.replace('Bearer ', '') };
    const lenient = await runCommand([...from, ...files, '--lenient'], user);
    expect([lenient.code, lenient.stderr]).toEqual([0, expect.any(String)]);
    const without = await Promise.all([old!, young].map(({ uid }) => versions.findOne({ _id: uid })));
    expect(without.map((version) => version?.template_digest)).toEqual([undefined, digests[1]]);
    await brought.dropDatabase();
  });
});
