import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { auditRecordsOf, forgetAudit } from '../../support/api/audit-records.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { bearer } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce', auditReads: true }));
const open = testApp();
const CLAIMS = { roles: ['USER'], organisation: 'ward 3', purpose_of_use: 'TREAT' };
const NURSE = `Bearer ${jwt.sign(CLAIMS, TEST_JWT_SECRET, { subject: 'nurse', expiresIn: 600 })}`;
const AUDITOR = bearer(['AUDITOR'], 'auditor');

beforeAll(() => givenTemplate(open));
beforeEach(() => forgetAudit());

describe('the audit of a server that enforces policies', () => {
  it('tells which of them decided, for whom, and what was hidden though it was answered as what is not there', async () => {
    const [seen, unseen] = [await givenEhr(open), await givenEhr(open)];
    const uid = await givenComposition(open, seen);
    const policy = (id: string, text: string) => putPolicy(app, id, text).expect(200);
    await policy('care', 'permit (principal, action, resource) when { principal has organisation };');
    await policy('not-this', `forbid (principal, action, resource) when { resource.ehr_id == "${unseen}" };`);
    await forgetAudit();
    const ask = (path: string) => request(app).get(`${V1}${path}`).set('Authorization', NURSE);
    await ask(`/ehr/${seen}/composition/${uid}`).expect(200);
    await ask(`/ehr/${unseen}`).expect(404);
    await request(app)
      .post(`${V1}/ehr/${seen}/composition`)
      .set('Authorization', NURSE)
      .send(aComposition())
      .expect(201);
    const who = { sub: 'nurse', organisation: 'ward 3', purpose: 'TREAT' };
    const records = await auditRecordsOf();
    expect(records).toMatchObject([
      { ...who, status: 200, policies: ['care'] },
      { ...who, status: 404, policies: ['not-this'], hidden: true },
      { ...who, status: 201, policies: ['care'] },
    ]);
    expect(records.map((record) => 'hidden' in record)).toEqual([false, true, false]);
    const csv = await request(app)
      .get('/rest/admin/audit')
      .set({ Authorization: AUDITOR, Accept: 'text/csv' })
      .expect(200);
    expect(csv.text.split('\n')[0]?.trim()).toMatch(/,organisation,purpose,policies,hidden,decision,/);
    expect(csv.text).toMatch(/,ward 3,TREAT,not-this,(?:true|1),forbid,/);
  });
});
