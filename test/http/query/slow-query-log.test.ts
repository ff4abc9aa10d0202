import { Writable } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { createLogger, logSlowQueries } from '../../../src/logger.js';
import { createMetrics } from '../../../src/metrics.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenEhr } from '../../support/resources.js';

useDatabase();

const AQL = "SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = $secret AND e/ehr_id/value != 'Erika'";
const MASKED = 'SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = $secret AND e/ehr_id/value != ?';
let stop: () => void = () => undefined;
afterEach(() => {
  stop();
});

async function queryLoggedFrom(slowMs: number): Promise<{ lines: string[]; requestId: unknown }> {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  stop = logSlowQueries(createLogger('info', destination), slowMs);
  const { headers } = await request(testApp())
    .post('/rest/openehr/v1/query/aql')
    .send({ q: AQL, query_parameters: { secret: 'patient 4711' } })
    .expect(200);
  return { lines, requestId: headers['x-request-id'] };
}

it('logs the text of a slow query with time, rows and request id, but neither literals nor parameter values', async () => {
  const { lines, requestId } = await queryLoggedFrom(0);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    request_id: requestId,
    rows: 0,
    aql: MASKED,
    msg: 'slow query',
  });
  expect(lines[0]).not.toMatch(/4711|Erika/);
});

it('keeps silent about a fast one', async () => {
  expect((await queryLoggedFrom(60_000)).lines).toEqual([]);
});

it('counts queries and committed versions', async () => {
  const { registry } = createMetrics({ ofProcess: false });
  const app = testApp();
  const q = `SELECT e FROM EHR e WHERE e/ehr_id/value = '${await givenEhr(app)}'`;
  await request(app).get('/rest/openehr/v1/query/aql').query({ q }).expect(200);
  const text = await registry.metrics();
  expect(text).toContain('everchart_versions_committed_total 1');
  expect(text).toContain('everchart_commit_seconds_count 1');
  expect(text).toContain('everchart_query_seconds_count 1');
  expect(text).toContain('everchart_query_rows_sum 1');
});
