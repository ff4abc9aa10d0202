import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { noteRestore } from '../../maintenance/interchange/restore-here.js';
import { auditRecords, MAX_AUDIT_IDS } from '../../models/audit.js';
import { useDatabase } from '../support/database.js';

useDatabase();

/** What is restored of so many EHRs, as a server records it. */
async function restored(count: number): Promise<{ request: string; ehrIds: string[] }> {
  const [request, ehrIds] = [randomUUID(), Array.from({ length: count }, () => randomUUID())];
  const sender = { user: 'ada', operation: 'restore', request_id: request };
  await withAuditDraft(new AuditDraft(() => sender, 200), () => noteRestore('batch', ehrIds));
  return { request, ehrIds };
}

async function recordsOf(request: string, ehrId?: string) {
  const all = await auditRecords({
    ...{ operation: 'restore', order: 'oldest', offset: 0, fetch: 100 },
    ...(ehrId !== undefined && { ehrId }),
  });
  return all.filter(({ request_id: id }) => id === request);
}

it('a restore names every EHR, in as many parts as it takes', async () => {
  const { request, ehrIds } = await restored(2 * MAX_AUDIT_IDS + 500);
  const records = await recordsOf(request);
  expect(records.map(({ part, ehr_ids: ids, ehr_count: count }) => [part, ids?.length, count])).toEqual([
    [undefined, MAX_AUDIT_IDS, ehrIds.length],
    [2, MAX_AUDIT_IDS, ehrIds.length],
    [3, 500, ehrIds.length],
  ]);
  expect(records.flatMap(({ ehr_ids: ids = [] }) => ids)).toEqual(ehrIds);
  for (const ehrId of [ehrIds[0], ehrIds[MAX_AUDIT_IDS], ehrIds.at(-1)])
    expect(await recordsOf(request, ehrId)).toHaveLength(1);
});

it('a restore of few EHRs leaves one record', async () => {
  const { request, ehrIds } = await restored(MAX_AUDIT_IDS);
  expect((await recordsOf(request)).map(({ part, ehr_ids: ids }) => [part, ids])).toEqual([
    [undefined, ehrIds],
  ]);
});
