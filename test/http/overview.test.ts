import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { claimStorage } from '../../models/settings.js';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { aComposition, givenTemplate, V1 } from '../support/resources.js';
import { testSettings } from '../support/settings.js';
import { USER, WITH_ADMIN } from '../support/tokens.js';

useDatabase();

describe('GET /rest/overview', () => {
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
});
