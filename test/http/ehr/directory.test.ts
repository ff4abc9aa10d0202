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
const ITEM = '5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0003';
const app = testApp();
useDatabase();

const path = (ehrId: string, tail = ''): string => `${V1}/ehr/${ehrId}/directory${tail}`;

function aFolder(name: string, folders: readonly Json[] = [], items: readonly string[] = []): Json {
  return {
    _type: 'FOLDER',
    name: { _type: 'DV_TEXT', value: name },
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    ...(folders.length > 0 && { folders }),
    ...(items.length > 0 && {
      items: items.map((value) => ({
        _type: 'OBJECT_REF',
        id: { _type: 'HIER_OBJECT_ID', value },
        namespace: 'local',
        type: 'VERSIONED_COMPOSITION',
      })),
    }),
  };
}

const tree = (): Json =>
  aFolder('root', [aFolder('episodes', [aFolder('2024', [], [ITEM])]), aFolder('other')]);

async function givenDirectory(ehrId: string, folder: Json = tree()): Promise<string> {
  const response = await request(app).post(path(ehrId)).send(folder);
  expect(response.status).toBe(201);
  return versionUidOf(response);
}

const put = (ehrId: string, ifMatch: string): request.Test =>
  request(app).put(path(ehrId)).set('If-Match', ifMatch);
const remove = (ehrId: string, ifMatch: string): request.Test =>
  request(app).delete(path(ehrId)).set('If-Match', ifMatch);

describe('POST directory', () => {
  it('makes the directory and gives its uid to the root and one to each sub-folder', async () => {
    const ehrId = await givenEhr(app);
    const response = await request(app).post(path(ehrId)).set('Prefer', 'return=representation').send(tree());
    expect(response.status).toBe(201);
    const uid = versionUidOf(response);
    expect(uid).toMatch(/::local\.cdr::1$/);
    expect(response.headers.location).toMatch(new RegExp(`${path(ehrId)}/${uid}$`));
    expect(response.body).toMatchObject({ ...tree(), uid: { _type: 'OBJECT_VERSION_ID', value: uid } });
    expect(response.body.folders[0].folders[0].uid).toMatchObject({ _type: 'HIER_OBJECT_ID' });
    expect((await request(app).get(path(ehrId))).body).toEqual(response.body);
    expect((await request(app).get(path(ehrId, `/${uid}`))).body).toEqual(response.body);
  });

  it('refuses a second directory', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenDirectory(ehrId);
    const before = await dump();
    const response = await request(app).post(path(ehrId)).send(tree());
    expect([response.status, response.headers.etag]).toEqual([409, `"${uid}"`]);
    expect(response.headers.location).toMatch(new RegExp(`${path(ehrId)}/${uid}$`));
    expect(response.body.message).toContain('already contains a directory');
    expect(await dump()).toBe(before);
  });

  it('gives one of many parallel requests the directory', async () => {
    const ehrId = await givenEhr(app);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => request(app).post(path(ehrId)).send(tree())),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array<number>(11).fill(409)]);
  });

  it('takes over the uid of the root when it was never used', async () => {
    const [one, two, three] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const withUid = (value: string): Json => ({ ...tree(), uid: { _type: 'HIER_OBJECT_ID', value } });
    const bare = await request(app).post(path(one)).send(withUid('AAAAAAAA-0000-4000-8000-000000000001'));
    expect(versionUidOf(bare)).toBe('aaaaaaaa-0000-4000-8000-000000000001::local.cdr::1');
    const whole = 'aaaaaaaa-0000-4000-8000-000000000002::local.cdr::1';
    const asVersion = { ...tree(), uid: { _type: 'OBJECT_VERSION_ID', value: whole } };
    expect(versionUidOf(await request(app).post(path(two)).send(asVersion))).toBe(whole);
    const before = await dump();
    const used = await request(app).post(path(three)).send(withUid('aaaaaaaa-0000-4000-8000-000000000001'));
    expect(used.status).toBe(409);
    expect(used.body.message).toBe('FOLDER with uid aaaaaaaa-0000-4000-8000-000000000001 already exist.');
    for (const value of [
      'aaaaaaaa-0000-4000-8000-000000000003::other::1',
      'aaaaaaaa-0000-4000-8000-000000000003::local.cdr::2',
    ]) {
      const uid = { _type: 'OBJECT_VERSION_ID', value };
      expect(
        (
          await request(app)
            .post(path(three))
            .send({ ...tree(), uid })
        ).status,
      ).toBe(412);
    }
    expect(await dump()).toBe(before);
  });

  it('accepts the camelCase names of the service and answers those of the RM', async () => {
    const ehrId = await givenEhr(app);
    const { archetype_node_id: archetypeNodeId, ...root } = aFolder('root');
    const { archetype_node_id: childNodeId, ...child } = aFolder('child');
    const body = { ...root, archetypeNodeId, folders: [{ ...child, archetypeNodeId: childNodeId }] };
    const response = await request(app).post(path(ehrId)).set('Prefer', 'return=representation').send(body);
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject(aFolder('root', [aFolder('child')]));
    expect(JSON.stringify(response.body)).not.toContain('archetypeNodeId');
    const twice = { ...aFolder('root'), archetypeNodeId: 'x' };
    expect(
      (
        await request(app)
          .post(path(await givenEhr(app)))
          .send(twice)
      ).status,
    ).toBe(400);
  });

  it.each<[string, unknown]>([
    ['siblings of one name', aFolder('root', [aFolder('a'), aFolder('a')])],
    ['an item that is no reference to an object', aFolder('root', [], ['not-a-uid'])],
    ['no name', { _type: 'FOLDER', archetype_node_id: 'x' }],
    ['another type', { ...aFolder('root'), _type: 'COMPOSITION' }],
    ['an unknown attribute', { ...aFolder('root'), colour: 1 }],
    ['an array', []],
  ])('refuses %s with 400 and writes nothing', async (_name, body) => {
    const ehrId = await givenEhr(app);
    const before = await dump();
    const response = await request(app)
      .post(path(ehrId))
      .send(body as object);
    expect(response.status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('refuses in the order of the contract', async () => {
    const frozen = await givenEhr(app, { _type: 'EHR_STATUS', is_modifiable: false });
    const before = await dump();
    expect((await request(app).post(path('x')).send(tree())).status).toBe(400);
    expect((await request(app).post(path(UNKNOWN)).send({ nonsense: 1 })).status).toBe(404);
    expect((await request(app).post(path(frozen)).send({ nonsense: 1 })).status).toBe(409);
    expect((await put(frozen, `${UNKNOWN}::local.cdr::1`).send(tree())).status).toBe(409);
    expect((await remove(frozen, `${UNKNOWN}::local.cdr::1`)).status).toBe(409);
    expect((await request(app).post(path(frozen)).set('Content-Type', 'text/plain').send('x')).status).toBe(
      415,
    );
    expect((await request(app).post(path(frozen)).set('Accept', 'text/csv').send(tree())).status).toBe(406);
    expect((await request(app).post(path(frozen))).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('reads and writes XML', async () => {
    const ehrId = await givenEhr(app);
    const xml = `<folder xmlns="http://schemas.openehr.org/v1" archetype_node_id="openEHR-EHR-FOLDER.generic.v1"><name><value>root</value></name><folders archetype_node_id="openEHR-EHR-FOLDER.generic.v1"><name><value>sub</value></name></folders></folder>`;
    const response = await request(app)
      .post(path(ehrId))
      .set('Content-Type', 'application/xml')
      .set('Accept', 'application/xml')
      .set('Prefer', 'return=representation')
      .send(xml);
    expect(response.status).toBe(201);
    expect(response.text).toContain('<value>sub</value>');
    const sub = await request(app).get(path(ehrId, '?path=sub')).set('Accept', 'application/xml');
    expect(sub.text).toMatch(/^<\?xml [^>]*\?>\s*<folder /);
  });
});

describe('GET directory', () => {
  it('finds sub-folders by the path of their names', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenDirectory(ehrId);
    for (const where of ['', `/${uid}`]) {
      const at = (names: string): request.Test =>
        request(app).get(path(ehrId, `${where}?path=${encodeURIComponent(names)}`));
      for (const root of ['', '/', '//']) expect((await at(root)).body.name.value).toBe('root');
      for (const deep of ['episodes/2024', '/episodes//2024/', 'episodes/2024/']) {
        const response = await at(deep);
        expect(response.body.name.value).toBe('2024');
        expect(response.body.items[0].id.value).toBe(ITEM);
        expect(response.headers.etag).toBe(`"${uid}"`);
      }
      for (const nowhere of ['Episodes', 'root', 'episodes/2025'])
        expect((await at(nowhere)).status).toBe(404);
    }
  });

  it('is 404 before there was one, for unknown ids and EHRs; 400 for malformed ids', async () => {
    const ehrId = await givenEhr(app);
    expect((await request(app).get(path(ehrId))).status).toBe(404);
    const uid = await givenDirectory(ehrId);
    expect((await request(app).get(path(ehrId, '?version_at_time=2001-01-01T00:00:00Z'))).status).toBe(404);
    expect((await request(app).get(path(ehrId, '?version_at_time=2999-01-01T00:00:00Z'))).status).toBe(200);
    expect((await request(app).get(path(ehrId, '?version_at_time=x'))).status).toBe(400);
    expect((await request(app).get(path(ehrId, `/${uid.replace(/1$/, '2')}`))).status).toBe(404);
    expect((await request(app).get(path(await givenEhr(app), `/${uid}`))).status).toBe(404);
    expect((await request(app).get(path(UNKNOWN))).status).toBe(404);
    expect((await request(app).get(path(ehrId, `/${versionedObjectUidOf(uid)}`))).status).toBe(400);
    expect((await request(app).patch(path(ehrId))).status).toBe(405);
  });
});

describe('PUT directory', () => {
  it('makes the next version; the old one stays', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenDirectory(ehrId);
    const stored = (await request(app).get(path(ehrId))).body as Json;
    const response = await put(ehrId, uid)
      .set('Prefer', 'return=representation')
      .send({ ...stored, folders: [] });
    expect(response.status).toBe(200);
    expect(versionUidOf(response)).toBe(uid.replace(/1$/, '2'));
    expect(response.body.folders).toBeUndefined();
    expect((await request(app).get(path(ehrId, `/${uid}?path=episodes`))).status).toBe(200);
    expect((await request(app).get(path(ehrId, '?path=episodes'))).status).toBe(404);
  });

  it('refuses what does not match', async () => {
    const ehrId = await givenEhr(app);
    expect((await put(ehrId, `${UNKNOWN}::local.cdr::1`).send(tree())).status).toBe(412);
    const uid = await givenDirectory(ehrId);
    const before = await dump();
    expect((await request(app).put(path(ehrId)).send(tree())).status).toBe(400);
    expect((await put(ehrId, 'x').send(tree())).status).toBe(400);
    expect((await put(UNKNOWN, uid).send(tree())).status).toBe(404);
    for (const stale of [uid.replace(/1$/, '2'), `${UNKNOWN}::local.cdr::1`]) {
      const response = await put(ehrId, stale).send(tree());
      expect(response.status).toBe(412);
      expect(response.headers.etag).toBe(`"${uid}"`);
      expect(response.headers.location).toMatch(new RegExp(`${path(ehrId)}/${uid}$`));
    }
    const foreign = { ...tree(), uid: { _type: 'HIER_OBJECT_ID', value: UNKNOWN } };
    const refused = await put(ehrId, uid).send(foreign);
    expect([refused.status, refused.headers.etag]).toEqual([412, `"${uid}"`]);
    expect(await dump()).toBe(before);
  });
});

describe('DELETE directory', () => {
  it('is deleted once of many who ask at once; the others named a version that is no longer the latest', async () => {
    const ehrId = await givenEhr(app);
    for (let round = 0; round < 5; round += 1) {
      const uid = await givenDirectory(ehrId);
      const asked = Array.from({ length: 5 }, () => remove(ehrId, uid));
      const statuses = (await Promise.all(asked)).map(({ status }) => status).toSorted();
      expect(statuses).toEqual([204, 412, 412, 412, 412]);
    }
  });

  it('deletes logically; a new one is another container', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenDirectory(ehrId);
    const before = await dump();
    expect((await remove(ehrId, uid.replace(/1$/, '2'))).status).toBe(412);
    expect((await remove(ehrId, 'x')).status).toBe(400);
    expect((await request(app).delete(path(ehrId))).status).toBe(400);
    expect((await remove(UNKNOWN, uid)).status).toBe(404);
    expect(await dump()).toBe(before);
    const response = await remove(ehrId, uid);
    const deletion = versionUidOf(response);
    expect([response.status, deletion]).toEqual([204, uid.replace(/1$/, '2')]);
    for (const tail of ['', '?path=episodes', `/${deletion}`]) {
      const got = await request(app).get(path(ehrId, tail));
      expect([got.status, versionUidOf(got)]).toEqual([204, deletion]);
    }
    expect((await request(app).get(path(ehrId, `/${uid}`))).status).toBe(200);
    expect((await remove(ehrId, deletion)).status).toBe(412);
    expect((await put(ehrId, deletion).send(tree())).status).toBe(412);
    const again = await givenDirectory(ehrId);
    expect(versionedObjectUidOf(again)).not.toBe(versionedObjectUidOf(uid));
    expect(again).toMatch(/::1$/);
    expect((await request(app).get(path(ehrId))).headers.etag).toBe(`"${again}"`);
  });

  it('answers for the directory that was there at a time', async () => {
    const ehrId = await givenEhr(app);
    const first = await givenDirectory(ehrId);
    await remove(ehrId, first);
    const second = await givenDirectory(ehrId);
    const { versions } = JSON.parse(await dump()) as { versions: { _id: string; time_committed: string }[] };
    const at = async (uid: string): Promise<[number, string]> => {
      const time = versions.find(({ _id }) => _id === uid)?.time_committed ?? '';
      const response = await request(app).get(path(ehrId, `?version_at_time=${time}`));
      return [response.status, versionUidOf(response)];
    };
    expect(await at(first)).toEqual([200, first]);
    expect(await at(first.replace(/1$/, '2'))).toEqual([204, first.replace(/1$/, '2')]);
    expect(await at(second)).toEqual([200, second]);
  });
});
