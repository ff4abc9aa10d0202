import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Version } from '../../../models/version.js';
import { testApp, useServer } from '../../support/app.js';
import { runCommand, runHere } from '../../support/process/command-line.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { aComposition, givenTemplate } from '../../support/resources.js';
import { ADMIN, USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();

const OWN = { own_attribute: { of: 'another server' } };
const LENIENT = ['--validation', 'lenient'];
const folder = mkdtempSync(join(tmpdir(), 'everchart-lenient-'));
const lenient = useServer(testApp({ ...WITH_ADMIN, auth: 'jwt', validation: 'lenient' }));
const strict = useServer(testApp(WITH_ADMIN));
beforeAll(() => givenTemplate(testApp()), 30_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function records(ehrId: string): object[] {
  const status = {
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    name: { _type: 'DV_TEXT', value: 'Status' },
    subject: { _type: 'PARTY_SELF' },
    is_queryable: true,
    is_modifiable: true,
  };
  const directory = {
    _type: 'FOLDER',
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    name: { _type: 'DV_TEXT', value: 'root' },
  };
  return [
    { ehr_id: ehrId, ehr_status: { ...status, ...OWN } },
    { ehr_id: ehrId, composition: aComposition() },
    { ehr_id: ehrId, composition: { ...aComposition(), ...OWN } },
    { ehr_id: ehrId, directory: { ...directory, ...OWN } },
  ];
}

function fileOf(name: string, ehrId: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    records(ehrId)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(''),
  );
  return path;
}

async function found(ehrId: string): Promise<string[]> {
  const accepting = { ehr_id: ehrId, validation_findings: { $ne: null } } as object;
  const versions = await Version.collection.find(accepting).toArray();
  return versions.map(({ type }): string => type).sort();
}

const ALL = ['COMPOSITION', 'EHR_STATUS', 'FOLDER'];
const token = (header: string) => ['--token', header.replace('Bearer ', '')];

describe('import --validation lenient', () => {
  it('accepts over HTTP what a strict import refuses, and nothing twice', async () => {
    const ehrId = randomUUID();
    const file = fileOf('http.ndjson', ehrId);
    const refused = await runHere('import', file, '--url', lenient.url, ...token(ADMIN));
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/^0 imported, .* 4 failed/)]);
    const done = await runHere('import', file, '--url', lenient.url, ...token(ADMIN), ...LENIENT);
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^4 imported/)]);
    expect(await found(ehrId)).toEqual(ALL);
  });

  it('ends at once where the server is strict, or the user no administrator', async () => {
    const file = fileOf('refused.ndjson', randomUUID());
    const ignored = await runHere('import', file, '--url', strict.url, ...LENIENT);
    expect([ignored.code, ignored.stderr]).toEqual([1, expect.stringContaining('VALIDATION of this server')]);
    const forbidden = await runHere('import', file, '--url', lenient.url, ...token(USER), ...LENIENT);
    expect([forbidden.code, forbidden.stderr]).toEqual([
      1,
      expect.stringContaining('permission write_lenient'),
    ]);
    expect((await runHere('import', file, '--validation', 'some')).code).toBe(2);
  });

  it('works on the database itself, and an export keeps what was left out', async () => {
    const [ehrId, copy] = [randomUUID(), randomUUID()];
    const file = fileOf('local.ndjson', ehrId);
    const database = {
      LOG_LEVEL: 'warn',
      MONGODB_URI: testDatabaseUri(),
      MONGODB_DATABASE: testDatabaseName(),
    };
    const local = (env: object, ...args: string[]) =>
      runCommand([...args, '--local'], { ...database, ...env });
    const strictly = await local({}, 'import', file, ...LENIENT);
    expect([strictly.code, strictly.stderr]).toEqual([1, expect.stringContaining('VALIDATION=lenient')]);
    const allowed = { VALIDATION: 'lenient' };
    const dry = await local(allowed, 'import', file, ...LENIENT, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/^4 valid/)]);
    const done = await local(allowed, 'import', file, ...LENIENT);
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^4 imported/)]);
    expect(await found(ehrId)).toEqual(ALL);

    const exported = join(folder, 'exported.ndjson');
    expect(
      (await runHere('export', '--ehr', ehrId, '--output', exported, '--url', lenient.url, ...token(USER)))
        .code,
    ).toBe(0);
    const text = readFileSync(exported, 'utf8');
    expect(text.split('own_attribute').length - 1).toBe(3);
    writeFileSync(exported, text.replaceAll(ehrId, copy));
    const again = await local(allowed, 'import', exported, ...LENIENT, '--new-ids');
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^4 imported/)]);
    expect(await found(copy)).toEqual(ALL);

    const verified = await runCommand(['verify'], database);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('own_attribute')]);
    expect(verified.stdout).toContain('(left out: "own_attribute": {"of":"another server"})');
  });
});
