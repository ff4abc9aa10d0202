import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { statusOf } from '../../support/merge-http.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp();
const folder = mkdtempSync(join(tmpdir(), 'everchart-versions-'));
const file = join(folder, 'store.ndjson');
const packed = join(folder, 'store.ndjson.gz');
const run = (...args: string[]): Promise<CommandResult> =>
  runCommand([...args, '--local'], {
    LOG_LEVEL: 'warn',
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
  });
let ehrIds: string[] = [];
let drafts = 0;
/** Typed, and not saved. */
const DRAFTED = 'nobody but the writer sees this';

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  ehrIds = [await givenEhr(app, statusOf('p1')), await givenEhr(app, statusOf('p2'))];
  for (const ehrId of ehrIds) await givenComposition(app, ehrId);
  await request(app)
    .put(`/rest/draft/${ehrIds[0]!}/${randomUUID()}`)
    .send({ template_id: 'minimal_evaluation.en.v1', version_uid: null, content: { 'typed/and': DRAFTED } });
  drafts = await mongoose.connection.collection('drafts').countDocuments({});
  expect((await run('export', '--all-versions', '--output', file)).code).toBe(0);
  expect((await run('export', '--all-versions', '--compress', 'gzip', '--output', packed)).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The file with other lines, and the last line that they need. */
function written(name: string, change: (lines: string[]) => string[]): string {
  const lines = change(readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1));
  const text = lines.map((line) => `${line}\n`).join('');
  const end = { kind: 'end', lines: lines.length, sha256: createHash('sha256').update(text).digest('hex') };
  const path = join(folder, name);
  writeFileSync(path, `${text}${JSON.stringify(end)}\n`);
  return path;
}

describe('export --all-versions', () => {
  beforeEach(async () => {
    if ((await mongoose.connection.collection('ehrs').countDocuments({})) === 2) return;
    await emptied();
    expect((await run('import', file)).code).toBe(0);
  });

  it('holds nothing that was typed and not saved', async () => {
    expect(drafts).toBe(1);
    const { stdout } = await run('export');
    for (const text of [readFileSync(file, 'utf8'), stdout]) {
      expect(text.length).toBeGreaterThan(100);
      expect(text).not.toContain(DRAFTED);
    }
  });

  it('writes a file of this user alone, which is the same when nothing has changed', async () => {
    const again = join(folder, 'again.ndjson');
    const { code, stderr } = await run('export', '--all-versions', '--output', again);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/2 EHRs, 13 lines\n/)]);
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
    expect(statSync(again).mode & 0o777).toBe(0o600);
  });

  it('takes EHRs by name, by a query and by time, and compresses', async () => {
    const [first = '', second = ''] = ehrIds;
    const one = await run('export', '--all-versions', '--ehr', first, '--ehr', second);
    const q = `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = '${first}'`;
    const queried = await run('export', '--all-versions', '--query', q);
    const ehrsOf = ({ stdout }: CommandResult): number => stdout.split('{"kind":"ehr"').length - 1;
    expect([ehrsOf(one), ehrsOf(queried)]).toEqual([2, 1]);
    expect(gunzipSync(readFileSync(packed)).equals(readFileSync(file))).toBe(true);
    const none = await run('export', '--all-versions', '--since', '2100-01-01T00:00:00Z');
    expect([none.code, ehrsOf(none)]).toEqual([0, 0]);
  });

  it('has who did what where it is asked for, before its last line, and never else', async () => {
    const kinds = (text: string): string[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { kind: string }).kind);
    const { code, stdout } = await run('export', '--all-versions', '--audit');
    expect([code, kinds(stdout).at(-1)]).toEqual([0, 'end']);
    expect(kinds(stdout).filter((kind) => kind === 'audit').length).toBeGreaterThan(0);
    expect(kinds(readFileSync(file, 'utf8'))).not.toContain('audit');
  });

  it('is refused over HTTP, and so are options that go with it alone', async () => {
    const refused = await runCommand(['export', '--all-versions']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('needs --local')]);
    expect((await run('export', '--since', '2100-01-01T00:00:00Z')).code).toBe(2);
    expect((await run('export', '--ehr', 'a', '--ehr', 'b')).code).toBe(2);
  });
});

describe('import of an export of all versions', () => {
  it('restores it, compressed or not, names its batch, and says what is there already', async () => {
    await emptied();
    const first = await run('import', packed);
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringMatching(/^batch [0-9a-f-]{36}\n11 imported, 0 there already, 0 failed/),
    ]);
    const again = await run('import', file);
    expect(again.stdout).toMatch(/0 imported, 11 there already, 0 failed/);
    const { body } = await request(app).get(`${V1}/ehr/${ehrIds[0]!}`);
    expect(body).toMatchObject({ ehr_id: { value: ehrIds[0] } });
    const out = join(folder, 'out');
    await run('export', '--all-versions', '--output', out);
    expect(readFileSync(out).equals(readFileSync(file))).toBe(true);
  });

  it('takes members of lines in any order, and lines of several EHRs mixed', async () => {
    await emptied();
    const reversed = (line: string): string =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line) as object).reverse()));
    const path = written('mixed', (lines) => {
      const isOf = (line: string, ehrId: string): boolean => line.includes(`"${ehrId}"`);
      const [one, other] = ehrIds.map((ehrId) => lines.filter((line) => isOf(line, ehrId)));
      const before = lines.filter((line) => !ehrIds.some((ehrId) => isOf(line, ehrId)));
      return [...before, ...one!.flatMap((line, index) => [line, other![index]!])].map(reversed);
    });
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    writeFileSync(path, [...lines.slice(0, -1), reversed(lines.at(-1)!), ''].join('\n'));
    expect(lines[0]).toMatch(/^\{"version":1/u);
    const { code, stdout, stderr } = await run('import', path);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/11 imported, 0 there already, 0 failed/u);
    const out = join(folder, 'out');
    await run('export', '--all-versions', '--output', out);
    expect(readFileSync(out).equals(readFileSync(file))).toBe(true);
  });

  it('refuses a file that was cut or changed before anything is written', async () => {
    await emptied();
    const text = readFileSync(file, 'utf8');
    const wrong = [
      text.slice(0, text.lastIndexOf('{"kind":"end"')),
      text.replace('"p1"', '"p3"'),
      readFileSync(packed).subarray(0, -100),
    ];
    for (const [index, one] of wrong.entries()) {
      const path = join(folder, `wrong-${index}`);
      writeFileSync(path, one);
      const { code, stderr } = await run('import', path);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/no last line|not what was exported|unexpected end of file/),
      ]);
    }
    expect(await mongoose.connection.collection('ehrs').countDocuments({})).toBe(0);
  });

  it('goes on without the EHR of which a line is refused, counts causes, and stops for too many', async () => {
    await emptied();
    const [first = '', second = ''] = [...ehrIds].sort();
    const path = written('half', (lines) =>
      lines.map((line) =>
        line.startsWith(`{"kind":"contribution","ehr_id":"${first}"`)
          ? line.replace('"audit"', '"odd"')
          : line,
      ),
    );
    const { code, stdout, stderr } = await run('import', path);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/6 imported, 0 there already, 5 failed/)]);
    expect(stderr).toMatch(/2 × 400 audit is missing, first in line \d+\n/);
    const errors = readFileSync(`${path}.import-errors.ndjson`, 'utf8').trim().split('\n');
    expect(JSON.parse(errors[0]!)).toMatchObject({ ehr_id: first, line: expect.any(Number) });
    const found = await mongoose.connection.collection<{ _id: string }>('ehrs').distinct('_id');
    expect(found).toEqual([second]);
    expect((await run('import', path, '--max-errors', '1')).stderr).toMatch(/stopped after record/);
  });

  it('is taken back by its batch, when that is agreed to', async () => {
    await emptied();
    const [, batch = ''] = /^batch (\S+)/.exec((await run('import', file)).stdout) ?? [];
    expect((await run('import', '--undo', batch)).stderr).toContain('--yes');
    const undone = await run('import', '--undo', batch, '--yes');
    expect([undone.code, undone.stdout]).toEqual([0, '2 EHRs erased, 0 kept\n']);
    expect((await run('import', '--undo', batch, '--yes')).code).toBe(1);
    expect((await run('import')).code).toBe(2);
  });

  it('takes no options that say how something is committed', async () => {
    for (const option of [['--new-ids'], ['--dry-run'], ['--ehr', ehrIds[0]!], ['--validation', 'lenient']])
      expect((await run('import', file, ...option)).code).toBe(2);
  });
});

describe('import of an export of all versions through a server', () => {
  const rolePermissions = { MOVER: ['restore'] } as const;
  const served = useServer(testApp({ ...WITH_ADMIN, rolePermissions }));
  const there = (role: string, ...args: string[]): Promise<CommandResult> =>
    runCommand([...args, '--url', served.url], { EVERCHART_TOKEN: bearer([role]).slice('Bearer '.length) });

  it('restores the same, and says what is there already', async () => {
    await emptied();
    const first = await there('MOVER', 'import', packed);
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringMatching(/^batch [0-9a-f-]{36}\n11 imported, 0 there already, 0 failed/),
    ]);
    expect((await there('MOVER', 'import', file)).stdout).toMatch(/0 imported, 11 there already, 0 failed/);
    const out = join(folder, 'through');
    await run('export', '--all-versions', '--output', out);
    expect(readFileSync(out).equals(readFileSync(file))).toBe(true);
  });

  it('is refused without the permission, and goes on with it', async () => {
    await emptied();
    const refused = await there('ADMIN', 'import', file);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('permission restore')]);
    expect((await there('MOVER', 'import', file)).stdout).toMatch(/11 imported/);
  });

  it('stops at a conflict, or drops the subject that another EHR has, as it is told', async () => {
    await emptied();
    const other = await givenEhr(app, statusOf('p1'));
    const stopped = await there('MOVER', 'import', file, '--on-conflict', 'fail');
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/stopped after record/)]);
    rmSync(`${file}.import-progress.json`, { force: true });
    const dropped = await there('MOVER', 'import', file, '--subject', 'drop');
    expect([dropped.code, dropped.stdout]).toEqual([0, expect.stringContaining(' 0 failed')]);
    const { body } = await request(app).get(`${V1}/ehr?subject_id=p1&subject_namespace=hospital`);
    expect(body).toMatchObject({ ehr_id: { value: other } });
  });
});
