import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Test } from 'supertest';
import { within, Work } from '../../../openehr/base/work.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { createMetrics } from '../../../src/metrics.js';
import { closePool } from '../../../workers/large-body.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { element, evaluation, template } from '../../support/openehr/opt-builder.js';
import { aComposition, givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';

useDatabase();
afterAll(closePool);

const ID = 'minimal_evaluation.en.v1';
const OPT = fixtureText(`opt/${ID}.opt`);
const TEMPLATES = `${V1}/definition/template/adl1.4`;
const WEB_TEMPLATE = 'application/openehr.wt+json';
const FLAT = 'application/openehr.wt.flat+json';
const { work } = testSettings();
/** Servers of this process keep one compiled template. */
const app = testApp({ templateCacheSize: 1 });
const limited = (limits: Partial<typeof work>) =>
  testApp({ templateCacheSize: 1, work: { ...work, ...limits } });

/** Steps of compiling the template. */
function compileSteps(): number {
  const counting = new Work({ ...work, timeMs: Infinity }, () => 0);
  within(counting, () => compileTemplate(OPT));
  return counting.used.steps;
}

const read = (id: string, of = app): Test =>
  request(of).get(`${TEMPLATES}/${id}`).set('Accept', WEB_TEMPLATE);
const OTHER = 'other';
/** Another template takes the one place. */
const evict = async (): Promise<void> => {
  expect((await read(OTHER)).status).toBe(200);
};
const upload = (opt: string): Test =>
  request(app).post(TEMPLATES).set('Content-Type', 'application/xml').send(opt);

let ehrId = '';
let uid = '';
let flat: object = {};
beforeAll(async () => {
  await givenTemplate(app);
  const opt = template(evaluation(element('at0002', ''), { at0002: 'Item' }), { id: OTHER });
  expect((await upload(opt)).status).toBe(201);
  ehrId = await givenEhr(app);
  uid = await givenComposition(app, ehrId);
  const example = await request(app).get(`${TEMPLATES}/${ID}/example`).set('Accept', FLAT);
  flat = JSON.parse(example.text) as object;
});

const compositions = (): string => `${V1}/ehr/${ehrId}/composition`;
type Ask = (of: typeof app) => Test;
const USES: readonly (readonly [string, Ask, number])[] = [
  ['its web template', (of) => read(ID, of), 200],
  ['its web template at the old path', (of) => request(of).get(`${TEMPLATES}/${ID}/webtemplate`), 200],
  ['its example', (of) => request(of).get(`${TEMPLATES}/${ID}/example`), 200],
  ['a COMPOSITION in FLAT', (of) => request(of).get(`${compositions()}/${uid}`).set('Accept', FLAT), 200],
  ['a commit', (of) => request(of).post(compositions()).send(aComposition()), 201],
  [
    'a commit in FLAT',
    (of) =>
      request(of)
        .post(compositions())
        .query({ templateId: ID })
        .set('Content-Type', FLAT)
        .send(JSON.stringify(flat)),
    201,
  ],
];

describe('a stored template that is not kept compiled any more', () => {
  it.each(USES)('is compiled on the budget of the request that needs it: %s', async (_, ask, status) => {
    // Room for all that the request does but compiling.
    const few = limited({ steps: compileSteps() - 1 });
    expect((await read(ID)).status).toBe(200);
    const kept = await ask(few);
    expect({ status: kept.status, text: kept.text }).toMatchObject({ status });
    await evict();
    const over = await ask(few);
    expect({ status: over.status, text: over.text }).toMatchObject({
      status: 422,
      text: expect.stringContaining('MAX_WORK_STEPS'),
    });
    await evict();
    expect((await ask(app)).status).toBe(status);
  });

  it('is compiled in a thread when it is large', async () => {
    const items = element('at0002', '').repeat(500);
    expect((await upload(template(evaluation(items, { at0002: 'Item' }), { id: 'large' }))).status).toBe(201);
    const hasty = limited({ bodyTimeMs: 1 });
    expect((await read('large', hasty)).status).toBe(200);
    await evict();
    const late = await read('large', hasty);
    expect({ status: late.status, text: late.text }).toMatchObject({
      status: 413,
      text: expect.stringContaining('BODY_TIMEOUT_MS'),
    });
    expect((await read('large')).status).toBe(200);
  });

  it('is compiled once when many need it at once, and again when that failed', async () => {
    const { registry } = createMetrics({ ofProcess: false });
    await evict();
    registry.resetMetrics();
    const answers = await Promise.all(Array.from({ length: 8 }, () => read(ID).then()));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(await registry.metrics()).toContain('everchart_template_cache_total{outcome="miss"} 1\n');
    await evict();
    const poor = limited({ steps: 10 });
    const mixed = await Promise.all([poor, app, poor, app].map((of) => read(ID, of).then()));
    expect([mixed[1]?.status, mixed[3]?.status]).toEqual([200, 200]);
    // Who comes later finds it kept.
    for (const { status } of [mixed[0]!, mixed[2]!]) expect([200, 422]).toContain(status);
  });
});
