import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp } from '../../support/app.js';
import { auditRecordsOf, forgetAudit } from '../../support/api/audit-records.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'observe', auditReads: true }));
const open = testApp();

const tokenOf = (claims: object): string =>
  `Bearer ${jwt.sign({ roles: ['USER'], ...claims }, TEST_JWT_SECRET, { subject: 'nurse', expiresIn: 600 })}`;
const NURSE = tokenOf({ organisation: 'ward 3' });

const policy = (id: string, text: string) => putPolicy(app, id, text).expect(200);

beforeAll(() => givenTemplate(open));
beforeEach(() => forgetAudit());

describe('ACCESS_MODE=observe', () => {
  it('refuses nothing, and tells what would have been hidden from whom', async () => {
    const [seen, hidden] = [await givenEhr(open), await givenEhr(open)];
    const uid = await givenComposition(open, seen);
    await givenComposition(open, hidden);
    await policy('care', 'permit (principal, action, resource) when { principal has organisation };');
    await policy('not-this', `forbid (principal, action, resource) when { resource.ehr_id == "${hidden}" };`);
    await policy(
      'no-writing',
      'forbid (principal, action == Action::"create", resource) when { resource is Version && resource.kind == "COMPOSITION" };',
    );
    await forgetAudit();
    const ask = (method: 'get' | 'post', path: string, token = NURSE) =>
      request(app)[method](`${V1}${path}`).set('Authorization', token);
    const q = 'SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c';
    await ask('get', `/ehr/${seen}/composition/${uid}`).expect(200);
    await ask('get', `/ehr/${hidden}`).expect(200);
    await ask('post', `/ehr/${seen}/composition`).send(aComposition()).expect(201);
    const found = await ask('post', '/query/aql').send({ q }).expect(200);
    expect((found.body as { rows: unknown[] }).rows).toContainEqual([hidden]);
    await ask('get', `/ehr/${seen}`, tokenOf({ organisation: ['one', 'other'] })).expect(200);
    await ask('get', '/ehr/00000000-0000-4000-8000-000000000000').expect(404);
    const records = await auditRecordsOf();
    expect(records.map((record) => record.hidden === true)).toEqual([false, true, true, true, true, false]);
    expect(records.map(({ policies = [] }) => policies)).toMatchObject([
      ['care'],
      ['not-this'],
      expect.arrayContaining(['no-writing']),
      expect.arrayContaining(['not-this']),
      [],
      [],
    ]);
    const counted = await request(app)
      .get('/rest/admin/policies/observed')
      .set('Authorization', ADMIN)
      .expect(200);
    const who = { sub: 'nurse', organisation: 'ward 3', count: 1 };
    expect(counted.body).toMatchObject({ complete: true });
    expect((counted.body as { observed: unknown[] }).observed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...who, operation: 'ehr_get_by_id', policies: ['not-this'] }),
        expect.objectContaining({ ...who, operation: 'composition_create' }),
        expect.objectContaining({ ...who, operation: 'query_execute_adhoc_post' }),
      ]),
    );
    const later = await request(app)
      .get('/rest/admin/policies/observed?from=2999-01-01T00:00:00Z')
      .set('Authorization', ADMIN)
      .expect(200);
    expect((later.body as { observed: unknown[] }).observed).toEqual([]);
  });

  it('needs users, and the audit of reads', () => {
    const key = { JWT_SECRET: TEST_JWT_SECRET };
    expect(() => loadConfig({ ACCESS_MODE: 'observe', AUTH: 'none', AUDIT_READS: 'true' })).toThrow(
      'ACCESS_MODE=observe needs users',
    );
    expect(() => loadConfig({ ...key, ACCESS_MODE: 'observe', AUTH: 'jwt' })).toThrow('set AUDIT_READS=true');
    expect(loadConfig({ ...key, ACCESS_MODE: 'observe', AUTH: 'jwt', AUDIT_READS: 'true' }).accessMode).toBe(
      'observe',
    );
  });
});
