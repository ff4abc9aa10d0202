import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { apiClient, type ApiClient } from '../../../cli/transfer/api-client.js';
import { exportedLines, ExportRun } from '../../../cli/transfer/export-run.js';
import { UuidSet } from '../../../cli/transfer/uuid-set.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, type Json } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
const server = useServer(app);
let client: ApiClient;
beforeAll(async () => {
  await givenMergeTemplates(app);
  client = apiClient({ url: server.url, identity: {}, repeatForMs: 1_000 });
});

const COUNT = 20;
let source = '';
let target = '';
let uids: string[] = [];
beforeEach(async () => {
  source = await givenEhr(app);
  target = await givenEhr(app);
  uids = [];
  for (let n = 0; n < COUNT; n += 1) uids.push(await givenComposition(app, source));
});

/** Uids of the COMPOSITIONs exported; `then` happens after the first of them. */
async function exportBeside(
  ehrId: string,
  exported: ExportRun,
  then?: () => Promise<unknown>,
): Promise<string[]> {
  const found: string[] = [];
  let isDone = then === undefined;
  for await (const line of exportedLines(client, ehrId, exported)) {
    const { composition } = JSON.parse(line) as { composition?: Json };
    if (composition === undefined) continue;
    found.push(String(composition.uid.value));
    if (!isDone) await then?.();
    isDone = true;
  }
  return found;
}

it('an EHR that is merged while it is exported loses nothing, and its target brings nothing twice', async () => {
  const theirs = await givenComposition(app, target);
  const exported = new ExportRun();
  const found = await exportBeside(source, exported, () => merge(app, source, target));
  expect(found).toEqual(uids);
  expect(await exportBeside(target, exported)).toEqual([theirs]);
});

it('nor does one that is merged and taken back', async () => {
  const found = await exportBeside(source, new ExportRun(), async () => {
    await merge(app, source, target);
    setTimeout(() => void unmerge(app, source, target).then(), 5);
  });
  expect(found).toEqual(uids);
});

it('one that was listed and is nowhere is noted, and the rest goes on', async () => {
  const last = uids.at(-1)!.split('::')[0]!;
  const run = new ExportRun();
  const erase = (): Promise<unknown> => admin(app, 'delete', `/ehr/${source}/composition/${last}`);
  expect(await exportBeside(source, run, erase)).toEqual(uids.slice(0, -1));
  expect(run.lost).toEqual([[last, source]]);
});

it('an EHR that was exported before it is merged is not exported again with its target', async () => {
  const theirs = await givenComposition(app, target);
  const exported = new ExportRun();
  expect(await exportBeside(source, exported)).toEqual(uids);
  await merge(app, source, target);
  expect(await exportBeside(target, exported)).toEqual([theirs]);
});

it('an EHR that is merged before its turn loses nothing, whether its target had its turn or not', async () => {
  const theirs = await givenComposition(app, target);
  const third = await givenEhr(app);
  const late = new ExportRun();
  expect(await exportBeside(target, late)).toEqual([theirs]);
  await merge(app, source, target);
  await merge(app, target, third);
  expect(await exportBeside(source, late)).toEqual(uids);
  expect(await exportBeside(third, late)).toEqual([]);
  const early = new ExportRun();
  expect((await exportBeside(source, early)).toSorted()).toEqual([...uids, theirs].toSorted());
  expect(await exportBeside(third, early)).toEqual([]);
});

it('the set of what was exported is exact, however much there is', () => {
  const ids = Array.from({ length: 5_000 }, () => randomUUID());
  const set = new UuidSet();
  for (const id of [...ids, ...ids]) set.add(id);
  expect([set.size, ids.every((id) => set.has(id)), set.has(randomUUID())]).toEqual([5_000, true, false]);
});
