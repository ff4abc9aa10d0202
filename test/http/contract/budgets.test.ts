import type { RequestListener } from 'node:http';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { createApp } from '../../../src/app.js';
import { createLogger } from '../../../src/logger.js';
import { createMetrics } from '../../../src/metrics.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { aComposition, givenEhr, V1 } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';

useDatabase();

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
});
let app: RequestListener;
const usual = testSettings();

/** A server with other limits, whose log is in `lines`. */
function given(overrides: Partial<typeof usual>): void {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const handle = createApp(testSettings(overrides), createLogger('info', destination)).callback();
  app = (incoming, answer) => void handle(incoming, answer);
}
const query = (q: string) => request(app).post(`${V1}/query/aql`).send({ q });
const commit = async (composition: object) => {
  const template = fixtureText('opt/minimal_evaluation.en.v1.opt');
  await request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set('Content-Type', 'application/xml')
    .send(template);
  const ehrId = await givenEhr(app);
  return request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
};
const work = { ...usual.work };
const GROUPED = 'SELECT c/content, COUNT(*) FROM EHR e CONTAINS COMPOSITION c';

describe('a budget that is used up', () => {
  const { registry } = createMetrics({ ofProcess: false });
  afterEach(() => {
    registry.resetMetrics();
  });

  it.each([
    ['bodyBytes', 413, { maxQueryBytes: 200 }, () => query(`SELECT e FROM EHR e ${' '.repeat(300)}`)],
    ['bodyNodes', 413, { maxBodyNodes: 20 }, () => commit(aComposition())],
    ['objectBytes', 413, { maxCompositionBytes: 500 }, () => commit(aComposition())],
    ['steps', 422, { work: { ...work, steps: 5 } }, () => commit(aComposition())],
    [
      'tuples',
      422,
      { work: { ...work, tuples: 1 } },
      async () => {
        expect((await commit(aComposition())).status).toBe(201);
        return query(GROUPED);
      },
    ],
    [
      'resultBytes',
      422,
      { work: { ...work, resultBytes: 100 } },
      async () => {
        expect((await commit(aComposition())).status).toBe(201);
        return query(GROUPED);
      },
    ],
  ] as const)('is counted and logged by its name: %s', async (name, status, settings, attack) => {
    given(settings);
    const answer = await attack();
    expect(answer.status).toBe(status);
    const requestId = answer.headers['x-request-id'];
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged).toContainEqual(
      expect.objectContaining({
        requestId,
        budget: expect.objectContaining({ name }),
        level: expect.anything(),
      }),
    );
    expect(await registry.metrics()).toContain(`everchart_budget_exceeded_total{budget="${name}"} 1\n`);
  });
});
