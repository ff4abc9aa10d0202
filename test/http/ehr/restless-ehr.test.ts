import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { connectMongoose } from '../../../database/connect.js';
import { createCollections } from '../../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { ClusterProxy } from '../../support/process/cluster-proxy.js';
import { givenEhr, V1, type Json } from '../../support/resources.js';

/** A read that learns each time that its EHR was changed meanwhile is not begun anew for ever. */
const app = testApp();
let proxy: ClusterProxy;
let ehrId = '';
let reads = 0;

beforeAll(async () => {
  proxy = await ClusterProxy.before(testDatabaseUri());
  await connectMongoose(proxy.uri, testDatabaseName());
  await mongoose.connection.dropDatabase();
  await createCollections(COLLECTION_LAYOUT);
  ehrId = await givenEhr(app);
});
afterEach(() => {
  proxy.plays = {};
});
afterAll(async () => {
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
  proxy.close();
});

/** Whenever an EHR is read, somebody has written to it and merged into it since the last time. */
function restless(_name: string, reply: Json): Json {
  const cursor = reply.cursor as { ns: string; firstBatch?: Json[] } | undefined;
  if (cursor?.firstBatch === undefined || !cursor.ns.endsWith('.ehrs')) return reply;
  reads += 1;
  const firstBatch = cursor.firstBatch.map((doc) => ({
    ...doc,
    write_seq: 1_000 + reads,
    merge_seq: 1_000 + reads,
  }));
  return { ...reply, cursor: { ...cursor, firstBatch } };
}

describe('an EHR that is changed whenever it is looked at', () => {
  it.each([
    ['with its tags', () => request(app).get(`${V1}/ehr/${ehrId}/tags`)],
    [
      'by a query that finds nothing',
      () =>
        request(app)
          .post(`${V1}/query/aql`)
          .send({ q: 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehr_id: ehrId }),
    ],
  ])('is read %s so many times, then 503 with Retry-After', async (_, read) => {
    expect((await read()).status).toBe(200);
    reads = 0;
    proxy.plays = { rewrite: restless };
    const { status, headers, body } = await read();
    expect([status, headers['retry-after'], (body as Json).code]).toEqual([503, '1', 'unavailable']);
    expect((body as Json).message).toMatch(/again and again$/);
    expect(reads).toBeGreaterThan(20);
    proxy.plays = {};
    expect((await read()).status).toBe(200);
  });
});

describe('an EXTRACT of which something goes while it is read', () => {
  const extract = (): request.Test => request(app).get(`${V1}/ehr/${ehrId}/extract`);

  /** So many times the versions that are read lack one that was listed. */
  function lacking(times: number): (name: string, reply: Json) => Json {
    return (_name, reply) => {
      const cursor = reply.cursor as { ns: string; firstBatch?: Json[] } | undefined;
      if (cursor?.firstBatch === undefined || !cursor.ns.endsWith('.versions') || reads === times)
        return reply;
      reads += 1;
      return { ...reply, cursor: { ...cursor, firstBatch: cursor.firstBatch.slice(1) } };
    };
  }

  it('is begun anew', async () => {
    const { text: whole } = await extract();
    reads = 0;
    proxy.plays = { rewrite: lacking(2) };
    const { status, text } = await extract();
    const timeless = (one: string): string => one.replace(/"time_created":\{[^}]*\}/, '');
    expect([status, reads, timeless(text)]).toEqual([200, 2, timeless(whole)]);
  });

  it('is 503 with Retry-After when that happens so many times', async () => {
    reads = 0;
    proxy.plays = { rewrite: lacking(Infinity) };
    const { status, headers, body } = await extract();
    expect([status, headers['retry-after'], (body as Json).code]).toEqual([503, '1', 'unavailable']);
    expect(reads).toBeGreaterThan(20);
  });
});
