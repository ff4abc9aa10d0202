import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenEhr } from '../../support/resources.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const open = testApp({ auth: 'none' });
const app = testApp({ ...WITH_ADMIN, auth: 'jwt' });
const note = (body: object, who = bearer(['READER'], 'rita')) =>
  request(app).post('/rest/print').set('Authorization', who).send(body);
const recorded = async () =>
  (
    await request(app)
      .get('/rest/admin/audit?operation=print_note&user=rita')
      .set('Authorization', ADMIN)
      .set('Accept', 'application/json')
      .expect(200)
  ).body;

describe('a print', () => {
  it('is recorded with what is printed, also where reads are not, and without what a query compares with', async () => {
    const ehrId = await givenEhr(open);
    const uid = '8849182c-82ad-4088-a07f-48ead4180515::local::1';
    await note({ of: 'document', ehr_id: ehrId, uid }).expect(204);
    await note({ of: 'result', q: "SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = 'Anna'" }).expect(
      204,
    );
    const text = JSON.stringify(await recorded());
    expect(text).toContain(ehrId);
    expect(text).toContain(uid);
    expect(text).toContain('"of":"document"');
    expect(text).toContain('e/ehr_id/value = ?');
    expect(text).not.toContain('Anna');
    expect((await request(app).post('/rest/print').send({ of: 'record' })).status).toBe(401);
    // Who audits prints reports of access, and reads no record.
    await note({ of: 'access', ehr_id: ehrId }, bearer(['AUDITOR'])).expect(204);
  });
});
