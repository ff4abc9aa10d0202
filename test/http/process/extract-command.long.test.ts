import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { givenUpdate, statusOf } from '../../support/merge-http.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  type Json,
} from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
/** Bytes of a body that the server takes. */
const MOST = 200_000;
const app = testApp({ ...WITH_ADMIN, maxBodyBytes: MOST, rolePermissions: { MOVER: ['restore', 'read'] } });
const server = useServer(app);
const folder = mkdtempSync(join(tmpdir(), 'everchart-extract-'));
const file = join(folder, 'ehr.json');
const run = (...args: string[]): Promise<CommandResult> =>
  runCommand(args, {
    LOG_LEVEL: 'warn',
    MAX_BODY_BYTES: `${MOST}`,
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
  });
const here = (): string[] => ['--local'];
const there = (): string[] => ['--url', server.url, '--token', bearer(['MOVER']).replace('Bearer ', '')];
let ehrId = '';

beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  ehrId = await givenEhr(app, statusOf('p1'));
  await givenUpdate(app, ehrId, await givenComposition(app, ehrId), aComposition());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function extracted(form = 'application/json'): Promise<string> {
  return (await request(app).get(`${V1}/ehr/${ehrId}/extract`).set('Accept', form)).text;
}

const without = (text: string): Json => ({ ...(JSON.parse(text) as Json), time_created: null });

it.each([
  ['the database', here],
  ['a server', there],
])('an EHR goes out to a file and in again, by way of %s', async (_name, targetOf) => {
  const target = targetOf();
  const before = without(await extracted());
  const out = await run('export', '--extract', '--ehr', ehrId, '--output', file, ...target);
  expect([out.code, out.stderr]).toEqual([0, '']);
  expect(without(readFileSync(file, 'utf8'))).toEqual(before);
  await emptied();
  await givenTemplate(app);
  const { code, stdout, stderr } = await run('import', file, ...target);
  expect([code, stderr, stdout]).toEqual([
    0,
    '',
    expect.stringMatching(new RegExp(`^EHR ${ehrId}: 3 versions\\nimport [0-9a-f-]{36}\\n$`, 'u')),
  ]);
  expect(without(await extracted())).toEqual(before);
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
  const again = await run('import', file, ...target);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already exists')]);
});

it('goes through a server within MAX_BODY_BYTES, and in the database beyond it', async () => {
  const composition = aComposition();
  composition['name']['value'] = 'x'.repeat(MOST);
  await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition).expect(413);
  const roomy = testApp({ ...WITH_ADMIN, maxBodyBytes: 10 * MOST });
  await request(roomy).post(`${V1}/ehr/${ehrId}/composition`).send(composition).expect(201);
  const before = await extracted();
  expect(before.length).toBeGreaterThan(MOST);
  writeFileSync(file, before);
  await emptied();
  await givenTemplate(app);
  const refused = await run('import', file, ...there());
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('MAX_BODY_BYTES')]);
  expect((await request(app).get(`${V1}/ehr/${ehrId}`)).status).toBe(404);
  const { code, stdout } = await run('import', file, ...here());
  expect([code, stdout]).toEqual([0, expect.stringContaining(`EHR ${ehrId}: 4 versions`)]);
  expect(without(await extracted())).toEqual(without(before));
});

it('takes one in XML, and says what goes with it', async () => {
  writeFileSync(file, await extracted('application/xml'));
  const before = without(await extracted());
  await emptied();
  await givenTemplate(app);
  expect((await run('import', file, '--local')).code).toBe(0);
  expect(without(await extracted())).toEqual(before);
  expect((await run('export', '--extract', '--local')).code).toBe(2);
  expect((await run('import', file, '--local', '--dry-run')).code).toBe(2);
});
