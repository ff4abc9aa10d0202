import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import mongoose from 'mongoose';
import { Registry } from 'prom-client';
import request from 'supertest';
import { connectMongoose } from '../../../database/connect.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { loadConfig } from '../../../src/settings/config.js';
import { QueryGate } from '../../../workers/gate.js';
import { createMetrics } from '../../../src/metrics.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { givenMergeTemplates, merge, statusOf } from '../../support/merge-http.js';
import { givenComposition, givenEhr } from '../../support/resources.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';
const { jwt: keys, managementEndpoints } = loadConfig({ JWT_SECRET: SECRET, MANAGEMENT_ENDPOINTS: 'all' });
const admin = `Bearer ${jwt.sign({ roles: ['ADMIN'] }, SECRET, { subject: 'ada', expiresIn: 60 })}`;

useDatabase();

describe('metrics', () => {
  let app: ReturnType<typeof testApp>;
  beforeEach(() => {
    app = testApp({ jwt: keys, managementEndpoints, adminApiActive: true });
  });
  const figures = async (): Promise<Map<string, number>> => {
    const { text } = await request(app).get('/management/prometheus').set('Authorization', admin);
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.replace(/^.* /, ''))]));
  };

  it('count requests, commits, versions, queries, rows, merges and reads of the template cache', async () => {
    await givenMergeTemplates(app);
    const target = await givenEhr(app, statusOf(randomUUID()));
    const source = await givenEhr(app, statusOf(randomUUID()));
    for (const ehrId of [source, source, target]) await givenComposition(app, ehrId);
    const q = `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value MATCHES {'${source}', '${target}'}`;
    await request(app).get('/rest/openehr/v1/query/aql').query({ q });
    await request(app).get(`/rest/openehr/v1/ehr/${randomUUID()}`);
    const before = await figures();
    expect(before.get('everchart_commit_seconds_count')).toBe(5);
    expect(before.get('everchart_versions_committed_total')).toBe(5);
    expect(before.get('everchart_query_seconds_count')).toBe(1);
    expect(before.get('everchart_query_rows_sum')).toBe(2);
    const cache = (outcome: string) =>
      before.get(`everchart_template_cache_total{outcome="${outcome}"}`) ?? 0;
    expect(cache('hit') + cache('miss')).toBeGreaterThanOrEqual(3);
    expect(cache('hit')).toBeGreaterThan(0);
    const ehrRoute =
      'http_server_requests_seconds_count{method="GET",route="/rest/openehr/v1/ehr/{ehr_id}",status="404"}';
    expect(before.get(ehrRoute)).toBe(1);
    expect(before.get('http_server_requests_running')).toBe(1);
    await merge(app, source, target);
    expect((await figures()).get('everchart_ehr_merges_total{kind="merge"}')).toBe(1);
  });

  it('show how the connections to the database are used', async () => {
    await givenEhr(app);
    const shown = await figures();
    expect(shown.get('everchart_database_pool_size')).toBeGreaterThan(0);
    expect(shown.get('everchart_database_pool_checked_out')).toBeGreaterThanOrEqual(0);
    expect(shown.get('everchart_database_pool_waiting')).toBeGreaterThanOrEqual(0);
  });

  it('tell what an alarm asks first: build, database, seals, waiting queries and failed sign-ins', async () => {
    await givenEhr(app);
    const before = await figures();
    expect([...before.keys()]).toContainEqual(
      expect.stringMatching(/^everchart_build_info\{version="\d+\.\d+\.\d+",node="v\d+/),
    );
    expect(before.get('everchart_database_up')).toBe(1);
    expect(before.get('everchart_queries_waiting')).toBe(0);
    expect(before.has('everchart_seal_age_seconds')).toBe(true);
    const failed = 'everchart_sign_ins_failed_total{scheme="bearer"}';
    await request(app).get('/rest/admin/status').set('Authorization', 'Bearer no-token');
    await request(app).get('/rest/admin/status');
    expect((await figures()).get(failed)).toBe((before.get(failed) ?? 0) + 1);
  });

  it('count those who wait for a place', async () => {
    const gate = new QueryGate({ all: 1, perUser: 1 });
    const { signal } = new AbortController();
    const leave = await gate.enter('ada', signal);
    const second = gate.enter('ada', signal);
    expect((await figures()).get('everchart_queries_waiting')).toBe(1);
    leave();
    (await second)();
    expect((await figures()).get('everchart_queries_waiting')).toBe(0);
  });

  it('tell how old the newest seal is', async () => {
    await givenEhr(app);
    expect((await figures()).get('everchart_seal_age_seconds')).toBeNaN();
    await sealNewRecords();
    await mongoose.connection
      .collection('seal_blocks')
      .updateMany({}, [{ $set: { time: { $subtract: ['$time', 7_200_000] } } }]);
    const age = (await figures()).get('everchart_seal_age_seconds');
    expect(age).toBeGreaterThanOrEqual(7_200);
    expect(age).toBeLessThan(7_320);
  });

  it('are served while the database is away, and say so', async () => {
    await mongoose.disconnect();
    try {
      const shown = await figures();
      expect(shown.get('everchart_database_up')).toBe(0);
      expect(shown.get('everchart_seal_age_seconds')).toBeNaN();
    } finally {
      await connectMongoose(testDatabaseUri(), testDatabaseName());
    }
    expect((await figures()).get('everchart_database_up')).toBe(1);
  });

  it('have no gauge that is named as a counter', async () => {
    const { registry } = createMetrics({ ofProcess: true });
    const wrong = registry
      .getMetricsAsArray()
      .filter(({ name, type }) => name.endsWith('_total') !== (String(type) === 'counter'));
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect((await registry.metrics()).length).toBeGreaterThan(0);
  });

  it('tell of the process: memory, processor and the delay of the event loop', async () => {
    const { registry } = createMetrics({ ofProcess: true });
    expect(registry).toBeInstanceOf(Registry);
    const text = await registry.metrics();
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
    ])
      expect(text).toContain(`${name} `);
  });
});
