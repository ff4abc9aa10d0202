import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withoutAttributes } from '../../../openehr/rm/access.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { Contribution } from '../../../models/contribution.js';
import { Version } from '../../../models/version.js';
import { compositionsOfPatient, seededRandom } from '../../../cli/demo/patient.js';
import { runCommand } from '../../support/process/command-line.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { statusOf } from '../../support/merge-http.js';

useDatabase();

const TEMPLATES = [
  'ehrbase_blood_pressure_simple.de.v0',
  'Corona_Anamnese',
  'ehrbase_multi_occurrence.de.v1',
];
const folder = mkdtempSync(join(tmpdir(), 'everchart-import-'));
const file = join(folder, 'records.ndjson');
const own = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri() };
const run = (...args: string[]) =>
  runCommand([...args, '--local'], { ...own, MONGODB_DATABASE: testDatabaseName() });

beforeAll(async () => {
  const opts = TEMPLATES.map((name) =>
    fileURLToPath(new URL(`../../fixtures/openehr/opt/${name}.opt`, import.meta.url)),
  );
  expect((await run('template', 'upload', ...opts)).code).toBe(0);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('import --local', () => {
  it('commits whole batches, the good records of a batch with a bad one, and nothing twice', async () => {
    const ehrId = randomUUID();
    const compositions = compositionsOfPatient(seededRandom(5), 12);
    compositions[6] = withoutAttributes(compositions[6]!, ['content']);
    const lines = compositions.map((composition) => JSON.stringify({ ehr_id: ehrId, composition }));
    writeFileSync(file, lines.join('\n'));
    const first = await run('import', file, '--batch', '4');
    expect([first.code, first.stdout]).toEqual([
      1,
      expect.stringMatching(/^11 imported, 0 there already, 1 failed/),
    ]);
    const errors = readFileSync(`${file}.import-errors.ndjson`, 'utf8').trim().split('\n');
    expect(errors.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        line: 7,
        ehr_id: ehrId,
        status: 422,
        message: expect.any(String),
        validationErrors: [expect.any(String)],
      },
    ]);
    const contributions = await Contribution.find({ ehr_id: ehrId }).sort({ time_committed: 1 }).exec();
    // The EHR, a whole batch, three by themselves, a whole batch: as over HTTP, since one record is bad.
    expect(contributions.map(({ versions }) => versions.length)).toEqual([1, 4, 1, 1, 1, 4]);
    for (const { audit } of contributions.slice(1)) {
      expect(audit).toMatchObject({ committer: { name: 'everchart' }, change_type: { value: 'creation' } });
    }
  });

  it('commits several EHRs in one transaction, each with its own CONTRIBUTIONs, and the others of a bad one', async () => {
    const ehrIds = Array.from({ length: 4 }, () => randomUUID());
    const compositions = compositionsOfPatient(seededRandom(7), 12);
    compositions[11] = withoutAttributes(compositions[11]!, ['content']);
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      name: { value: 'EHR Status' },
      subject: { _type: 'PARTY_SELF' },
      is_queryable: true,
      is_modifiable: true,
      other_details: {
        _type: 'ITEM_TREE',
        archetype_node_id: 'at0001',
        name: { value: 'tree' },
        items: [],
      },
    };
    const lines = [
      { ehr_id: ehrIds[0], ehr_status: status },
      ...compositions.map((composition, index) => ({ ehr_id: ehrIds[index % 4], composition })),
    ];
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const { stdout } = await run('import', file, '--batch', '2');
    expect(stdout).toMatch(/^12 imported, 0 there already, 1 failed/);
    for (const [index, ehrId] of ehrIds.entries()) {
      const found = await Contribution.find({ ehr_id: ehrId }).exec();
      const sizes = found.map(({ versions }) => versions.length).toSorted();
      expect(sizes).toEqual(index === 3 ? [1, 2] : [1, 1, 2]);
    }
    const given = await Version.findOne({ ehr_id: ehrIds[0]!, type: 'EHR_STATUS' }).exec();
    expect(given?.data).toContain('"other_details"');
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('makes no EHR whose EHR_STATUS stands in a broken line, and has the others whole', async () => {
    const [whole, cut] = [randomUUID(), randomUUID()];
    const compositions = compositionsOfPatient(seededRandom(8), 4);
    const lines = [
      JSON.stringify({ ehr_id: cut, ehr_status: statusOf(cut) }).slice(0, 120),
      ...compositions.map((composition, at) => JSON.stringify({ ehr_id: [whole, cut][at % 2], composition })),
    ];
    writeFileSync(file, lines.join('\n'));
    const { code, stdout } = await run('import', file);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^2 imported, 0 there already, 3 failed/)]);
    const errors = readFileSync(`${file}.import-errors.ndjson`, 'utf8').trim().split('\n');
    expect(errors.map((line) => JSON.parse(line) as unknown)).toMatchObject(
      [1, 3, 5].map((line) => ({ line, ehr_id: cut })),
    );
    expect(await Version.countDocuments({ ehr_id: cut }).exec()).toBe(0);
    expect(await Version.countDocuments({ ehr_id: whole, type: 'COMPOSITION' }).exec()).toBe(2);
  });

  it('goes on after an interruption and makes nothing twice', async () => {
    const ehrId = randomUUID();
    const compositions = compositionsOfPatient(seededRandom(6), 9);
    writeFileSync(
      file,
      compositions.map((c) => `${JSON.stringify({ ehr_id: ehrId, composition: c })}\n`).join(''),
    );
    const begun = { importId: randomUUID(), startedAt: new Date().toISOString(), position: 0, errorBytes: 0 };
    const progress = JSON.stringify({ ...begun, imported: 0, unchanged: 0, failed: 0, refusedEhrs: [] });
    writeFileSync(`${file}.import-progress.json`, progress);
    expect((await run('import', file)).stdout).toMatch(/^9 imported/);
    // As if the process had died just before it could note that the part is done.
    writeFileSync(`${file}.import-progress.json`, progress);
    expect((await run('import', file)).stdout).toMatch(/^0 imported, 9 there already, 0 failed/);
    expect(await Contribution.countDocuments({ ehr_id: ehrId }).exec()).toBe(2);
  });
});
