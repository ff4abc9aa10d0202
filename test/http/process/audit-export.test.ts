import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import type { AuditDoc } from '../../../models/audit.js';
import { violationsOf } from '../../support/access/balp.js';
import { forgetAudit } from '../../support/api/audit-records.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { runHere, type CommandResult } from '../../support/process/command-line.js';
import type { Json } from '../../support/resources.js';
import { bearer, USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();

const server = useServer(testApp({ ...WITH_ADMIN, auth: 'jwt' }));
const folder = mkdtempSync(join(tmpdir(), 'everchart-audit-'));
const AUDITOR = bearer(['AUDITOR'], 'auditor');
const START = Date.parse('2026-01-01T00:00:00Z');
const SINCE = new Date(START).toISOString();
const EHRS = ['7d44b88c-4199-4bad-97dc-d78268e01398', '0b1f9f0e-0d0b-4d1b-8f5e-6a2f0f1f2d3c'];

const run = (...args: string[]): Promise<CommandResult> =>
  runHere('audit', 'export', ...args, '--url', server.url, '--token', AUDITOR.replace('Bearer ', ''));
const linesOf = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json);
const goOnOf = ({ stderr }: CommandResult): string => /--since (\S+)/.exec(stderr)?.[1] ?? '';

/** Records, a second apart. */
async function given(
  count: number,
  further: (index: number) => Partial<AuditDoc> = () => ({}),
): Promise<void> {
  await mongoose.connection.collection<AuditDoc>('audit').insertMany(
    Array.from({ length: count }, (_, index) => ({
      _id: `0aged-${String(index).padStart(6, '0')}`,
      time: new Date(START + index * 1_000),
      user: 'ada',
      operation: 'ehr_get_by_id',
      request_id: String(index),
      status: 200,
      ehr_id: EHRS[0] ?? '',
      ...further(index),
    })),
  );
}

beforeEach(() => forgetAudit());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('everchart audit export', () => {
  it('writes all records since a time, oldest first, and goes on where it ended', async () => {
    await given(2_300);
    const all = await run('--since', SINCE);
    expect(all.code).toBe(0);
    expect(linesOf(all.stdout).map(({ request_id: id }) => id as string)).toEqual(
      Array.from({ length: 2_300 }, (_, index) => String(index)),
    );
    const seen: string[] = [];
    let since = SINCE;
    for (let turns = 0; turns < 4; turns += 1) {
      const part = await run('--since', since, '--limit', '800');
      expect(part.code).toBe(0);
      seen.push(...linesOf(part.stdout).map(({ request_id: id }) => id as string));
      since = goOnOf(part);
    }
    expect([seen.length, new Set(seen).size]).toEqual([2_300, 2_300]);
    // What asked is itself too young.
    expect(linesOf((await run('--since', since)).stdout)).toEqual([]);
  });

  it('leaves what is younger than some seconds, and what comes after an answer under way', async () => {
    await given(6, (index) => (index === 3 ? { pending: true } : {}));
    const first = await run('--since', SINCE);
    expect(linesOf(first.stdout)).toHaveLength(3);
    expect(goOnOf(first)).toBe(new Date(START + 3_000).toISOString());
    await mongoose.connection.collection('audit').updateMany({}, { $unset: { pending: 1 } });
    const next = await run('--since', goOnOf(first), '--until', new Date(START + 5_000).toISOString());
    expect(linesOf(next.stdout).map(({ request_id: id }) => id as string)).toEqual(['3', '4']);
    expect(goOnOf(next)).toBe(new Date(START + 5_000).toISOString());
  });

  it('writes AuditEvents into a file, one for each EHR', async () => {
    await given(3, (index) => (index === 1 ? { ehr_ids: EHRS, operation: 'query_execute_adhoc_post' } : {}));
    const file = join(folder, 'events.ndjson');
    const { code, stdout, stderr } = await run('--since', SINCE, '--format', 'fhir', '--file', file);
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining('4 lines')]);
    const events = linesOf(readFileSync(file, 'utf8'));
    expect(events).toHaveLength(4);
    for (const event of events) expect(violationsOf(event as never)).toEqual([]);
  });

  it('refuses what it does not take, and says what the server refuses', async () => {
    for (const wrong of [[], ['--since', 'yesterday'], ['--since', SINCE, '--format', 'xml']])
      expect([wrong, (await run(...wrong)).code]).not.toEqual([wrong, 0]);
    const refused = await runHere(
      ...['audit', 'export', '--since', SINCE, '--url', server.url],
      ...['--token', USER.replace('Bearer ', '')],
    );
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('audit');
  });
});
