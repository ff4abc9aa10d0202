import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { beginRestore, noteRestore } from '../../maintenance/interchange/restore-here.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { auditRecords, MAX_AUDIT_IDS } from '../../models/audit.js';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { emptied, exported, imported, refusals } from '../support/interchange.js';
import { givenComposition, givenEhr, givenTemplate } from '../support/resources.js';

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

it('an import without a server names every EHR before it is written, and none twice', async () => {
  const batch = randomUUID();
  const names = await beginRestore(batch);
  const records = async () => {
    const all = await auditRecords({ operation: 'restore', order: 'oldest', offset: 0, fetch: 100 });
    return all.filter(({ target }) => target === batch);
  };
  const few = [randomUUID(), randomUUID()];
  const many = Array.from({ length: MAX_AUDIT_IDS + 1 }, () => randomUUID());
  await names(few);
  await names([few[1]!, ...many]);
  await names(few);
  const found = await records();
  expect(found.map(({ part, ehr_ids: ids }) => [part, ids?.length])).toEqual([
    [undefined, undefined],
    [2, 2],
    [3, MAX_AUDIT_IDS],
    [4, 1],
  ]);
  expect(found.flatMap(({ ehr_ids: ids = [] }) => ids)).toEqual([...few, ...many]);
  expect(new Set(found.map(({ request_id: id }) => id)).size).toBe(1);
});

it('an import without a server of an export leaves the EHRs of it in the audit', async () => {
  const app = testApp();
  await givenTemplate(app);
  const ehrIds = [await givenEhr(app), await givenEhr(app)];
  for (const ehrId of ehrIds) await givenComposition(app, ehrId);
  const lines = await exported();
  await emptied();
  const batch = randomUUID();
  expect(refusals(await imported(lines, { batch }))).toEqual([]);
  const all = await auditRecords({ operation: 'restore', order: 'oldest', offset: 0, fetch: 100 });
  const named = all.flatMap(({ target, ehr_ids: ids = [] }) => (target === batch ? ids : []));
  expect(named).toEqual(expect.arrayContaining(ehrIds));
  expect(new Set(named).size).toBe(named.length);
  expect((await verifyStorage()).violations).toEqual([]);
});

it('a restore of few EHRs leaves one record', async () => {
  const { request, ehrIds } = await restored(MAX_AUDIT_IDS);
  expect((await recordsOf(request)).map(({ part, ehr_ids: ids }) => [part, ids])).toEqual([
    [undefined, ehrIds],
  ]);
});
