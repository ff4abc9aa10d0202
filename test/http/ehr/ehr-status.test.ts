import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  dump,
  givenEhr,
  versionedObjectUidOf,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

const UNKNOWN = '3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01';
const app = testApp();
useDatabase();

const path = (ehrId: string, tail = ''): string => `${V1}/ehr/${ehrId}/ehr_status${tail}`;

async function latest(ehrId: string): Promise<{ uid: string; body: Json }> {
  const response = await request(app).get(path(ehrId));
  return { uid: versionUidOf(response), body: response.body as Json };
}

function aSubject(id: string): object {
  const external_ref = {
    _type: 'PARTY_REF',
    id: { _type: 'GENERIC_ID', value: id, scheme: 's' },
    namespace: 'pmi',
    type: 'PERSON',
  };
  return { _type: 'PARTY_SELF', external_ref };
}

describe('GET ehr_status', () => {
  it('gives the latest, the one at a time, and one by its uid', async () => {
    const ehrId = await givenEhr(app);
    const { uid, body } = await latest(ehrId);
    expect(body).toMatchObject({ _type: 'EHR_STATUS', uid: { value: uid } });
    const byUid = await request(app).get(path(ehrId, `/${uid}`));
    expect(byUid.body).toEqual(body);
    expect(byUid.headers.etag).toBe(`"${uid}"`);
    expect(byUid.headers.location).toMatch(new RegExp(`${path(ehrId)}/${uid}$`));
    expect(byUid.headers['last-modified']).toMatch(/GMT$/);
    expect((await request(app).get(path(ehrId, '?version_at_time=2999-01-01T00:00Z'))).body).toEqual(body);
    expect((await request(app).get(path(ehrId, '?version_at_time=2001-01-01T00:00:00Z'))).status).toBe(404);
    expect((await request(app).get(path(ehrId, '?version_at_time=yesterday'))).status).toBe(400);
  });

  it('refuses ids that are malformed or unknown', async () => {
    const ehrId = await givenEhr(app);
    const { uid } = await latest(ehrId);
    const other = await givenEhr(app);
    expect((await request(app).get(path(ehrId, `/${versionedObjectUidOf(uid)}`))).status).toBe(400);
    expect((await request(app).get(path(ehrId, `/${uid.replace(/1$/, '2')}`))).status).toBe(404);
    expect((await request(app).get(path(other, `/${uid}`))).status).toBe(404);
    expect((await request(app).get(path(UNKNOWN))).status).toBe(404);
    expect((await request(app).get(path(UNKNOWN, `/${uid}`))).status).toBe(404);
    expect((await request(app).get(path('x'))).status).toBe(400);
    expect((await request(app).post(path(ehrId)).send({})).status).toBe(405);
    expect((await request(app).delete(path(ehrId))).status).toBe(405);
    expect((await request(app).delete(path(ehrId, `/${uid}`))).status).toBe(405);
    expect((await request(app).get(path(ehrId)).set('Accept', 'text/csv')).status).toBe(406);
  });
});

describe('PUT ehr_status', () => {
  it('makes the next version, whatever version the uid of the body names', async () => {
    const ehrId = await givenEhr(app);
    const { uid, body } = await latest(ehrId);
    const response = await request(app)
      .put(path(ehrId))
      .set('If-Match', `"${uid}"`)
      .set('Prefer', 'return=representation')
      .send({
        ...body,
        uid: { _type: 'HIER_OBJECT_ID', value: versionedObjectUidOf(uid) },
        is_queryable: false,
      });
    expect(response.status).toBe(200);
    expect(versionUidOf(response)).toBe(uid.replace(/1$/, '2'));
    expect(response.body).toEqual({
      ...body,
      uid: { _type: 'OBJECT_VERSION_ID', value: versionUidOf(response) },
      is_queryable: false,
    });
    expect(response.headers.location).toMatch(new RegExp(`${path(ehrId)}/${versionUidOf(response)}$`));
    const minimal = await request(app).put(path(ehrId)).set('If-Match', versionUidOf(response)).send(body);
    expect([minimal.status, minimal.text]).toEqual([200, '']);
  });

  it('keeps the name that is left out, removes what else is, and refuses to lose a patient by omission', async () => {
    const other_details = {
      _type: 'ITEM_TREE',
      archetype_node_id: 'openEHR-EHR-ITEM_TREE.generic.v1',
      name: { _type: 'DV_TEXT', value: 'details' },
    };
    const ehrId = await givenEhr(app, {
      _type: 'EHR_STATUS',
      name: { _type: 'DV_TEXT', value: 'Mine' },
      subject: aSubject('keep-1'),
      is_modifiable: false,
      other_details,
    });
    const before = await latest(ehrId);
    expect(before.body.other_details).toMatchObject(other_details);
    const response = await request(app)
      .put(path(ehrId))
      .set('If-Match', before.uid)
      .set('Prefer', 'return=representation')
      .send({
        _type: 'EHR_STATUS',
        archetype_node_id: 'openEHR-EHR-EHR_STATUS.other.v1',
        subject: aSubject('keep-1'),
        is_queryable: true,
        is_modifiable: false,
      });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.other.v1',
      name: { value: 'Mine' },
      subject: aSubject('keep-1'),
      is_modifiable: false,
      is_queryable: true,
    });
    expect(response.body.other_details).toBeUndefined();
    const lacking = await request(app)
      .put(path(ehrId))
      .set('If-Match', response.headers.etag ?? '')
      .send({
        _type: 'EHR_STATUS',
        archetype_node_id: 'openEHR-EHR-EHR_STATUS.other.v1',
        is_queryable: null,
      });
    expect([lacking.status, lacking.body.validationErrors]).toEqual([
      400,
      ['subject', 'is_queryable', 'is_modifiable'].map((name) => `/: Attribute ${name} is required`),
    ]);
    const found = await request(app).get(`${V1}/ehr?subject_id=keep-1&subject_namespace=pmi`);
    expect(found.body.ehr_id.value).toBe(ehrId);
  });

  it('frees the old subject and refuses one in use', async () => {
    const mine = await givenEhr(app, { _type: 'EHR_STATUS', subject: aSubject('move-1') });
    const other = await givenEhr(app, { _type: 'EHR_STATUS', subject: aSubject('move-2') });
    const { uid, body } = await latest(mine);
    const before = await dump();
    const refused = await request(app)
      .put(path(mine))
      .set('If-Match', uid)
      .send({ ...body, subject: aSubject('move-2') });
    expect(refused.status).toBe(409);
    expect(await dump()).toBe(before);
    const moved = await request(app)
      .put(path(mine))
      .set('If-Match', uid)
      .send({ ...body, subject: aSubject('move-3') });
    expect(moved.status).toBe(200);
    expect((await request(app).get(`${V1}/ehr?subject_id=move-1&subject_namespace=pmi`)).status).toBe(404);
    const otherStatus = await latest(other);
    const taken = request(app).put(path(other)).set('If-Match', otherStatus.uid);
    expect((await taken.send({ ...otherStatus.body, subject: aSubject('move-1') })).status).toBe(200);
  });

  it('repeats is_queryable in every derived document of the EHR', async () => {
    const ehrId = await givenEhr(app);
    const { uid, body } = await latest(ehrId);
    await request(app)
      .put(path(ehrId))
      .set('If-Match', uid)
      .send({ ...body, is_queryable: false });
    const docs = (
      JSON.parse(await dump()) as { aql: { ehr: string; q: boolean; latest: boolean; to?: string }[] }
    ).aql;
    const mine = docs.filter((doc) => doc.ehr === ehrId);
    expect(mine.map((doc) => doc.q)).toEqual([false, false]);
    expect(mine.map((doc) => doc.latest).sort()).toEqual([false, true]);
  });

  it.each([
    ['no type', { archetype_node_id: 'a', name: { value: 'x' } }, 400],
    ['no archetype_node_id', { _type: 'EHR_STATUS' }, 400],
    ['another type', { _type: 'FOLDER', archetype_node_id: 'a' }, 400],
    ['an unknown attribute', { _type: 'EHR_STATUS', archetype_node_id: 'a', shade: 1 }, 400],
    ['an array', [], 400],
  ])('refuses a body with %s', async (_name, body, status) => {
    const ehrId = await givenEhr(app);
    const { uid } = await latest(ehrId);
    const before = await dump();
    expect((await request(app).put(path(ehrId)).set('If-Match', uid).send(body)).status).toBe(status);
    expect(await dump()).toBe(before);
  });

  it('validates If-Match after EHR and content', async () => {
    const ehrId = await givenEhr(app);
    const { uid, body } = await latest(ehrId);
    const before = await dump();
    expect((await request(app).put(path(ehrId)).send(body)).status).toBe(400);
    expect((await request(app).put(path(ehrId)).set('If-Match', 'x').send(body)).status).toBe(400);
    expect((await request(app).put(path(ehrId)).set('If-Match', uid)).status).toBe(400);
    expect((await request(app).put(path(UNKNOWN)).set('If-Match', uid).send({ nonsense: 1 })).status).toBe(
      404,
    );
    for (const stale of [
      uid.replace(/1$/, '2'),
      uid.replace('local.cdr', 'other.cdr'),
      `${UNKNOWN}::local.cdr::1`,
    ]) {
      expect((await request(app).put(path(ehrId)).set('If-Match', stale).send({ nonsense: 1 })).status).toBe(
        400,
      );
      const response = await request(app).put(path(ehrId)).set('If-Match', stale).send(body);
      expect(response.status).toBe(412);
      expect(response.headers.etag).toBe(`"${uid}"`);
      expect(response.headers.location).toMatch(new RegExp(`${path(ehrId)}/${uid}$`));
    }
    expect(await dump()).toBe(before);
    const text = await request(app)
      .put(path(ehrId))
      .set('If-Match', uid)
      .set('Content-Type', 'text/plain')
      .send('x');
    expect(text.status).toBe(415);
  });
});

describe('VERSIONED_EHR_STATUS', () => {
  it('gives the container, its history and its versions', async () => {
    const ehrId = await givenEhr(app);
    const { uid, body } = await latest(ehrId);
    await request(app).put(path(ehrId)).set('If-Match', uid).send(body);
    const base = `${V1}/ehr/${ehrId}/versioned_ehr_status`;
    expect((await request(app).get(base)).body).toMatchObject({
      _type: 'VERSIONED_EHR_STATUS',
      uid: { value: versionedObjectUidOf(uid) },
      owner_id: { id: { value: ehrId }, namespace: 'local', type: 'EHR' },
    });
    const { items } = (await request(app).get(`${base}/revision_history`)).body as Json;
    expect(items.map((item: Json) => [item.version_id.value, item.audits[0].change_type.value])).toEqual([
      [uid, 'creation'],
      [uid.replace(/1$/, '2'), 'modification'],
    ]);
    expect(items[0].audits[0].time_committed.value < items[1].audits[0].time_committed.value).toBe(true);
    const version = await request(app).get(`${base}/version`);
    expect(version.body).toMatchObject({
      _type: 'ORIGINAL_VERSION',
      preceding_version_uid: { value: uid },
      lifecycle_state: { value: 'complete' },
      data: { _type: 'EHR_STATUS' },
    });
    const first = await request(app).get(`${base}/version/${uid}`);
    expect(first.body.preceding_version_uid).toBeUndefined();
    expect(first.headers.location).toMatch(new RegExp(`${base}/version/${uid}$`));
    for (const tail of ['', '/revision_history', '/version', `/version/${uid}`]) {
      const xml = await request(app)
        .get(base + tail)
        .set('Accept', 'application/xml');
      expect(xml.text).toMatch(/^<\?xml/);
      expect((await request(app).head(base + tail)).status).toBe(200);
      expect((await request(app).get(`${V1}/ehr/${UNKNOWN}/versioned_ehr_status${tail}`)).status).toBe(404);
    }
    expect((await request(app).get(`${base}/version?version_at_time=2001-01-01T00:00:00Z`)).status).toBe(404);
    expect((await request(app).get(`${base}/version/${versionedObjectUidOf(uid)}`)).status).toBe(400);
    expect((await request(app).get(`${base}/version/${uid.replace(/1$/, '9')}`)).status).toBe(404);
    expect((await request(app).get(`${base}/version/${UNKNOWN}::local.cdr::1`)).status).toBe(404);
  });
});
