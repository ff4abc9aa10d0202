import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { auditRecordsOf, forgetAudit } from '../../support/api/audit-records.js';
import { useDatabase } from '../../support/database.js';
import { merge, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, bearer } from '../../support/tokens.js';

useDatabase();

const settings = everythingOn({ auth: 'jwt', auditReads: true });
const app = testApp(settings);
const open = testApp();
const tokenOf = (subject: string, claims: object): string =>
  `Bearer ${jwt.sign({ roles: ['USER'], ...claims }, TEST_JWT_SECRET, { subject, expiresIn: 600 })}`;
const NURSE = tokenOf('nurse', {
  preferred_username: 'Nora Night',
  azp: 'ward-app',
  organisation: 'ward 3',
  purpose_of_use: 'TREAT',
  act: { sub: 'night-service', iss: 'https://issuer.example' },
});
const AUDITOR = bearer(['AUDITOR'], 'auditor');
const patient = (ehrId: string): string => tokenOf('patient', { ownEhrId: ehrId });

const ask = (path: string, token: string, accept = 'application/json'): request.Test =>
  request(app).get(path).set({ Authorization: token, Accept: accept });
const report = (ehrId: string, token: string, query = ''): request.Test =>
  ask(`/rest/ehrs/${ehrId}/access${query}`, token);

beforeAll(() => givenTemplate(open));
beforeEach(() => forgetAudit());

describe('the access report', () => {
  it('says who, for whom, from where, why, what kind and when, in the words of people', async () => {
    const ehrId = await givenEhr(open);
    const uid = await givenComposition(open, ehrId);
    await ask(`${V1}/ehr/${ehrId}/composition/${uid}`, NURSE).expect(200);
    const { body } = await report(ehrId, AUDITOR).expect(200);
    expect(body).toMatchObject({ ehr_id: ehrId, ehr_ids: [ehrId], reads_recorded: true });
    expect((body as Json).entries[0]).toEqual({
      time: expect.stringMatching(/^\d{4}-/),
      user: 'Nora Night',
      what: 'read a document',
      why: 'treatment',
      organisation: 'ward 3',
      client_id: 'ward-app',
      address: expect.stringMatching(/127\.0\.0\.1/),
      actor: 'night-service',
      ehr_id: ehrId,
      templates: ['minimal_evaluation.en.v1'],
      categories: ['event'],
      objects: [uid],
      purpose: 'TREAT',
      operation: 'composition_get',
      status: 200,
      request_id: expect.any(String),
    });
    const german = await ask(`/rest/ehrs/${ehrId}/access`, AUDITOR).set('Accept-Language', 'de-AT,en;q=0.5');
    expect(german.headers['content-language']).toBe('de');
    // The look at the report itself is the newest.
    expect((german.body as Json).entries.map(({ what, why }: Json) => [what, why])).toEqual(
      expect.arrayContaining([['las ein Dokument', 'Behandlung']]),
    );
    const english = await report(ehrId, AUDITOR, '?language=en').set('Accept-Language', 'de');
    expect((english.body as Json).entries.at(-1).what).toBe('made a record');
  });

  it('says of a query what kind the documents were, where its rows are of one patient alone', async () => {
    const [one, other] = [await givenEhr(open), await givenEhr(open)];
    for (const ehrId of [one, other]) await givenComposition(open, ehrId);
    const kindsOf = async (ehrId: string): Promise<unknown> => {
      const { body } = await report(ehrId, AUDITOR).expect(200);
      const [{ templates, categories, operation }] = (body as Json).entries.filter(
        ({ operation: of }: Json) => String(of).startsWith('query_'),
      );
      return [operation, templates, categories];
    };
    const query = async (where: string, select = 'c', accept = 'application/json') =>
      ask(
        `${V1}/query/aql?q=${encodeURIComponent(`SELECT ${select} FROM EHR e CONTAINS COMPOSITION c WHERE ${where}`)}`,
        NURSE,
        accept,
      ).expect(200);
    const KINDS = ['query_execute_adhoc', ['minimal_evaluation.en.v1'], ['event']];
    const NO_KINDS = ['query_execute_adhoc', undefined, undefined];
    for (const accept of ['application/json', 'application/x-ndjson']) {
      await query(`e/ehr_id/value = '${one}'`, 'c', accept);
      expect(await kindsOf(one)).toEqual(KINDS);
      await query(`e/ehr_id/value MATCHES {'${one}', '${other}'}`, 'c', accept);
      expect(await kindsOf(one)).toEqual(NO_KINDS);
      expect(await kindsOf(other)).toEqual(NO_KINDS);
      await query(`e/ehr_id/value = '${one}'`, 'c/name/value', accept);
      expect(await kindsOf(one)).toEqual(NO_KINDS);
    }
  });

  it('is for the patient himself, for auditors and administrators, and for nobody else, whether it is there or not', async () => {
    const [own, other] = [await givenEhr(open), await givenEhr(open)];
    await report(own, patient(own)).expect(200);
    await report(own, ADMIN).expect(200);
    for (const [ehrId, token] of [
      [other, patient(own)],
      [randomUUID(), patient(own)],
      [own, NURSE],
      [randomUUID(), NURSE],
      [own, tokenOf('both', { ownEhrId: [own, other] })],
      [own, tokenOf('nobody', { ownEhrId: randomUUID() })],
    ] as const) {
      const { status, body } = await report(ehrId, token);
      expect([status, (body as Json).message]).toEqual([403, expect.stringContaining('the patient')]);
    }
    await request(app).get(`/rest/ehrs/${own}/access`).expect(401);
    await report(randomUUID(), AUDITOR).expect(404);
    await report('no-id', AUDITOR).expect(400);
  });

  it('has what was answered alone, and tells nobody of other patients', async () => {
    const [ehrId, other] = [await givenEhr(open), await givenEhr(open)];
    await ask(`${V1}/ehr/${ehrId}/composition/${randomUUID()}`, NURSE).expect(404);
    await request(app)
      .get(`${V1}/ehr/${ehrId}`)
      .set('Authorization', bearer(['AUDITOR']))
      .expect(403);
    const q = `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value matches {'${ehrId}','${other}'}`;
    await request(app).post(`${V1}/query/aql`).set('Authorization', NURSE).send({ q }).expect(200);
    const { body, text } = await report(ehrId, patient(ehrId)).expect(200);
    const entries = (body as Json).entries as Json[];
    expect(entries.map(({ operation }) => operation)).toEqual(['query_execute_adhoc_post', 'ehr_create']);
    expect(entries[0]).toMatchObject({ what: 'ran a query', rows: 2, query: expect.stringContaining('?') });
    expect(text).not.toContain(other);
  });

  it('is paged, and is CSV where that is wanted', async () => {
    const ehrId = await givenEhr(open);
    for (let count = 0; count < 5; count += 1) await ask(`${V1}/ehr/${ehrId}`, NURSE).expect(200);
    const until = new Date().toISOString();
    const seen: string[] = [];
    let next: string | undefined = '';
    for (let pages = 0; next !== undefined; pages += 1) {
      expect(pages).toBeLessThan(4);
      const page: request.Response = await report(
        ehrId,
        AUDITOR,
        `?fetch=2&to=${until}${next === '' ? '' : `&after=${next}`}`,
      ).expect(200);
      const body = page.body as Json;
      seen.push(...body.entries.map(({ request_id: id }: Json) => id));
      next = body.next;
      expect(page.headers['link'] === undefined).toBe(next === undefined);
    }
    expect([seen.length, new Set(seen).size]).toEqual([6, 6]);
    const csv = await ask(`/rest/ehrs/${ehrId}/access?to=${until}`, AUDITOR, 'text/csv').expect(200);
    const lines = csv.text.trim().split('\r\n');
    expect(lines[0]).toMatch(/^time,user,what,why,organisation,client_id,address,/);
    expect([lines.length, lines[1]]).toEqual([
      7,
      expect.stringMatching(/,Nora Night,opened the record,treatment,ward 3,ward-app,/),
    ]);
    await report(ehrId, AUDITOR, '?after=%3D').expect(400);
  });

  it('has what was recorded of an EHR that was merged into it, by either id', async () => {
    const [source, target] = [await givenEhr(open), await givenEhr(open)];
    await ask(`${V1}/ehr/${source}`, NURSE).expect(200);
    expect((await merge(app, source, target)).status).toBe(200);
    for (const [ehrId, token] of [
      [target, AUDITOR],
      [source, AUDITOR],
      [source, patient(source)],
      [target, patient(source)],
    ] as const) {
      const { body } = await report(ehrId, token).expect(200);
      expect(body).toMatchObject({ ehr_id: target, ehr_ids: [target, source] });
      const opened = (body as Json).entries.filter(({ operation }: Json) => operation === 'ehr_get_by_id');
      expect(opened).toMatchObject([{ ehr_id: source }]);
    }
    expect((await unmerge(app, source, target)).status).toBe(200);
    const { body } = await report(target, AUDITOR).expect(200);
    expect((body as Json).ehr_ids).toEqual([target]);
    expect((body as Json).entries.some(({ operation }: Json) => operation === 'ehr_get_by_id')).toBe(false);
    await report(target, patient(source)).expect(403);
  });

  it('is recorded itself', async () => {
    const ehrId = await givenEhr(open);
    await report(ehrId, patient(ehrId)).expect(200);
    expect(await auditRecordsOf({ operation: 'ehr_access' })).toMatchObject([
      { ehr_id: ehrId, sub: 'patient' },
    ]);
  });
});

describe('a token that says who acts', () => {
  it('is refused where it names nobody', async () => {
    const refused = await ask(`${V1}/ehr/${randomUUID()}`, tokenOf('x', { act: 'somebody' }));
    expect([refused.status, (refused.body as Json).message]).toEqual([401, expect.stringContaining('act')]);
    await ask(`${V1}/ehr/${randomUUID()}`, tokenOf('x', { act: {} })).expect(401);
  });
});

describe('reads where a policy holds', () => {
  it('are recorded without AUDIT_READS from the first policy on', async () => {
    const enforcing = testApp({ ...settings, auditReads: false, accessMode: 'enforce' });
    const ehrId = await givenEhr(open);
    const read = () => request(enforcing).get(`${V1}/ehr/${ehrId}`).set('Authorization', NURSE).expect(200);
    const ALL = '/rest/admin/policies/all';
    const policies = (method: 'put' | 'delete') => {
      const headers = { Authorization: ADMIN, 'Content-Type': 'text/plain' };
      const asked = request(enforcing)[method](ALL).set(headers);
      return method === 'put' ? asked.send('permit (principal, action, resource);') : asked;
    };
    const reads = async () => (await auditRecordsOf({ operation: 'ehr_get_by_id' })).length;
    await read();
    expect(await reads()).toBe(0);
    await policies('put').expect(200);
    await read();
    expect(await auditRecordsOf({ operation: 'ehr_get_by_id' })).toMatchObject([
      { ehr_id: ehrId, sub: 'nurse', actor: 'night-service', policies: ['all'] },
    ]);
    const { body } = await request(enforcing)
      .get(`/rest/ehrs/${ehrId}/access`)
      .set('Authorization', AUDITOR)
      .expect(200);
    expect((body as Json).reads_recorded).toBe(true);
    await policies('delete').expect(204);
    await read();
    expect(await reads()).toBe(1);
  });
});
