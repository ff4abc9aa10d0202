import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import type { AuditDoc } from '../../../models/audit.js';
import { ReadRecord } from '../../../maintenance/read-record.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { runCommand } from '../../support/process/command-line.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

/* What somebody reads in the shell is in the log: docs/access-log.md#in-the-shell */

useDatabase();
const app = testApp({ ...WITH_ADMIN, auditReads: true });
const place = mkdtempSync(join(tmpdir(), 'everchart-read-'));
const ehrs: string[] = [];

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  for (let made = 0; made < 2; made += 1) {
    const ehr = await givenEhr(app);
    await givenComposition(app, ehr);
    ehrs.push(ehr);
  }
  ehrs.sort();
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

async function recordsOf(operation: string): Promise<AuditDoc[]> {
  const found = mongoose.connection.collection<AuditDoc>('audit').find({ operation });
  return found.sort({ _id: 1 }).toArray();
}

it.each([
  ['backup', ['backup'], 2],
  ['export', ['export', '--all-versions', '--local'], 2],
  ['export', ['export', '--local'], 2],
  ['export', ['export', '--local', '--ehr', 'ONE'], 1],
  ['export', ['export', '--local', '--extract', '--ehr', 'ONE'], 1],
  [
    'export',
    ['export', '--local', '--query', "SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value != 'x'"],
    0,
  ],
] as const)('%s is recorded, with the user of the shell and each EHR: %j', async (operation, args, count) => {
  await mongoose.connection.collection('audit').deleteMany({});
  const file = join(place, `${args.length}-${args.at(-1)?.length}.out`);
  const env = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  const sent = args.map((arg) => (arg === 'ONE' ? (ehrs[0] ?? '') : arg));
  const { code, stderr } = await runCommand([...sent, '--output', file], env);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  expect(readFileSync(file).length).toBeGreaterThan(0);
  const [first, ...parts] = await recordsOf(operation);
  expect(first).toMatchObject({ user: userInfo().username, status: 200, ehr_count: count });
  expect(first).not.toHaveProperty('pending');
  expect(parts.flatMap(({ ehr_ids: ids }) => ids ?? []).sort()).toEqual(ehrs.slice(0, count));
  for (const part of parts) expect(part).toMatchObject({ request_id: first?.request_id, ehr_count: count });
  if (args.includes('--query' as never))
    expect(first?.options).toEqual({ query: expect.stringContaining('!= ?') });
  // The patient learns of it.
  for (const ehr of ehrs.slice(0, count)) {
    const { body } = await request(app)
      .get(`/rest/ehrs/${ehr}/access`)
      .set('Authorization', ADMIN)
      .expect(200);
    expect(JSON.stringify(body)).toContain(userInfo().username);
  }
});

it('names every EHR, however many there are', async () => {
  await mongoose.connection.collection('audit').deleteMany({});
  const record = await ReadRecord.begin('export', { user: 'ada', options: {} });
  const ids = Array.from({ length: 2_001 }, (_, index) => `ehr-${String(index).padStart(5, '0')}`);
  for (const id of ids) await record.name(id);
  await record.end();
  const [first, ...parts] = await recordsOf('export');
  expect(first).toMatchObject({ user: 'ada', ehr_count: 2_001 });
  expect(parts.map(({ ehr_ids: named = [] }) => named.length)).toEqual([1_000, 1_000, 1]);
  expect(parts.flatMap(({ ehr_ids: named = [] }) => named)).toEqual(ids);
});
