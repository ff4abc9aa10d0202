import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import mongoose from 'mongoose';
import request from 'supertest';
import { MOST_TAGGED } from '../../../models/cross-collection/tagged-ehrs.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { merge, unmerge } from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { bearer } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
const open = testApp();
const ROOT = bearer(['USER', 'ADMIN'], 'root');
const POLICIES = '/rest/admin/policies';
const WARD = `permit (principal, action, resource) when { principal.roles.contains("ADMIN") ||
  (principal has organisation && resource.hasTag("access.ward") &&
   resource.getTag("access.ward").contains(principal.organisation)) };`;

const policy = (id: string, text: string) => putPolicy(app, id, text, ROOT);

/** Token of a nurse of a ward. */
function nurseOf(organisation: string): string {
  const claims = { roles: ['USER'], organisation };
  return `Bearer ${jwt.sign(claims, TEST_JWT_SECRET, { subject: `nurse of ${organisation}`, expiresIn: 600 })}`;
}

const get = (path: string, token: string) => request(app).get(path).set('Authorization', token);
const query = (token: string, q: string, ehr_id?: string) =>
  request(app).post(`${V1}/query/aql`).set('Authorization', token).send({ q, ehr_id });
const rowsOf = async (token: string, q: string, ehrId?: string): Promise<unknown[]> =>
  ((await query(token, q, ehrId).expect(200)).body as { rows: unknown[] }).rows;

async function tagsPath(ehr: string): Promise<string> {
  const status = versionUidOf(await request(open).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));
  return `${V1}/ehr/${ehr}/ehr_status/${versionedObjectUidOf(status)}/tags`;
}

const tag = async (ehr: string, tags: readonly object[], token = ROOT) =>
  request(app)
    .put(await tagsPath(ehr))
    .set('Authorization', token)
    .send(tags);

async function givenPatient(ward: string): Promise<string> {
  const ehr = await givenEhr(open);
  await givenComposition(open, ehr);
  expect((await tag(ehr, [{ key: 'access.ward', value: ward }])).status).toBe(200);
  return ehr;
}

const EHRS = 'SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c ORDER BY e/ehr_id/value';
const WHOLE = 'SELECT COUNT(DISTINCT c/content) FROM EHR e CONTAINS COMPOSITION c';

beforeAll(() => givenTemplate(open));

afterEach(async () => {
  const listed = await get(POLICIES, ROOT);
  for (const { id } of (listed.body as Json)['policies'])
    await request(app).delete(`${POLICIES}/${id}`).set('Authorization', ROOT).expect(204);
});

describe('policies that ask for tags', () => {
  it('let a ward see those who lie there, in reads, lists and queries, from the request after the move on', async () => {
    const [three, four, both] = [
      await givenPatient('3B'),
      await givenPatient('4A'),
      await givenPatient('4A, 3B'),
    ];
    await policy('ward', WARD).expect(200);
    const [nurse, other] = [nurseOf('3B'), nurseOf('4A')];
    const found = async (token: string, ehr: string): Promise<number> =>
      ((await get(`/rest/ehrs?identifier=${ehr}`, token).expect(200)).body as Json).ehrs.length;
    const sorted = (...ehrs: string[]): string[][] => ehrs.sort().map((ehr) => [ehr]);
    expect(await rowsOf(nurse, EHRS)).toEqual(sorted(three, both));
    expect(await rowsOf(other, EHRS)).toEqual(sorted(four, both));
    expect(await rowsOf(nurseOf('5'), EHRS)).toEqual([]);
    expect(await rowsOf(nurse, 'SELECT COUNT(*) FROM EHR e')).toEqual([[2]]);
    expect(await rowsOf(nurse, 'SELECT COUNT(*) FROM COMPOSITION c')).toEqual([[2]]);
    expect(await rowsOf(nurse, EHRS, three)).toEqual([[three]]);
    await query(nurse, EHRS, four).expect(404);
    await get(`${V1}/ehr/${four}`, nurse).expect(404);
    expect([await found(nurse, three), await found(nurse, four), await found(nurse, both)]).toEqual([
      1, 0, 1,
    ]);
    expect((await tag(three, [{ key: 'access.ward', value: '4A' }])).status).toBe(200);
    await get(`${V1}/ehr/${three}`, nurse).expect(404);
    await get(`${V1}/ehr/${three}`, other).expect(200);
    expect(await rowsOf(nurse, EHRS)).toEqual([[both]]);
    expect(await rowsOf(other, EHRS)).toEqual(sorted(three, four, both));
  });

  it('judge what is written by them too', async () => {
    const [three, four] = [await givenPatient('w3'), await givenPatient('w4')];
    await policy('ward', WARD).expect(200);
    const post = (ehr: string) =>
      request(app)
        .post(`${V1}/ehr/${ehr}/composition`)
        .set('Authorization', nurseOf('w3'))
        .send(aComposition());
    await post(three).expect(201);
    await post(four).expect(404);
  });

  it('can hide those who have one', async () => {
    const [plain, famous] = [await givenEhr(open), await givenEhr(open)];
    await givenComposition(open, plain);
    await givenComposition(open, famous);
    expect((await tag(famous, [{ key: 'access.famous' }])).status).toBe(200);
    await policy('all', 'permit (principal, action, resource);').expect(200);
    await policy(
      'famous',
      'forbid (principal, action, resource) when { resource.hasTag("access.famous") && !principal.roles.contains("ADMIN") };',
    ).expect(200);
    const rows = await rowsOf(nurseOf('3B'), EHRS);
    expect(rows).toContainEqual([plain]);
    expect(rows).not.toContainEqual([famous]);
    await get(`${V1}/ehr/${famous}`, nurseOf('3B')).expect(404);
    await get(`${V1}/ehr/${famous}`, ROOT).expect(200);
  });

  it('are asked of the tags of all that was merged, and of its own alone after that is taken back', async () => {
    const [source, target] = [await givenPatient('m4'), await givenPatient('m3')];
    await policy('ward', WARD).expect(200);
    await merge(app, source, target).expect(200);
    const count = `SELECT COUNT(*) FROM EHR e[ehr_id/value='${target}'] CONTAINS COMPOSITION c`;
    for (const ward of ['m3', 'm4']) expect(await rowsOf(nurseOf(ward), count)).toEqual([[2]]);
    await get(`${V1}/ehr/${target}`, nurseOf('m4')).expect(200);
    const former = await get(`${V1}/ehr/${source}`, nurseOf('m5')).expect(404);
    expect(former.text).not.toContain(target);
    await unmerge(app, source, target).expect(200);
    for (const [ward, own, other] of [
      ['m4', source, target],
      ['m3', target, source],
    ] as const) {
      await get(`${V1}/ehr/${own}`, nurseOf(ward)).expect(200);
      await get(`${V1}/ehr/${other}`, nurseOf(ward)).expect(404);
      expect(await rowsOf(nurseOf(ward), EHRS)).toEqual([[own]]);
    }
  });

  it('hide what was merged into an EHR that nothing hid, until an administrator says otherwise of the whole', async () => {
    const [hidden, plain] = [await givenEhr(open), await givenEhr(open)];
    await givenComposition(open, hidden);
    const status = await tagsPath(hidden);
    expect((await tag(hidden, [{ key: 'access.famous' }])).status).toBe(200);
    await policy('all', 'permit (principal, action, resource);').expect(200);
    await policy(
      'famous',
      'forbid (principal, action, resource) when { resource.hasTag("access.famous") && !principal.roles.contains("ADMIN") };',
    ).expect(200);
    const [nurse, path] = [nurseOf('3B'), await tagsPath(plain)];
    await merge(app, hidden, plain).expect(200);
    await get(`${V1}/ehr/${plain}`, nurse).expect(404);
    expect(await rowsOf(nurse, EHRS)).not.toContainEqual([plain]);
    // They stay on the EHR_STATUS that ended, and are listed by it.
    expect((await get(path, ROOT).expect(200)).body).toEqual([]);
    const listed = (await get(`${V1}/ehr/${plain}/tags`, ROOT).expect(200)).body as Json[];
    expect(listed.map(({ key, target }) => [key, target.value])).toEqual([
      ['access.famous', status.split('/').at(-2)],
    ]);
    // What is sent back as it was read ends nothing.
    expect((await tag(plain, [{ key: 'note', value: 'x' }])).status).toBe(200);
    await get(`${V1}/ehr/${plain}`, nurse).expect(404);
    await request(app).delete(`${path}/access.famous`).set('Authorization', nurse).expect(404);
    await request(app).delete(`${path}/access.famous`).set('Authorization', ROOT).expect(204);
    await get(`${V1}/ehr/${plain}`, nurse).expect(200);
    expect((await unmerge(app, hidden, plain)).status).toBe(200);
    await get(`${V1}/ehr/${hidden}`, nurse).expect(404);
    await get(`${V1}/ehr/${plain}`, nurse).expect(200);
  });

  it('ask each document for a tag that more have than can be named', async () => {
    const ehr = await givenPatient('7');
    await policy('ward', WARD).expect(200);
    const docs = Array.from({ length: MOST_TAGGED }, (_, index) => ({
      _id: `many ${index}` as never,
      owner_id: `many ${index}`,
      target: `many ${index}`,
      ...{
        target_type: 'EHR_STATUS',
        target_version: null,
        key: 'access.ward',
        value: '7',
        target_path: null,
      },
    }));
    const tags = mongoose.connection.collection('item_tags');
    await tags.insertMany(docs);
    try {
      expect(await rowsOf(nurseOf('7'), EHRS)).toEqual([[ehr]]);
      const found = await get(`/rest/ehrs?identifier=${ehr}`, nurseOf('7')).expect(200);
      expect((found.body as Json)['ehrs']).toMatchObject([{ ehr_id: ehr }]);
      // What compares whole objects is evaluated by the server, which knows nothing of tags.
      const whole = await query(nurseOf('7'), WHOLE);
      expect([whole.status, (whole.body as Json)['message']]).toEqual([
        422,
        expect.stringContaining('compares whole objects'),
      ]);
      expect((await query(nurseOf('7'), WHOLE, ehr)).status).toBe(200);
      expect(await rowsOf(nurseOf('7'), EHRS, ehr)).toEqual([[ehr]]);
      await get(`${V1}/ehr/${ehr}`, nurseOf('7')).expect(200);
      // Others are not asked about that many.
      expect(await rowsOf(nurseOf('no such ward'), EHRS)).toEqual([]);
      // Nor is who asks for a value of which theirs is a piece; blanks of any kind are none of a value.
      await tags.updateMany({ owner_id: /^many / }, { $set: { value: '70, 17,x 7' } });
      for (const value of ['7', '6, 7', '\u00a0\t7\u2003,8', '5,\ufeff7 \n'])
        expect([
          value,
          (await tag(ehr, [{ key: 'access.ward', value }])).status,
          await rowsOf(nurseOf('7'), EHRS),
        ]).toEqual([value, 200, [[ehr]]]);
    } finally {
      await tags.deleteMany({ owner_id: /^many / });
    }
  }, 120_000);
});

describe('tags that policies see', () => {
  it('are changed by administrators alone, on whatever way', async () => {
    const ehr = await givenPatient('t3');
    const path = await tagsPath(ehr);
    const nurse = nurseOf('t3');
    const tagsNow = async () => (await get(path, ROOT).expect(200)).body as Json[];
    const before = await tagsNow();
    const container = path.split('/').at(-2) ?? '';
    const experimental = `/rest/experimental/tags/ehr/${ehr}/ehr_status/${container}/item_tag`;
    const send = (method: 'put' | 'delete', to: string, body?: object) => {
      const sending = request(app)[method](to).set('Authorization', nurse);
      return body === undefined ? sending : sending.send(body);
    };
    const status = await get(`${V1}/ehr/${ehr}/ehr_status`, ROOT).expect(200);
    const withHeader = (tags: string) =>
      request(app)
        .put(`${V1}/ehr/${ehr}/ehr_status`)
        .set({ Authorization: nurse, 'If-Match': `"${versionUidOf(status)}"`, 'openehr-item-tag': tags })
        .send(status.body as object);
    const refusals = [
      await send('put', path, [{ key: 'access.ward', value: 't4' }]),
      await send('put', path, []),
      await send('delete', `${path}/access.ward`),
      await send('put', experimental, [{ key: 'access.other', value: 'x' }]),
      await withHeader('key="access.ward",value="9"'),
      await withHeader(''),
    ];
    expect(refusals.map((refused) => refused.status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect((refusals[0]?.body as Json).message).toContain('needs the permission admin');
    expect(await tagsNow()).toEqual(before);
    // Others may be changed beside them, as a form does that sends back what it read.
    await send('put', path, [
      { key: 'access.ward', value: 't3' },
      { key: 'note', value: 'x' },
    ]).expect(200);
    await send('put', path, [{ key: 'access.ward', value: 't3' }]).expect(200);
    expect((await tag(ehr, [])).status).toBe(200);
    expect(await tagsNow()).toEqual([]);
  });

  it('cannot be made where there are no policies', async () => {
    const ehr = await givenEhr(open);
    const refused = await request(open)
      .put(await tagsPath(ehr))
      .send([{ key: 'access.ward', value: 't3' }])
      .expect(400);
    expect((refused.body as Json).message).toContain('key must not be blank');
  });

  it('stay as they are where there are no policies, whatever is sent', async () => {
    const ehr = await givenPatient('o3');
    const path = await tagsPath(ehr);
    const container = path.split('/').at(-2) ?? '';
    const experimental = `/rest/experimental/tags/ehr/${ehr}/ehr_status/${container}/item_tag`;
    const own = { key: 'access.ward', value: 'o3' };
    const now = async () => ((await request(open).get(path).expect(200)).body as Json[]).map(tagOf);
    const tagOf = ({ key, value }: Json) => ({ key, value });
    const put = (tags: readonly object[]) => request(open).put(path).send(tags);
    await put([]).expect(200);
    expect(await now()).toEqual([own]);
    const answered = await put([{ key: 'note', value: 'x' }, own])
      .set('Prefer', 'return=representation')
      .expect(200);
    expect((answered.body as Json[]).map(tagOf)).toEqual([own, { key: 'note', value: 'x' }]);
    expect(await now()).toEqual([own, { key: 'note', value: 'x' }]);
    await put([{ ...own, value: 'o4' }]).expect(400);
    await put([own, { key: 'access.other', value: 'x' }]).expect(400);
    await request(open).delete(`${path}/access.ward`).expect(404);
    // With their ids, and with a new version.
    const stored = (await request(open).get(experimental).expect(200)).body as Json[];
    const { id } = stored.find(({ key }) => key === own.key) ?? {};
    await request(open)
      .put(experimental)
      .send([{ id, ...own }])
      .expect(200);
    await request(open)
      .put(experimental)
      .send([{ id, key: 'renamed', value: 'x' }])
      .expect(404);
    await request(open).delete(experimental).send([id]).expect(204);
    const status = await request(open).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200);
    const withHeader = (tags: string, uid: string) =>
      request(open)
        .put(`${V1}/ehr/${ehr}/ehr_status`)
        .set({ 'If-Match': `"${uid}"`, 'openehr-item-tag': tags })
        .send(status.body as object);
    const uid = versionUidOf(status);
    await withHeader('key="access.ward",value="o9"', uid).expect(400);
    const next = versionUidOf(await withHeader('key="access.ward",value="o3"', uid).expect(200));
    expect(await now()).toEqual([own]);
    await withHeader('', next).expect(200);
    expect(await now()).toEqual([own]);
    await policy('ward', WARD).expect(200);
    await get(`${V1}/ehr/${ehr}`, nurseOf('o3')).expect(200);
  });
});
