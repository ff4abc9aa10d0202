import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import type { JsonObject } from '../../../openehr/base/json.js';
import { withoutAttributes } from '../../../openehr/rm/access.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { realComposition, compositionsOfPatient, seededRandom } from '../../../cli/demo/patient.js';
import { testApp, useServer } from '../../support/app.js';
import { runCommand, runHere } from '../../support/process/command-line.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { statusOf } from '../../support/merge-http.js';

useDatabase();

const OPTS = fileURLToPath(new URL('../../fixtures/openehr/opt', import.meta.url));
const TEMPLATES = [
  'ehrbase_blood_pressure_simple.de.v0',
  'Corona_Anamnese',
  'ehrbase_multi_occurrence.de.v1',
];
const folder = mkdtempSync(join(tmpdir(), 'everchart-cli-'));
const file = (name: string): string => join(folder, name);

const server = useServer(testApp());
const marked = useServer(testApp({ csvBom: true }));
const run = (...args: string[]) => runHere(...args, '--url', server.url);

beforeAll(async () => {
  const { code } = await run('template', 'upload', ...TEMPLATES.map((name) => `${OPTS}/${name}.opt`));
  expect(code).toBe(0);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compositions = compositionsOfPatient(seededRandom(11), 30);
const ndjson = (records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

async function api(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(`${server.url}/rest/openehr/v1${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as JsonObject) };
}

async function compositionCount(ehrId: string): Promise<number> {
  const { body } = await api('GET', `/ehr/${ehrId}?include=compositions`);
  return (body.compositions as unknown[]).length;
}

describe('exit codes and help', () => {
  it('answers 0 for help and version, 2 for wrong usage, 1 for a failure', async () => {
    expect((await runHere('--help')).code).toBe(0);
    expect((await runHere('import', '--help')).stdout).toContain('"ehr_id": "…", "composition"');
    expect((await runHere('--version')).stdout).toMatch(/^\d+\.\d+\.\d+/);
    expect((await runHere()).code).toBe(2);
    expect((await runHere('improt')).code).toBe(2);
    expect((await runHere('import')).code).toBe(2);
    expect((await runHere('import', 'x', '--dry-run')).code).toBe(2);
    expect((await runHere('query', 'SELECT e FROM EHR e', '--format', 'xml')).code).toBe(2);
    expect((await runHere('query', 'SELECT e FROM EHR e', '--local', '--url', server.url)).code).toBe(2);
    expect((await run('import', file('missing.ndjson'))).code).toBe(1);
    const wrong = await run('query', 'SELECT FROM');
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('line 1');
    const away = await runHere('query', 'SELECT e FROM EHR e', '--url', 'http://127.0.0.1:1');
    expect([away.code, away.stderr.startsWith('cannot reach http://127.0.0.1:1')]).toEqual([1, true]);
  });
});

describe('template', () => {
  it('lists, uploads and prints templates; the same text again is unchanged, another one of its id fails', async () => {
    const list = await run('template', 'list');
    for (const name of TEMPLATES) expect(list.stdout).toContain(name);
    const again = await run('template', 'upload', `${OPTS}/${TEMPLATES[0]!}.opt`);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('.opt: unchanged')]);
    const changed = readFileSync(`${OPTS}/${TEMPLATES[0]!}.opt`, 'utf8').replace(
      '</template>',
      '\n</template>',
    );
    writeFileSync(file('changed.opt'), changed);
    const refused = await run('template', 'upload', file('changed.opt'));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('409')]);
    const opt = await run('template', 'get', TEMPLATES[0]!);
    expect(opt.stdout).toBe(readFileSync(`${OPTS}/${TEMPLATES[0]!}.opt`, 'utf8'));
  });
});

describe('import', () => {
  it('creates EHRs with their ids and commits compositions in batches', async () => {
    const ehrIds = [randomUUID(), randomUUID()];
    const records = compositions.map((composition, index) => ({ ehr_id: ehrIds[index % 2], composition }));
    writeFileSync(file('two.ndjson'), ndjson(records));
    const { code, stdout } = await run('import', file('two.ndjson'), '--batch', '4');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^30 imported, 0 there already, 0 failed/)]);
    for (const ehrId of ehrIds) expect(await compositionCount(ehrId)).toBe(15);
    const { body } = await api('GET', `/ehr/${ehrIds[0]!}?include=contributions`);
    expect(body.contributions).toHaveLength(1 + 4);
  });

  it('lets only bad records fail and names them with status, message and findings', async () => {
    const ehrId = randomUUID();
    const withoutContent = withoutAttributes(compositions[1]!, ['content']);
    const withoutLanguage = withoutAttributes(compositions[2]!, ['language']);
    const lines = [
      JSON.stringify({ ehr_id: ehrId, composition: compositions[0] }),
      JSON.stringify({ ehr_id: ehrId, composition: withoutContent }),
      JSON.stringify({ ehr_id: ehrId, composition: withoutLanguage }),
      '{"ehr_id": "broken',
      JSON.stringify({ composition: compositions[0] }),
      JSON.stringify({ ehr_id: ehrId, flat: {}, template_id: 'unknown' }),
      JSON.stringify({ ehr_id: ehrId, composition: compositions[3] }),
    ];
    const latin1 = JSON.stringify({ ehr_id: ehrId, composition: compositions[4] }).replace(
      'composer',
      'cömposer',
    );
    const bytes = [Buffer.from(`${lines.join('\n')}\n`), Buffer.from(`${latin1}\n`, 'latin1')];
    writeFileSync(file('bad.ndjson'), Buffer.concat(bytes));
    const { code, stdout } = await run('import', file('bad.ndjson'));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^2 imported, 0 there already, 6 failed/)]);
    expect(await compositionCount(ehrId)).toBe(2);
    const errors = readFileSync(`${file('bad.ndjson')}.import-errors.ndjson`, 'utf8')
      .trim()
      .split('\n');
    const found = errors.map((line) => JSON.parse(line) as JsonObject);
    expect(found.map(({ line, status }) => [line, status])).toEqual([
      [2, 422],
      [3, 400],
      [4, 400],
      [5, 400],
      [6, 422],
      [8, 400],
    ]);
    expect(found[5]!.message).toBe('the record is not UTF-8 text');
    expect(found[0]!.validationErrors).not.toHaveLength(0);
  });

  it('names the line and the cause of what is broken, and leaves nothing of it, nor an EHR without its EHR_STATUS', async () => {
    const [whole, cut, known, halved] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await api('PUT', `/ehr/${known}`);
    const versionOf = (data: unknown) => ({ data, commit_audit: { change_type: { value: 'creation' } } });
    const contribution = {
      _type: 'CONTRIBUTION',
      versions: [versionOf(compositions[0]), versionOf(withoutAttributes(compositions[1]!, ['content']))],
    };
    const lines = [
      JSON.stringify({ ehr_id: whole, ehr_status: statusOf(whole) }),
      JSON.stringify({ ehr_id: whole, composition: compositions[2] }),
      // What a copy that ended too early, or a damaged disk, leaves of a line.
      JSON.stringify({ ehr_id: cut, ehr_status: statusOf(cut) }).slice(0, 120),
      JSON.stringify({ ehr_id: cut, composition: compositions[3] }),
      JSON.stringify({ ehr_id: cut, composition: compositions[4] }),
      JSON.stringify({ ehr_id: known, ehr_status: statusOf(known) }).slice(0, 120),
      JSON.stringify({ ehr_id: known, composition: compositions[5] }),
      JSON.stringify({ ehr_id: halved, ehr_status: statusOf(halved) }),
      JSON.stringify({ ehr_id: halved, contribution }),
      JSON.stringify({ ehr_id: halved, composition: compositions[6] }).slice(0, -40),
    ];
    writeFileSync(file('cut.ndjson'), lines.join('\n'));
    const { code, stdout } = await run('import', file('cut.ndjson'));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^4 imported, 0 there already, 6 failed/)]);
    const errors = readFileSync(`${file('cut.ndjson')}.import-errors.ndjson`, 'utf8')
      .trim()
      .split('\n');
    const lost =
      'its EHR_STATUS could not be read, and the server has no such EHR: it is not made without one';
    const broken = expect.stringContaining('JSON');
    expect(errors.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { line: 3, ehr_id: cut, status: 400, message: broken },
      { line: 4, ehr_id: cut, status: 409, message: lost },
      { line: 5, ehr_id: cut, status: 409, message: lost },
      { line: 6, ehr_id: known, status: 400, message: broken },
      { line: 9, ehr_id: halved, status: 400 },
      { line: 10, ehr_id: halved, status: 400, message: broken },
    ]);
    expect((await api('GET', `/ehr/${cut}`)).status).toBe(404);
    expect([
      await compositionCount(whole),
      await compositionCount(known),
      await compositionCount(halved),
    ]).toEqual([1, 1, 0]);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('reads a folder: compositions, FLAT and contributions, the EHR from the folder name', async () => {
    const ehrId = randomUUID();
    mkdirSync(join(folder, 'files', ehrId), { recursive: true });
    const put = (name: string, value: unknown): void =>
      writeFileSync(join(folder, 'files', ehrId, name), JSON.stringify(value));
    put('1.json', realComposition('ehrbase_multi_occurrence.de.v1'));
    put(
      '2.json',
      JSON.parse(readFileSync('test/fixtures/openehr/flat/ehrbase_multi_occurrence.de.v1.json', 'utf8')),
    );
    const audit = {
      _type: 'AUDIT_DETAILS',
      change_type: {
        _type: 'DV_CODED_TEXT',
        value: 'creation',
        defining_code: { terminology_id: { value: 'openehr' }, code_string: '249' },
      },
    };
    put('3.json', {
      _type: 'CONTRIBUTION',
      versions: [{ _type: 'ORIGINAL_VERSION', commit_audit: audit, data: compositions[0] }],
    });
    const { code, stdout } = await run(
      'import',
      join(folder, 'files'),
      '--template-id',
      'ehrbase_multi_occurrence.de.v1',
    );
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^3 imported/)]);
    expect(await compositionCount(ehrId)).toBe(3);
  });

  it('goes on after an interruption and makes nothing twice', async () => {
    const ehrId = randomUUID();
    writeFileSync(
      file('again.ndjson'),
      ndjson(compositions.map((composition) => ({ ehr_id: ehrId, composition }))),
    );
    const progress = `${file('again.ndjson')}.import-progress.json`;
    const state = { importId: randomUUID(), startedAt: new Date().toISOString(), position: 0, errorBytes: 0 };
    const fresh = JSON.stringify({ ...state, imported: 0, unchanged: 0, failed: 0, refusedEhrs: [] });
    writeFileSync(progress, fresh);
    expect((await run('import', file('again.ndjson'))).code).toBe(0);
    // As if the process had died just before it could note that the part is done.
    writeFileSync(progress, fresh);
    const replayed = await run('import', file('again.ndjson'));
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringMatching(/^30 imported/)]);
    // The same after the keys have expired: the object ids tell.
    writeFileSync(progress, fresh);
    const rebatched = await run('import', file('again.ndjson'), '--batch', '7');
    expect([rebatched.code, rebatched.stdout]).toEqual([0, expect.stringMatching(/^0 imported, 30 there/)]);
    expect(await compositionCount(ehrId)).toBe(30);
  });

  it('refuses all records of an EHR that cannot be created', async () => {
    const subject = {
      id: { _type: 'GENERIC_ID', value: randomUUID(), scheme: 's' },
      namespace: 'n',
      type: 'PERSON',
    };
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      name: { value: 'EHR Status' },
      subject: { _type: 'PARTY_SELF', external_ref: { _type: 'PARTY_REF', ...subject } },
      is_queryable: true,
      is_modifiable: true,
    };
    await api('POST', '/ehr', status);
    const ehrId = randomUUID();
    const records = [
      { ehr_id: ehrId, ehr_status: status },
      { ehr_id: ehrId, composition: compositions[0] },
    ];
    writeFileSync(file('subject.ndjson'), ndjson(records));
    expect((await run('import', file('subject.ndjson'))).stdout).toMatch(
      /^0 imported, 0 there already, 2 failed/,
    );
    expect((await api('GET', `/ehr/${ehrId}`)).status).toBe(404);
  });
});

describe('query', () => {
  it('prints a table, CSV and NDJSON', async () => {
    const count = async (format: string): Promise<string> =>
      (await run('query', 'SELECT COUNT(*) AS n FROM EHR e', '--format', format)).stdout;
    expect(await count('table')).toMatch(/^n\n-+\n +\d+|^n\n-+\n\d+/);
    expect(await count('csv')).toMatch(/^n\r?\n\d+/);
    expect(JSON.parse(await count('ndjson'))).toEqual({ n: expect.any(Number) });
  });

  it('marks formulas in CSV as text, and keeps the byte order mark of the server', async () => {
    await api('PUT', `/ehr/${randomUUID()}`);
    const q = "SELECT '=1+1' AS n, '-x' AS m FROM EHR e LIMIT 1";
    const rows = "n,m\r\n'=1+1,'-x\r\n";
    expect((await run('query', q, '--format', 'csv')).stdout).toBe(rows);
    const { stdout } = await runHere('query', q, '--format', 'csv', '--url', marked.url);
    expect(stdout).toBe(`\ufeff${rows}`);
  });

  it('takes parameters, one EHR, a file and writes to a file', async () => {
    const ehrId = randomUUID();
    await api('PUT', `/ehr/${ehrId}`);
    writeFileSync(file('q.aql'), 'SELECT e/ehr_id/value AS id FROM EHR e WHERE e/ehr_id/value = $id');
    const output = file('rows.ndjson');
    const { code } = await run(
      ...['query', '--file', file('q.aql'), '--param', `id=${ehrId}`],
      ...['--ehr', ehrId, '--format', 'ndjson', '--output', output],
    );
    expect([code, readFileSync(output, 'utf8')]).toEqual([0, `{"id":"${ehrId}"}\n`]);
    expect((await run('query', 'SELECT bogus', '--output', output)).code).toBe(1);
    expect(readFileSync(output, 'utf8')).not.toBe('');
  });
});

describe('export', () => {
  const own = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: '' };

  it('gives lines that import to equal content, in another database too', async () => {
    const ehrId = randomUUID();
    await prepareEhr(ehrId);
    const exported = file('one.ndjson');
    const done = await run('export', '--ehr', ehrId, '--output', exported);
    const text = readFileSync(exported, 'utf8');
    // Outside a terminal too: whoever wrote a file knows how much is in it.
    const counts = `1 EHR, ${text.trimEnd().split('\n').length} records\n`;
    expect([done.code, done.stdout, done.stderr]).toEqual([0, '', counts]);
    for (const part of ['"links"', '"feeder_audit"', '"participations"', '"episode"', 'Süd 3', '"553"'])
      expect(text).toContain(part);
    expect((await run('import', exported)).stdout).toMatch(/^0 imported, 5 there already, 0 failed/);

    const other = { ...own, MONGODB_DATABASE: `${testDatabaseName()}_o`, SYSTEM_ID: 'other.system' };
    const opts = TEMPLATES.map((name) => `${OPTS}/${name}.opt`);
    expect((await runCommand(['template', 'upload', '--local', ...opts], other)).code).toBe(0);
    const checked = await runCommand(['import', '--local', '--dry-run', exported], other);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^5 valid/)]);
    const imported = await runCommand(['import', '--local', exported], other);
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringMatching(/^5 imported/)]);
    const back = await runCommand(['export', '--local'], other);
    expect(contentOf(back.stdout)).toEqual(contentOf(readFileSync(exported, 'utf8')));
    const verified = await runCommand(['verify'], other);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('no violation')]);
    const since = await runCommand(['verify', '--since', `7:${'0'.repeat(64)}`], other);
    const missing = 'seal_blocks: the blocks up to 7 are missing';
    expect([since.code, since.stdout]).toEqual([1, expect.stringContaining(missing)]);
    const nonsense = await runCommand(['verify', '--since', '7'], other);
    expect([nonsense.code, nonsense.stderr]).toEqual([2, expect.stringContaining('a head of the seals is')]);
    const pruned = await runCommand(['audit', 'prune', '--before', '2000-01-01T00:00:00Z'], other);
    expect([pruned.code, pruned.stdout]).toEqual([0, '0 audit records were removed\n']);
    expect((await runCommand(['audit', 'prune', '--before', 'yesterday'], other)).code).toBe(2);
    // As a release wrote it that knew nothing of who committed in what AQL reads.
    const stored = mongoose.connection.useDb(other.MONGODB_DATABASE);
    await stored.collection('aql').updateMany({}, { $unset: { by: '' } });
    await stored.collection('settings').updateMany({}, { $unset: { committers: '' } });
    const added = /^[1-9]\d* documents name who committed them now/;
    expect((await runCommand(['reindex', '--access'], other)).stdout).toMatch(added);
    expect((await runCommand(['reindex', '--access'], other)).stdout).toMatch(/^0 documents name/);
    expect((await runCommand(['reindex'], other)).stdout).toMatch(/^1 EHRs, \d+ documents rebuilt/);
    await mongoose.connection.useDb(other.MONGODB_DATABASE).dropDatabase();
  });

  it('gives the rows of a query', async () => {
    for (const ehrId of [randomUUID(), randomUUID()]) await api('PUT', `/ehr/${ehrId}`);
    const { stdout } = await run('export', '--query', 'SELECT e/ehr_id/value AS id FROM EHR e LIMIT 2');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => Object.keys(JSON.parse(line) as object)),
    ).toEqual([['id'], ['id']]);
  });

  /**
   * Three compositions, one with links, feeder audit and a participation, one incomplete; a directory of two levels
   * that names a composition; an EHR that may not be changed any more, with details.
   */
  async function prepareEhr(ehrId: string): Promise<void> {
    const incomplete = withoutAttributes(compositions[1]!, ['content']);
    const versionedObjectUid = randomUUID();
    const records = [
      {
        ehr_id: ehrId,
        composition: { ...withProvenance(compositions[0]!), uid: { value: versionedObjectUid } },
      },
      { ehr_id: ehrId, composition: incomplete, lifecycle_state: '553' },
      { ehr_id: ehrId, composition: compositions[2] },
      {
        ehr_id: ehrId,
        directory: {
          _type: 'FOLDER',
          archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
          name: { value: 'root' },
          folders: [
            {
              _type: 'FOLDER',
              archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
              name: { value: 'episode' },
              items: [
                {
                  _type: 'OBJECT_REF',
                  id: { _type: 'HIER_OBJECT_ID', value: versionedObjectUid },
                  namespace: 'local',
                  type: 'VERSIONED_COMPOSITION',
                },
              ],
            },
          ],
        },
      },
      {
        ehr_id: ehrId,
        ehr_status: {
          _type: 'EHR_STATUS',
          archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
          name: { value: 'EHR Status' },
          subject: { _type: 'PARTY_SELF' },
          is_queryable: false,
          is_modifiable: false,
          other_details: {
            _type: 'ITEM_TREE',
            archetype_node_id: 'at0001',
            name: { value: 'details' },
            items: [
              {
                _type: 'ELEMENT',
                archetype_node_id: 'at0002',
                name: { value: 'ward' },
                value: { _type: 'DV_TEXT', value: 'Süd 3' },
              },
            ],
          },
        },
      },
    ];
    writeFileSync(file('prepared.ndjson'), ndjson(records));
    expect((await run('import', file('prepared.ndjson'))).stdout).toMatch(/^5 imported/);
  }

  /** The composition with what tells where it comes from and what it belongs to. */
  function withProvenance(composition: JsonObject): JsonObject {
    const text = (value: string) => ({ _type: 'DV_TEXT', value });
    const target = { _type: 'DV_EHR_URI', value: 'ehr://other.system/1' };
    return {
      ...composition,
      links: [{ _type: 'LINK', meaning: text('follow-up'), type: text('problem'), target }],
      feeder_audit: {
        _type: 'FEEDER_AUDIT',
        originating_system_audit: { _type: 'FEEDER_AUDIT_DETAILS', system_id: 'laboratory', version_id: '7' },
        original_content: { _type: 'DV_PARSABLE', value: 'MSH|^~\\&|', formalism: 'HL7v2' },
      },
      context: {
        ...(composition.context as JsonObject),
        participations: [
          {
            _type: 'PARTICIPATION',
            function: text('requester'),
            performer: { _type: 'PARTY_IDENTIFIED', name: 'Dr. Ada' },
          },
        ],
      },
    };
  }

  /** Without what names the system and the version; the object id of an EHR_STATUS is the server's. */
  function contentOf(lines: string): string[] {
    return lines
      .trim()
      .split('\n')
      .map((line) =>
        line
          .replaceAll(/::[\w.]+::\d+/g, '')
          .replace(/("ehr_status":\{"_type":"EHR_STATUS","uid":)\{[^}]*\}/, '$1{}'),
      );
  }
});
