import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../maintenance/verify.js';
import { claimStorage, finishReindex, saveReindexPosition } from '../../models/settings.js';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { merge } from '../support/merge-http.js';
import { tokenOf } from '../support/policy/marks.js';
import { aComposition, givenEhr, givenTemplate, V1 } from '../support/resources.js';
import { everythingOn, testSettings } from '../support/settings.js';
import { USER, WITH_ADMIN } from '../support/tokens.js';

useDatabase();

describe('GET /rest/overview', () => {
  it("tells a patient his own record, where merges took it, and nobody else's", async () => {
    const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'observe', auditReads: true }));
    const open = testApp(WITH_ADMIN);
    const [before, after] = [await givenEhr(open), await givenEhr(open)];
    const userOf = async (claims: object): Promise<unknown> => {
      const answer = request(app)
        .get('/rest/overview')
        .set('Authorization', tokenOf(['READER'], claims));
      return (await answer.expect(200)).body.user;
    };
    expect(await userOf({ ownEhrId: before })).toEqual({
      name: 'ada',
      permissions: ['read'],
      ehr_id: before,
    });
    expect(await userOf({})).toEqual({ name: 'ada', permissions: ['read'] });
    expect(await userOf({ ownEhrId: randomUUID() })).toEqual({ name: 'ada', permissions: ['read'] });
    await merge(open, before, after).expect(200);
    expect(await userOf({ ownEhrId: before })).toMatchObject({ ehr_id: after });
  });

  it('counts what is stored and lists the newest contributions first', async () => {
    const app = testApp();
    await givenTemplate(app);
    const before = (await request(app).get('/rest/overview')).body;
    expect(before.counts).toEqual(expect.objectContaining({ compositions: 0, templates: 1 }));
    const ehr = await request(app).post(`${V1}/ehr`);
    const ehrId = ehr.headers.etag!.replaceAll('"', '');
    await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(aComposition()).expect(201);
    const { body } = await request(testApp()).get('/rest/overview');
    expect(body).toMatchObject({
      status: 'UP',
      user: null,
      counts: { compositions: 1, compositions_exact: true },
    });
    expect(body.contributions[0]).toMatchObject({
      ehr_id: ehrId,
      change_type: 'creation',
      versions: [{ type: 'COMPOSITION' }],
    });
    expect(body.activity.minutes).toHaveLength(60);
    // Of this process, which has just begun.
    expect(body.activity.day.at(-1)).toMatchObject({ requests: expect.any(Number), errors: 0 });
    expect(body.activity.waiting_queries).toBe(0);
    expect(body.database.bytes).toBeGreaterThan(0);
    expect(body.database.disk.used).toBeGreaterThan(0);
    expect(body.database.disk.bytes).toBeGreaterThan(body.database.disk.used);
  });

  it('tells when all was checked last, and what that found', async () => {
    const verified = async () => (await request(testApp()).get('/rest/overview')).body.verified;
    await mongoose.connection.collection<{ _id: string }>('settings').deleteOne({ _id: 'verified' });
    expect(await verified()).toBeNull();
    const { violations } = await verifyStorage();
    const first = await verified();
    expect(first).toEqual({ time: expect.any(String), violations: violations.length });
    expect(Math.abs(Date.now() - Date.parse(first.time))).toBeLessThan(60_000);
    await mongoose.connection
      .collection<{ _id: string; owner_id: string }>('item_tags')
      .insertOne({ _id: 'of nobody', owner_id: randomUUID() });
    await verifyStorage();
    expect((await verified()).violations).toBeGreaterThan(violations.length);
    await mongoose.connection.collection<{ _id: string }>('item_tags').deleteOne({ _id: 'of nobody' });
  });

  it('tells activity and slow queries without the values in them', async () => {
    const app = testApp();
    await request(app).post(`${V1}/query/aql`).send({ q: "SELECT e FROM EHR e[ehr_id/value='erika']" });
    await request(app).post(`${V1}/query/aql`).send({ q: 'SELECT erika' }).expect(400);
    const { body, text } = await request(app).get('/rest/overview');
    expect(body.activity.minutes.at(-1).queries).toBeGreaterThan(0);
    expect(body.activity.query_ms.median).toBeGreaterThan(0);
    expect(body.slowest_queries).toContainEqual(
      expect.objectContaining({ aql: 'SELECT e FROM EHR e[ehr_id/value=?]', rows: 0 }),
    );
    expect(text).not.toContain('erika');
  });

  it('warns of open access and unrecorded reads, and tells who asks', async () => {
    const { systemId, aql } = testSettings();
    await claimStorage(systemId, aql.leafIndex);
    const open = await request(testApp({ auditReads: false })).get('/rest/overview');
    expect(open.body.warnings.map(({ code }: { code: string }) => code)).toEqual(['open-access', 'no-audit']);
    const closed = testApp({ ...WITH_ADMIN, auth: 'jwt', auditReads: true });
    await request(closed).get('/rest/overview').expect(401);
    const { body } = await request(closed).get('/rest/overview').set('Authorization', USER);
    expect(body.warnings).toEqual([]);
    expect(body.user).toEqual({ name: 'ada', permissions: expect.arrayContaining(['read', 'write']) });
  });

  it('tells how far background jobs are, without naming patients', async () => {
    const { systemId, aql } = testSettings();
    await claimStorage(systemId, aql.leafIndex);
    const app = testApp();
    const jobs = async () => (await request(testApp()).get('/rest/overview')).body.jobs;
    expect(await jobs()).toEqual([]);
    const ids = [];
    for (let count = 0; count < 2; count += 1)
      ids.push((await request(app).post(`${V1}/ehr`)).headers.etag!.replaceAll('"', ''));
    const seen: unknown[] = [];
    await verifyStorage(() => seen.push(jobs()));
    const found = (await Promise.all(seen)).flat();
    expect(found[0]).toEqual({
      kind: 'verify',
      started: expect.any(String),
      done: expect.any(Number),
      of: expect.any(Number),
    });
    await saveReindexPosition({ sv: 0, leafIndex: aql.leafIndex, afterEhr: ids.sort()[0]! });
    const [reindex] = await jobs();
    expect(reindex).toMatchObject({ kind: 'reindex', done: expect.any(Number) });
    expect(reindex.of).toBeGreaterThan(reindex.done);
    await finishReindex(aql.leafIndex);
    const elsewhere = { _id: 'verify', holder: 'another process', expires_at: new Date(Date.now() + 50_000) };
    await mongoose.connection.collection<{ _id: string }>('settings').insertOne(elsewhere);
    const job = { _id: ids[0]!, kind: 'merge', source_ehr: ids[0], target_ehr: ids[1], phase: 'moving' };
    await mongoose.connection
      .collection<{ _id: string }>('merge_jobs')
      .insertOne({ ...job, started_at: new Date() } as { _id: string });
    expect(await jobs()).toEqual([
      { kind: 'verify' },
      { kind: 'merge', phase: 'moving', started: expect.any(String) },
    ]);
    for (const name of ['settings', 'merge_jobs'])
      await mongoose.connection
        .collection<{ _id: string }>(name)
        .deleteOne({ _id: name === 'settings' ? 'verify' : ids[0]! });
  });
});
