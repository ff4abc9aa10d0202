import { beforeAll, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates, merge, rows, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, V1 } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
const server = useServer(app);
beforeAll(() => givenMergeTemplates(app));

const COMPOSITIONS = 'SELECT c/uid/value, e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c';

it('a query across EHRs reads one snapshot of the database', async () => {
  await givenComposition(app, await givenEhr(app));
  const aggregate = jest.spyOn(mongoose.connection.collection('aql'), 'aggregate');
  try {
    expect((await rows(app, COMPOSITIONS)).length).toBeGreaterThan(0);
    const options = aggregate.mock.calls.map(([, given]) => given?.readConcern);
    expect(options).toEqual([{ level: 'snapshot' }]);
  } finally {
    aggregate.mockRestore();
  }
});

it('a query across EHRs beside merges never shows a COMPOSITION twice or not at all', async () => {
  const [source, target] = [await givenEhr(app), await givenEhr(app)];
  const uids: string[] = [];
  for (const ehrId of [source, target, source, target, source]) uids.push(await givenComposition(app, ehrId));
  const running = { on: true };
  const reader = async (): Promise<number> => {
    let answers = 0;
    while (running.on) {
      const q = `${COMPOSITIONS} WHERE e/ehr_id/value matches {'${source}','${target}'}`;
      const body = JSON.stringify({ q });
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`${server.url}${V1}/query/aql`, { method: 'POST', headers, body });
      const { rows: found } = (await response.json()) as { rows: [string, string][] };
      expect(found.map(([uid]) => uid).toSorted()).toEqual(uids.toSorted());
      expect([1, 2]).toContain(new Set(found.map(([, ehrId]) => ehrId)).size);
      answers += 1;
    }
    return answers;
  };
  const readers = [reader(), reader()];
  for (let round = 0; round < 8; round += 1) {
    expect((await merge(app, source, target)).status).toBe(200);
    expect((await unmerge(app, source, target)).status).toBe(200);
  }
  running.on = false;
  const counts = await Promise.all(readers);
  expect(Math.min(...counts)).toBeGreaterThan(3);
});
