import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { forgetAudit } from '../../support/api/audit-records.js';
import { violationsOf } from '../../support/access/balp.js';
import { useDatabase } from '../../support/database.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { bearer, USER } from '../../support/tokens.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', auditReads: true }));
const open = testApp();
const AUDITOR = bearer(['AUDITOR'], 'auditor');
const O = '/rest/admin/audit';

const events = (query: string): request.Test =>
  request(app).get(`${O}${query}`).set('Authorization', AUDITOR);
const patientsOf = (event: Json): string[] =>
  event['entity']
    .filter(({ role }: Json) => role?.code === '1')
    .map(({ what }: Json) => String(what.identifier.value).replace('urn:uuid:', ''));

beforeAll(() => givenTemplate(open));

describe('GET /rest/admin/audit?format=fhir', () => {
  it('answers AuditEvents of BALP, one for each patient, page by page', async () => {
    const ids = [await givenEhr(open), await givenEhr(open), await givenEhr(open)];
    const uid = await givenComposition(open, ids[0] ?? '');
    await forgetAudit();
    const call = (method: 'get' | 'delete', path: string) =>
      request(app)[method](`${V1}${path}`).set('Authorization', USER);
    await call('get', `/ehr/${ids[0] ?? ''}/composition/${uid}`).expect(200);
    const q = `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value matches {'${ids.join("','")}'}`;
    await request(app).post(`${V1}/query/aql`).set('Authorization', USER).send({ q }).expect(200);
    await call('delete', `/ehr/${ids[0] ?? ''}/composition/${uid}`).expect(204);
    await call('get', `/ehr/${ids[0] ?? ''}/composition/${uid}`);
    const seen: Json[] = [];
    let path: string | undefined = `${O}?format=fhir&order=oldest&fetch=2&user=ada`;
    for (let pages = 0; path !== undefined; pages += 1) {
      expect(pages).toBeLessThan(5);
      const answer: request.Response = await request(app).get(path).set('Authorization', AUDITOR).expect(200);
      expect(answer.headers['content-type']).toBe('application/fhir+json; charset=utf-8');
      const bundle = JSON.parse(answer.text) as Json;
      expect(bundle).toMatchObject({ resourceType: 'Bundle', type: 'searchset' });
      expect(bundle['entry'].length).toBeLessThanOrEqual(2);
      seen.push(...bundle['entry'].map(({ resource }: Json) => resource as Json));
      const next = bundle['link'].find(({ relation }: Json) => relation === 'next') as Json | undefined;
      path =
        next === undefined
          ? undefined
          : new URL(next['url'] as string).pathname + new URL(next['url'] as string).search;
    }
    for (const event of seen) expect(violationsOf(event as never)).toEqual([]);
    expect(new Set(seen.map(({ id }) => id as string)).size).toBe(seen.length);
    expect(
      seen.map((event) => [
        event['meta'].profile[0].split('.').at(-1),
        event['action'],
        event['outcome'],
        patientsOf(event).length,
      ]),
    ).toEqual([
      ['PatientRead', 'R', '0', 1],
      ...ids.map(() => ['PatientQuery', 'E', '0', 1]),
      ['PatientDelete', 'D', '0', 1],
      ['PatientRead', 'R', expect.any(String), 1],
    ]);
    expect(new Set(seen.slice(1, 4).flatMap(patientsOf))).toEqual(new Set(ids));
    const query = seen[1]?.['entity'].find(({ role }: Json) => role?.code === '24') as Json;
    expect(Buffer.from(query['query'] as string, 'base64').toString()).toContain('SELECT e/ehr_id/value');
    const data = seen[0]?.['entity'].find(({ role }: Json) => role?.code === '4') as Json;
    expect(data['what'].identifier.value).toBe(uid);
    expect(data['detail']).toContainEqual({ type: 'templates', valueString: 'minimal_evaluation.en.v1' });
  });

  it('is what Accept asks for too, and nothing else goes on in the middle of something', async () => {
    const accepted = await request(app)
      .get(O)
      .set({ Authorization: AUDITOR, Accept: 'application/fhir+json' });
    expect(accepted.headers['content-type']).toMatch(/^application\/fhir\+json/);
    for (const wrong of [
      '?format=xml',
      '?format=fhir&after=x',
      '?format=fhir&after=none~1',
      '?order=best',
      '?after=none',
    ])
      expect([wrong, (await events(wrong)).status]).toEqual([wrong, 400]);
    await request(app).get(`${O}?format=fhir`).set('Authorization', USER).expect(403);
  });

  it('lists records in either order, each page behind the one before', async () => {
    await forgetAudit();
    for (let count = 0; count < 5; count += 1) await givenEhr(open);
    const ids: string[] = [];
    let path: string | undefined = `${O}?operation=ehr_create&order=oldest&fetch=2`;
    while (path !== undefined) {
      const { body, headers }: request.Response = await request(app)
        .get(path)
        .set('Authorization', AUDITOR)
        .expect(200);
      ids.push(...(body as Json[]).map(({ id }) => id as string));
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
      path = next === undefined ? undefined : new URL(next).pathname + new URL(next).search;
    }
    const newest = (await events('?operation=ehr_create')).body as Json[];
    expect(ids).toEqual([...ids].sort());
    expect(newest.map(({ id }) => id as string)).toEqual([...ids].reverse());
    expect(ids).toHaveLength(5);
  });
});
