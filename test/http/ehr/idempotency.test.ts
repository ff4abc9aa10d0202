import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import mongoose from 'mongoose';
import request from 'supertest';

import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { givenEhr } from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

const V1 = '/rest/openehr/v1';
const TEMPLATES = `${V1}/definition/template/adl1.4`;
const OPT = fixtureText('opt/minimal_observation.en.v1.opt');
const app = testApp();

const STATUS = (id: string) => ({
  _type: 'EHR_STATUS',
  archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
  name: { _type: 'DV_TEXT', value: 'EHR Status' },
  subject: {
    _type: 'PARTY_SELF',
    external_ref: {
      _type: 'PARTY_REF',
      id: { _type: 'GENERIC_ID', value: id, scheme: 'id_scheme' },
      namespace: 'hospital',
      type: 'PERSON',
    },
  },
});

function post(path: string, key: string, body = '', headers: Record<string, string> = {}) {
  return request(app)
    .post(path)
    .set({ 'Content-Type': 'application/json', 'Idempotency-Key': key, ...headers })
    .send(body);
}

const count = (name: string) => mongoose.connection.collection(name).countDocuments();
const keys = () => mongoose.connection.collection<{ _id: string; expires_at: Date }>('idempotency_keys');

useDatabase();

describe('POST with Idempotency-Key', () => {
  it('gives the first answer again for the same key and body', async () => {
    const key = randomUUID();
    const body = JSON.stringify(STATUS('p1'));
    const first = await post(`${V1}/ehr`, key, body);
    const ehrs = await count('ehrs');
    for (const path of [`${V1}/ehr`, `${V1}/ehr/`, '/v1/ehr']) {
      const again = await post(path, key, body);
      expect(again.status).toBe(201);
      for (const header of ['etag', 'location', 'last-modified', 'content-length'])
        expect(again.headers[header]).toBe(
          first.headers[header]?.replace(/127\.0\.0\.1:\d+/, new URL(again.headers.location!).host),
        );
    }
    expect(await count('ehrs')).toBe(ehrs);
    expect(await count('contributions')).toBe(ehrs);
  });

  it('renders the answer as the later request prefers', async () => {
    const key = randomUUID();
    const first = await post(`${V1}/ehr`, key);
    const again = await post(`${V1}/ehr`, key, '', { Prefer: 'return=representation' });
    expect([again.status, `"${again.body.ehr_id.value as string}"`]).toEqual([201, first.headers.etag]);
    const xml = await post(`${V1}/ehr`, key, '', { Prefer: 'return=identifier', Accept: 'application/xml' });
    expect(xml.text).toContain('<identifier');
  });

  it('works for templates', async () => {
    const key = randomUUID();
    const send = (opt: string) =>
      post(TEMPLATES, key, opt, {
        'Content-Type': 'application/xml',
        Prefer: 'return=representation',
        Accept: 'application/xml',
      });
    const first = await send(OPT);
    const again = await send(OPT);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect([again.text === first.text, again.headers.etag]).toEqual([true, first.headers.etag]);
    expect((await send(OPT.replace('<concept>', '<concept>x'))).status).toBe(422);
    expect(await count('templates')).toBe(1);
  });

  it('answers 422 for the same key with another body', async () => {
    const key = randomUUID();
    await post(`${V1}/ehr`, key, JSON.stringify(STATUS('p2')));
    const before = await count('ehrs');
    const other = await post(`${V1}/ehr`, key, JSON.stringify(STATUS('p3')));
    expect([other.status, other.body.error]).toEqual([422, 'Unprocessable Entity']);
    expect(await count('ehrs')).toBe(before);
  });

  it('tells keys of different paths and users apart', async () => {
    const key = randomUUID();
    const secured = testApp(everythingOn({ auth: 'jwt' }));
    const as = (user: string) =>
      request(secured)
        .post(`${V1}/ehr`)
        .set('Idempotency-Key', key)
        .set(
          'Authorization',
          // One name for all: it is the subject that tells users apart.
          `Bearer ${jwt.sign({ sub: user, preferred_username: 'same', roles: ['USER'] }, TEST_JWT_SECRET, { expiresIn: 60 })}`,
        );
    const [ada, bob, adaAgain] = [await as('ada'), await as('bob'), await as('ada')];
    expect([ada.status, bob.status]).toEqual([201, 201]);
    expect(bob.headers.etag).not.toBe(ada.headers.etag);
    expect(adaAgain.headers.etag).toBe(ada.headers.etag);
    expect((await post(`${V1}/ehr`, key)).headers.etag).not.toBe(ada.headers.etag);
  });

  it('answers 409 while the first request runs, and makes one thing only', async () => {
    const key = randomUUID();
    const before = await count('ehrs');
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(`${V1}/ehr`, key)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(201);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(
      new Set(answers.filter(({ status }) => status === 201).map(({ headers }) => headers.etag)).size,
    ).toBe(1);
    expect(await count('ehrs')).toBe(before + 1);
  });

  it('remembers nothing of a request that failed', async () => {
    const key = randomUUID();
    const stored = await keys().countDocuments();
    expect((await post(`${V1}/ehr`, key, '{"_type":"FOLDER"}')).status).toBe(400);
    expect(await keys().countDocuments()).toBe(stored);
    expect((await post(`${V1}/ehr`, key, JSON.stringify(STATUS('p4')))).status).toBe(201);
  });

  it('forgets after 24 hours, validated on reading', async () => {
    const key = randomUUID();
    const first = await post(`${V1}/ehr`, key);
    const id = JSON.stringify(['', `${V1}/ehr`, key]);
    const doc = await keys().findOne({ _id: id });
    const lifetime = doc!.expires_at.getTime() - Date.now();
    expect(lifetime).toBeGreaterThan(24 * 3_600_000 - 60_000);
    expect(lifetime).toBeLessThanOrEqual(24 * 3_600_000);
    await keys().updateOne({ _id: id }, { $set: { expires_at: new Date(Date.now() - 1) } });
    const later = await post(`${V1}/ehr`, key, JSON.stringify(STATUS('p5')));
    expect(later.status).toBe(201);
    expect(later.headers.etag).not.toBe(first.headers.etag);
    expect((await post(`${V1}/ehr`, key, JSON.stringify(STATUS('p5')))).headers.etag).toBe(
      later.headers.etag,
    );
  });

  it.each(['', ' ', 'x'.repeat(256), 'a\tb', 'ü'])('refuses the key %j with 400', async (key) => {
    const before = await count('ehrs');
    const refused = await post(`${V1}/ehr`, key);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await count('ehrs')).toBe(before);
  });

  it('belongs to one user, also where a name with a blank looks like two', async () => {
    const closed = testApp(everythingOn({ auth: 'jwt' }));
    const key = randomUUID();
    const create = (issuer: string, subject: string) =>
      request(closed)
        .post(`${V1}/ehr`)
        .set('Idempotency-Key', key)
        .set(
          'Authorization',
          `Bearer ${jwt.sign({ roles: ['USER'] }, TEST_JWT_SECRET, { issuer, subject, expiresIn: 60 })}`,
        );
    const first = await create('a b', 'c d');
    const second = await create('a b c', 'd');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.etag).not.toBe(first.headers.etag);
    expect((await create('a b', 'c d')).headers.etag).toBe(first.headers.etag);
  });

  it('is checked of a PUT too', async () => {
    const put = await request(app).put(`${V1}/ehr/${randomUUID()}`).set('Idempotency-Key', 'x'.repeat(300));
    expect([put.status, put.body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
  });
});

describe('merging with Idempotency-Key', () => {
  const admin = testApp(WITH_ADMIN);
  const send = (path: string, key: string, body: object) =>
    request(admin).post(path).set({ Authorization: ADMIN, 'Idempotency-Key': key }).send(body);

  it('gives the first answer again, also when the merge was taken back meanwhile', async () => {
    const [source_ehr, target_ehr] = [await givenEhr(app), await givenEhr(app)];
    const [mergeKey, unmergeKey] = [randomUUID(), randomUUID()];
    const merge = () => send('/rest/admin/ehr/merge', mergeKey, { source_ehr, target_ehr, reversible: true });
    const unmerge = () => send('/rest/admin/ehr/unmerge', unmergeKey, { source_ehr, target_ehr });
    const merged = await merge();
    // The plan names compositions, and is not kept beside the key.
    const { plan, ...kept } = merged.body as { plan?: unknown };
    expect(plan).toBeDefined();
    const mergedAgain = await merge();
    expect([merged.status, mergedAgain.status, mergedAgain.body]).toEqual([200, 200, kept]);
    const undone = await unmerge();
    const undoneAgain = await unmerge();
    expect([undone.status, undoneAgain.status, undoneAgain.body]).toEqual([200, 200, undone.body]);
    expect((await merge()).body).toEqual(kept);
    expect((await request(app).get(`${V1}/ehr/${source_ehr}`)).status).toBe(200);
  });
});
