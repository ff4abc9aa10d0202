import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp } from '../support/app.js';
import { watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { useDatabase } from '../support/database.js';
import { slowness } from '../support/process/processor-time.js';
import { fixtureText } from '../support/fixture.js';
import { closePool } from '../../workers/large-body.js';
import { aComposition, givenEhr, givenTemplate, V1, type Json } from '../support/resources.js';
import { testSettings } from '../support/settings.js';

useDatabase();

const VERSIONS = 1_500;
/** All of it takes the main thread some seconds; of these nobody waits for more than this at a time. */
const MOST_WAITED_S = 0.1;
let server: WatchedServer;
beforeAll(async () => {
  server = await watchedServer();
});
afterAll(() => server.stop());

const term = (code: string, value: string): object => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: { terminology_id: { value: 'openehr' }, code_string: code },
});
const AUDIT = {
  _type: 'AUDIT_DETAILS',
  change_type: term('249', 'creation'),
  committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
};
const contribution = (versions: number): Json => ({
  _type: 'CONTRIBUTION',
  audit: AUDIT,
  versions: Array.from({ length: versions }, () => ({
    _type: 'ORIGINAL_VERSION',
    lifecycle_state: term('532', 'complete'),
    commit_audit: AUDIT,
    data: aComposition(),
  })),
});

it(`a CONTRIBUTION of ${VERSIONS} versions gives way to others`, async () => {
  const send = (path: string, body: string, type = 'application/json'): Promise<Response> =>
    fetch(`${server.url}${V1}/${path}`, { method: 'POST', headers: { 'Content-Type': type }, body });
  await send(
    'definition/template/adl1.4',
    fixtureText('opt/minimal_evaluation.en.v1.opt'),
    'application/xml',
  );
  const ehrId = ((await send('ehr', '')).headers.get('ETag') ?? '').replaceAll('"', '');
  const body = JSON.stringify(contribution(VERSIONS));
  const answer = { status: 0 };
  const { silenceMs, waitedSeconds } = await server.cost(async () => {
    answer.status = (await send(`ehr/${ehrId}/contribution`, body)).status;
  });
  expect(answer).toEqual({ status: 201 });
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  expect(waitedSeconds).toBeLessThan(MOST_WAITED_S * Math.max(1, slowness()));
});

it('all versions of a CONTRIBUTION count on one budget', async () => {
  await givenTemplate(testApp());
  const ehrId = await givenEhr(testApp());
  const { work } = testSettings();
  // Ten times what one version takes.
  const app = testApp({ work: { ...work, steps: 3_000 } });
  const commit = (versions: number) =>
    request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(contribution(versions));
  expect((await commit(1)).status).toBe(201);
  const { status, body } = await commit(200);
  expect({ status, message: String((body as Json).message) }).toEqual({
    status: 422,
    message: expect.stringContaining('MAX_WORK_STEPS'),
  });
});

it('the text of a template is read once for all versions of a CONTRIBUTION, in threads too', async () => {
  const app = testApp();
  await givenTemplate(app);
  const ehrId = await givenEhr(app);
  const reads: string[] = [];
  mongoose.set('debug', (collection: string, method: string) => {
    reads.push(`${collection}.${method}`);
  });
  const threads = await threadsOf(async () => {
    const answer = await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(contribution(VERSIONS));
    expect(answer.status).toBe(201);
  });
  mongoose.set('debug', false);
  expect(threads).toBeGreaterThan(0);
  // Once compiled, and once as text for the threads.
  expect(reads.filter((read) => read === 'templates.findOne').length).toBeLessThanOrEqual(2);
}, 300_000);

/** How many threads something starts. */
async function threadsOf(work: () => Promise<void>): Promise<number> {
  let started = 0;
  const onThread = (): void => {
    started += 1;
  };
  await closePool();
  subscribe('worker_threads', onThread);
  try {
    await work();
  } finally {
    unsubscribe('worker_threads', onThread);
    await closePool();
  }
  return started;
}
