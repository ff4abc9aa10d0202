import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';

import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, givenTemplate, versionedObjectUidOf, versionUidOf } from '../../support/resources.js';

const V1 = '/rest/openehr/v1';
const OWN = '/rest/experimental/tags';
const app = testApp();
const collection = (name: string) => mongoose.connection.collection<Stored>(name);

/** Any stored document. */
interface Stored {
  readonly _id: string;
  readonly [field: string]: unknown;
}

interface NewEhr {
  readonly ehrId: string;
  /** Version uid of the EHR_STATUS. */
  readonly statusUid: string;
  readonly statusId: string;
}

async function newEhr(): Promise<NewEhr> {
  const made = await request(app).post(`${V1}/ehr`).set('Prefer', 'return=representation');
  expect(made.status).toBe(201);
  const statusUid = made.body.ehr_status.id.value as string;
  return { ehrId: made.body.ehr_id.value as string, statusUid, statusId: statusUid.split('::')[0]! };
}

function send(method: 'put' | 'delete', path: string, body: unknown, headers: Record<string, string> = {}) {
  const call = method === 'put' ? request(app).put(path) : request(app).delete(path);
  return call
    .set({ 'Content-Type': 'application/json', ...headers })
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Everything that a refused request must leave as it was. */
async function dump(): Promise<string> {
  const docs = await Promise.all(
    ['item_tags', 'ehrs'].map((name) => collection(name).find().sort({ _id: 1 }).toArray()),
  );
  return JSON.stringify(docs);
}

async function mergeAway(ehrId: string, into: string): Promise<void> {
  await collection('ehrs').updateOne({ _id: ehrId }, { $set: { state: 'merged', merged_into: into } });
}

useDatabase();

describe('item tags by id (face A)', () => {
  let ehr: NewEhr;
  let path: string;
  let versionPath: string;

  beforeEach(async () => {
    ehr = await newEhr();
    path = `${OWN}/ehr/${ehr.ehrId}/ehr_status/${ehr.statusId}/item_tag`;
    versionPath = `${OWN}/ehr/${ehr.ehrId}/ehr_status/${ehr.statusUid}/item_tag`;
  });

  it('answers PUT with the ids and the address', async () => {
    const put = await send('put', path, [{ key: 'review', value: 'open' }, { key: 'flag' }]);
    expect([put.status, put.body]).toEqual([200, [expect.any(String), expect.any(String)]]);
    expect(new URL(put.headers.location!).pathname).toBe(path);
    const got = await request(app).get(path);
    expect(got.status).toBe(200);
    expect(got.body).toEqual([
      {
        id: put.body[1],
        owner_id: ehr.ehrId,
        target: ehr.statusId,
        target_type: 'EHR_STATUS',
        key: 'flag',
      },
      {
        id: put.body[0],
        owner_id: ehr.ehrId,
        target: ehr.statusId,
        target_type: 'EHR_STATUS',
        key: 'review',
        value: 'open',
      },
    ]);
  });

  it('answers PUT with the tags when asked', async () => {
    const put = await send(
      'put',
      path,
      [
        {
          key: 'part',
          value: 'x',
          target_path: '/subject',
          target: ehr.statusId,
          target_type: 'EHR_STATUS',
          owner_id: ehr.ehrId,
        },
      ],
      { Prefer: 'return=representation' },
    );
    expect(put.status).toBe(200);
    expect(put.headers['preference-applied']).toBe('return=representation');
    expect(put.body[0]).toMatchObject({ key: 'part', target_path: '/subject', target: ehr.statusId });
  });

  it('changes the tags whose id is given, also when they exchange their keys', async () => {
    const [a, b] = (
      await send('put', path, [
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
      ])
    ).body as string[];
    const put = await send(
      'put',
      path,
      [
        { id: a, key: 'b', value: '3' },
        { id: b, key: 'a' },
      ],
      {
        Prefer: 'return=representation',
      },
    );
    expect(put.body).toEqual([
      expect.objectContaining({ id: a, key: 'b', value: '3' }),
      expect.not.objectContaining({ value: '2' }),
    ]);
    expect((await request(app).get(`${path}?ids=${a!}&ids=${b!}`)).body).toHaveLength(2);
  });

  it('keeps the tags of a version apart from those of the container', async () => {
    expect((await request(app).get(versionPath)).body).toEqual([]);
    const [id] = (await send('put', versionPath, [{ key: 'review' }])).body as string[];
    expect((await request(app).get(versionPath)).body).toHaveLength(1);
    expect((await request(app).get(`${path}?ids=${id!}`)).body).toEqual([]);
    expect((await send('put', path, [{ id, key: 'moved' }])).status).toBe(404);
  });

  it('filters by ids and keys', async () => {
    await send('put', path, [{ key: 'review' }, { key: 'flag' }, { key: 'other' }]);
    const all = (await request(app).get(path)).body as { id: string; key: string }[];
    const byKey = await request(app).get(`${path}?keys=review&keys=flag`);
    expect((byKey.body as { key: string }[]).map(({ key }) => key)).toEqual(['flag', 'review']);
    expect((await request(app).get(`${path}?ids=${all[0]!.id}`)).body).toEqual([all[0]]);
    expect((await request(app).get(`${path}?ids=${randomUUID()}`)).body).toEqual([]);
    expect((await request(app).get(`${path}?ids=x`)).status).toBe(400);
  });

  it('deletes by id or by object with id, and ignores unknown ids', async () => {
    const ids = (await send('put', path, [{ key: 'x1' }, { key: 'x2' }])).body as string[];
    const gone = await send('delete', path, [ids[0], { id: ids[1], key: 'x2' }, randomUUID()]);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await request(app).get(`${path}?keys=x1&keys=x2`)).body).toEqual([]);
  });

  it.each([
    [[], 422, 'must not be empty'],
    [[{ value: 'x' }], 422, 'key must not be blank'],
    [[{ key: ' ' }], 422, 'key must not be blank'],
    [[{ key: 'a b' }], 422, 'key must not be blank'],
    [[{ key: 'k', value: ' ' }], 422, 'value must not be blank'],
    [[{ key: 'k', target_path: 'subject' }], 422, "target_path 'subject' does not start at root"],
    [[{ key: 'k', target_path: '/subject[value=1]' }], 422, 'predicates on archetype_node_id and name only'],
    [[{ key: 'k', owner_id: 'd0c0b1a0-0000-4000-8000-000000000000' }], 422, 'owner_id'],
    [[{ key: 'twice' }, { key: 'twice' }], 422, 'given twice'],
    [[{ key: 'k', target: 'd0c0b1a0-0000-4000-8000-000000000000' }], 400, 'target'],
    [[{ key: 'k', target_type: 'COMPOSITION' }], 400, 'target_type'],
    [[{ key: 'k', id: 'no-uuid' }], 400, 'UUID'],
    [[{ key: 'k', id: 'd0c0b1a0-0000-4000-8000-000000000000' }], 404, 'no item tag'],
    [[{ key: { $gt: '' } }], 400, 'key must be a text'],
    [[{ key: 'k', value: 7 }], 400, 'value must be a text'],
    [['k'], 400, 'must be an object'],
    [{ key: 'k' }, 400, 'must be an array'],
    ['[', 400, ''],
    ['[{"__proto__":{"key":"k"}}]', 400, ''],
    ['', 400, 'Required request body is missing'],
  ])('refuses PUT of %j with %i', async (body, status, message) => {
    await send('put', path, [{ key: 'kept' }]);
    const before = await dump();
    const refused = await send('put', path, body);
    expect(refused.status).toBe(status);
    expect(refused.body.message).toContain(message);
    expect(await dump()).toBe(before);
  });

  it('refuses a second tag of the same key and path with 409', async () => {
    await send('put', path, [{ key: 'only' }]);
    const before = await dump();
    expect((await send('put', path, [{ key: 'new' }, { key: 'only', value: 'again' }])).status).toBe(409);
    expect(await dump()).toBe(before);
    expect((await send('put', path, [{ key: 'only', target_path: '/subject' }])).status).toBe(200);
  });

  it.each([
    [[], 422],
    [['x'], 400],
    [[{}], 400],
    ['{}', 400],
    ['', 400],
  ])('refuses DELETE of %j with %i', async (body, status) => {
    await send('put', path, [{ key: 'kept' }]);
    const before = await dump();
    expect((await send('delete', path, body)).status).toBe(status);
    expect(await dump()).toBe(before);
  });

  it('adds at most a thousand, however often it is asked', async () => {
    const { ehrId, statusId } = await newEhr();
    const many = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ key: `${prefix}${i}` }));
    const own = `${OWN}/ehr/${ehrId}/ehr_status/${statusId}/item_tag`;
    expect((await send('put', own, many('a', 1001))).status).toBe(422);
    expect((await send('put', own, many('a', 600))).status).toBe(200);
    const before = await dump();
    const refused = await send('put', own, many('b', 401));
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'an object may have at most 1000 item tags',
    ]);
    expect(await dump()).toBe(before);
    expect((await send('put', own, many('c', 400))).status).toBe(200);
    const [tag] = (await request(app).get(own)).body as { id: string; key: string }[];
    expect((await send('put', own, [{ ...tag, value: 'changed' }])).status).toBe(200);
    const standard = `${V1}/ehr/${ehrId}/ehr_status/${statusId}/tags`;
    expect((await send('put', standard, many('d', 1001))).status).toBe(400);
    expect((await send('put', standard, many('d', 1000))).status).toBe(200);
    expect((await send('put', own, many('e', 1))).status).toBe(422);
  });

  it('answers 415 and 406 for other types', async () => {
    expect((await send('put', path, '[]', { 'Content-Type': 'application/xml' })).status).toBe(415);
    expect((await send('delete', path, '[]', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await send('put', path, [{ key: 'k' }], { Accept: 'text/csv' })).status).toBe(406);
    expect((await request(app).get(path).set('Accept', 'application/xml')).status).toBe(406);
  });

  it('answers 404 for an unknown EHR or target, 400 for malformed ids', async () => {
    const other = await newEhr();
    const unknown = [
      `${OWN}/ehr/${randomUUID()}/ehr_status/${ehr.statusId}/item_tag`,
      `${OWN}/ehr/${ehr.ehrId}/ehr_status/${randomUUID()}/item_tag`,
      `${OWN}/ehr/${ehr.ehrId}/composition/${ehr.statusId}/item_tag`,
      `${OWN}/ehr/${ehr.ehrId}/ehr_status/${other.statusId}/item_tag`,
      `${OWN}/ehr/${ehr.ehrId}/ehr_status/${ehr.statusId}::other.system::1/item_tag`,
      `${OWN}/ehr/${ehr.ehrId}/ehr_status/${ehr.statusUid.replace(/1$/, '2')}/item_tag`,
    ];
    for (const address of unknown) {
      expect([address, (await request(app).get(address)).status]).toEqual([address, 404]);
      expect((await send('put', address, [{ key: 'k' }])).status).toBe(404);
      expect((await send('put', address, [{ key: 'bad key' }])).status).toBe(404);
      expect((await send('delete', address, [randomUUID()])).status).toBe(404);
    }
    for (const bad of [
      'ehr/x y/ehr_status/1',
      `ehr/${ehr.ehrId}/ehr_status/1`,
      `ehr/${ehr.ehrId}/ehr_status/${ehr.statusId}::a`,
    ])
      expect((await request(app).get(`${OWN}/${bad}/item_tag`)).status).toBe(400);
  });

  it('raises write_seq, so that a merge notices', async () => {
    const seq = async () => (await collection('ehrs').findOne({ _id: ehr.ehrId }))!.write_seq as number;
    const before = await seq();
    await send('put', path, [{ key: 'noticed' }]);
    expect(await seq()).toBe(before + 1);
  });

  it('may be written while the EHR must not be modified', async () => {
    const frozen = await newEhr();
    await collection('ehrs').updateOne({ _id: frozen.ehrId }, { $set: { is_modifiable: false } });
    const address = `${OWN}/ehr/${frozen.ehrId}/ehr_status/${frozen.statusId}/item_tag`;
    expect((await send('put', address, [{ key: 'k' }])).status).toBe(200);
  });

  it('answers 409 for writes and 404 for reads of a merged EHR', async () => {
    const gone = await newEhr();
    const address = `${OWN}/ehr/${gone.ehrId}/ehr_status/${gone.statusId}/item_tag`;
    await mergeAway(gone.ehrId, ehr.ehrId);
    for (const answer of [
      await send('put', address, [{ key: 'k' }]),
      await send('delete', address, [randomUUID()]),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body.message).toContain(ehr.ehrId);
    }
    const read = await request(app).get(address);
    expect(read.status).toBe(404);
    expect(read.headers.link).toContain(`/ehr/${ehr.ehrId}>; rel="successor-version"`);
  });
});

describe('item tags of ITS-REST development (face B)', () => {
  let ehr: NewEhr;
  let path: string;
  let versionPath: string;

  beforeEach(async () => {
    ehr = await newEhr();
    path = `${V1}/ehr/${ehr.ehrId}/ehr_status/${ehr.statusId}/tags`;
    versionPath = `${V1}/ehr/${ehr.ehrId}/ehr_status/${ehr.statusUid}/tags`;
  });

  const ownerRef = () => ({
    _type: 'OBJECT_REF',
    id: { _type: 'HIER_OBJECT_ID', value: ehr.ehrId },
    namespace: 'local',
    type: 'EHR',
  });

  it('replaces the whole list', async () => {
    const put = await send('put', path, [
      { key: 'review', value: 'open', target_path: '/subject' },
      { key: 'flag' },
    ]);
    expect([put.status, put.text]).toEqual([200, '']);
    expect(put.headers['content-type']).toBeUndefined();
    expect((await request(app).get(path)).body).toEqual([
      {
        key: 'flag',
        target: { _type: 'HIER_OBJECT_ID', value: ehr.statusId },
        owner_id: ownerRef(),
      },
      expect.objectContaining({ key: 'review', value: 'open', target_path: '/subject' }),
    ]);
    const again = await send('put', path, [{ key: 'other' }], { Prefer: 'return=representation' });
    expect(again.body).toEqual([expect.objectContaining({ key: 'other' })]);
    expect((await request(app).get(path)).body).toEqual(again.body);
  });

  it('tags one version by its uid', async () => {
    await send('put', versionPath, [{ key: 'signed' }]);
    expect((await request(app).get(versionPath)).body).toEqual([
      {
        key: 'signed',
        target: { _type: 'OBJECT_VERSION_ID', value: ehr.statusUid },
        owner_id: ownerRef(),
      },
    ]);
  });

  it('lists and filters all tags of the EHR', async () => {
    await send('put', versionPath, [{ key: 'signed' }]);
    await send('put', path, [
      { key: 'a', value: '1' },
      { key: 'b', value: '2', target_path: '/subject' },
    ]);
    const keys = async (query: string) => {
      const list = await request(app).get(`${V1}/ehr/${ehr.ehrId}/tags${query}`);
      expect(list.status).toBe(200);
      return (list.body as { key: string }[]).map(({ key }) => key);
    };
    expect(await keys('')).toEqual(['a', 'b', 'signed']);
    expect(await keys('?tag_key=b')).toEqual(['b']);
    expect(await keys('?tag_key=b&tag_key=signed')).toEqual(['b', 'signed']);
    expect(await keys('?tag_value=1')).toEqual(['a']);
    expect(await keys('?tag_target_path=/subject')).toEqual(['b']);
    expect(await keys('?tag_key=a&tag_value=2')).toEqual([]);
    // No operator: a parameter that is not known, so it is named and asks for nothing.
    const operator = await request(app).get(`${V1}/ehr/${ehr.ehrId}/tags?tag_key[$ne]=a`);
    expect(operator.headers.warning).toContain('tag_key[$ne]');
    expect(await keys('?tag_key[$ne]=a')).toEqual(['a', 'b', 'signed']);
  });

  it('keeps the id of a tag that stays', async () => {
    const idOf = async (key: string) => {
      const dtos = await request(app).get(path.replace(V1, OWN).replace(/tags$/, `item_tag?keys=${key}`));
      return (dtos.body as { id: string }[])[0]?.id;
    };
    await send('put', path, [{ key: 'stays', value: '1' }]);
    const before = await idOf('stays');
    await send('put', path, [{ key: 'stays', value: '2' }, { key: 'new' }]);
    expect(before).toBeDefined();
    expect(await idOf('stays')).toBe(before);
  });

  it('deletes by key, percent-encoded as it may be', async () => {
    await send('put', path, [{ key: 'a/b' }, { key: 'c' }, { key: 'c', target_path: '/subject' }]);
    expect((await request(app).delete(`${path}/${encodeURIComponent('a/b')}`)).status).toBe(204);
    expect((await request(app).delete(`${path}/c`)).status).toBe(204);
    expect((await request(app).get(path)).body).toEqual([]);
    expect((await request(app).delete(`${path}/c`)).status).toBe(404);
  });

  it('clears the list with []', async () => {
    await send('put', path, [{ key: 'a' }]);
    expect((await send('put', path, [])).status).toBe(200);
    expect((await request(app).get(path)).body).toEqual([]);
  });

  it('answers 204 where the configuration says so', async () => {
    const put = await request(testApp({ preferMinimalUpdateStatus: 204 }))
      .put(path)
      .set('Content-Type', 'application/json')
      .send('[]');
    expect(put.status).toBe(204);
  });

  it.each([
    [[{ value: 'x' }]],
    [[{ key: '' }]],
    [[{ key: 'a b' }]],
    [[{ key: 'k', colour: 'red' }]],
    [[{ key: 'k', target_path: 'x' }]],
    [[{ key: 'k' }, { key: 'k' }]],
    [[7]],
    [{ key: 'k' }],
    ['nonsense'],
    [''],
  ])('refuses PUT of %j with 400', async (body) => {
    await send('put', path, [{ key: 'kept' }]);
    const before = await dump();
    expect((await send('put', path, body)).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('answers 404 for an unknown EHR or target, 400 for malformed ids, 409 for a merged EHR', async () => {
    const nowhere = `${V1}/ehr/${randomUUID()}`;
    expect((await request(app).get(`${nowhere}/tags`)).status).toBe(404);
    expect((await request(app).get(`${V1}/ehr/a%20b/tags`)).status).toBe(400);
    for (const address of [
      `${nowhere}/ehr_status/${ehr.statusId}/tags`,
      `${V1}/ehr/${ehr.ehrId}/composition/${randomUUID()}/tags`,
    ]) {
      expect((await request(app).get(address)).status).toBe(404);
      expect((await send('put', address, [])).status).toBe(404);
      expect((await request(app).delete(`${address}/k`)).status).toBe(404);
    }
    expect((await request(app).get(`${V1}/ehr/${ehr.ehrId}/ehr_status/x/tags`)).status).toBe(400);
    const gone = await newEhr();
    await mergeAway(gone.ehrId, ehr.ehrId);
    const merged = `${V1}/ehr/${gone.ehrId}`;
    expect((await request(app).get(`${merged}/tags`)).status).toBe(404);
    expect((await send('put', `${merged}/ehr_status/${gone.statusId}/tags`, [])).status).toBe(409);
    expect((await request(app).delete(`${merged}/ehr_status/${gone.statusId}/tags/k`)).status).toBe(409);
  });
});

describe('tag headers', () => {
  const STATUS = {
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    subject: { _type: 'PARTY_SELF' },
    is_queryable: true,
    is_modifiable: true,
  };

  const update = (ehr: NewEhr, ifMatch: string, headers: Record<string, string>) =>
    send('put', `${V1}/ehr/${ehr.ehrId}/ehr_status`, STATUS, { 'If-Match': `"${ifMatch}"`, ...headers });
  const read = (ehr: NewEhr, suffix = '') => request(app).get(`${V1}/ehr/${ehr.ehrId}/ehr_status${suffix}`);

  it('are stored with the version and given back on GET', async () => {
    const ehr = await newEhr();
    expect((await read(ehr)).headers['openehr-item-tag']).toBeUndefined();
    const put = await update(ehr, ehr.statusUid, {
      'openehr-item-tag': 'key="a",value="ü \\"x\\"",target_path="/subject"; key="c"',
      'openehr-version-item-tag': 'key="v"',
    });
    expect(put.status).toBe(200);
    const got = await read(ehr);
    expect(Buffer.from(got.headers['openehr-item-tag']!, 'latin1').toString('utf8')).toContain('key="a"');
    expect(got.headers['openehr-item-tag']).toContain('; key="c"');
    expect(got.headers['openehr-version-item-tag']).toBe('key="v"');
    const first = await read(ehr, `/${ehr.statusUid}`);
    expect(first.headers['openehr-item-tag']).toBeDefined();
    expect(first.headers['openehr-version-item-tag']).toBeUndefined();
    const dtos = await request(app).get(`${V1}/ehr/${ehr.ehrId}/tags?tag_key=a`);
    expect(dtos.body[0].target_path).toBe('/subject');
  });

  it('have the same bytes with a body and without', async () => {
    const ehr = await newEhr();
    await update(ehr, ehr.statusUid, { 'openehr-item-tag': 'key="a",value="Müller"' });
    const path = `${V1}/ehr/${ehr.ehrId}/ehr_status`;
    for (const { headers } of [await request(app).get(path), await request(app).head(path)]) {
      expect(Buffer.from(headers['openehr-item-tag']!, 'latin1').toString('utf8')).toBe(
        'key="a",value="Müller"',
      );
    }
  });

  it('are left out when they are so long that clients would refuse the answer', async () => {
    const ehr = await newEhr();
    const tags = Array.from({ length: 60 }, (_, index) => ({ key: `k${index}`, value: 'x'.repeat(300) }));
    const path = `${V1}/ehr/${ehr.ehrId}/ehr_status`;
    expect((await send('put', `${path}/${ehr.statusId}/tags`, tags)).status).toBe(200);
    const { status, headers } = await read(ehr);
    expect([status, headers['openehr-item-tag']]).toEqual([200, undefined]);
    expect((await request(app).get(`${path}/${ehr.statusId}/tags`)).body).toHaveLength(60);
  });

  it('leave the list as it is when absent, replace it when given, clear it when empty', async () => {
    const ehr = await newEhr();
    const uid = (n: number) => ehr.statusUid.replace(/1$/, String(n));
    await update(ehr, uid(1), { 'openehr-item-tag': 'key="a"; key="b"' });
    await update(ehr, uid(2), {});
    expect((await read(ehr)).headers['openehr-item-tag']).toBe('key="a"; key="b"');
    await update(ehr, uid(3), { 'std-item-tag': 'key="c"' });
    expect((await read(ehr).set('std-x', '1')).headers['std-item-tag']).toBe('key="c"');
    await update(ehr, uid(4), { 'openehr-item-tag': '' });
    expect((await read(ehr)).headers['openehr-item-tag']).toBeUndefined();
  });

  it.each(['key', 'key="a', 'value="a"', 'key="a b"', 'key="a",colour="b"', 'key="a"; key="a"'])(
    'refuse %s with 400 and write nothing',
    async (header) => {
      const ehr = await newEhr();
      const before = await dump();
      expect((await update(ehr, ehr.statusUid, { 'openehr-item-tag': header })).status).toBe(400);
      expect(await dump()).toBe(before);
    },
  );

  it('refuse two spellings with different values', async () => {
    const ehr = await newEhr();
    const headers = { 'openehr-item-tag': 'key="a"', 'std-item-tag': 'key="b"' };
    expect((await update(ehr, ehr.statusUid, headers)).status).toBe(400);
  });

  describe('of a COMPOSITION', () => {
    const TAGS = { 'openehr-item-tag': 'key="c",value="1"', 'openehr-version-item-tag': 'key="v"' };
    let ehr: NewEhr;

    beforeAll(async () => {
      await givenTemplate(app);
      ehr = await newEhr();
    });

    const create = (headers: Record<string, string>, composition: object = aComposition()) =>
      request(app).post(`${V1}/ehr/${ehr.ehrId}/composition`).set(headers).send(composition);
    const get = (uid: string) => request(app).get(`${V1}/ehr/${ehr.ehrId}/composition/${uid}`);

    it('are stored in the same commit and stay with container and version', async () => {
      const uid = versionUidOf(await create(TAGS));
      const first = await get(uid);
      expect(first.headers['openehr-item-tag']).toBe('key="c",value="1"');
      expect(first.headers['openehr-version-item-tag']).toBe('key="v"');
      const put = await request(app)
        .put(`${V1}/ehr/${ehr.ehrId}/composition/${versionedObjectUidOf(uid)}`)
        .set({ 'If-Match': uid, 'openehr-version-item-tag': 'key="w"' })
        .send(aComposition());
      expect(put.status).toBe(200);
      const second = await get(versionedObjectUidOf(uid)).set('Accept', 'application/xml');
      expect(second.headers['openehr-item-tag']).toBe('key="c",value="1"');
      expect(second.headers['openehr-version-item-tag']).toBe('key="w"');
      expect((await get(uid)).headers['openehr-version-item-tag']).toBe('key="v"');
    });

    it('are given with every version, however the first tag and a new version cross', async () => {
      for (let round = 0; round < 8; round += 1) {
        const uid = versionUidOf(await create({}));
        const path = `${V1}/ehr/${ehr.ehrId}/composition/${versionedObjectUidOf(uid)}`;
        expect((await get(uid)).headers['openehr-item-tag']).toBeUndefined();
        const [put, tagged] = await Promise.all([
          request(app).put(path).set('If-Match', uid).send(aComposition()),
          send('put', `${path}/tags`, [{ key: 'late' }]),
        ]);
        expect([put.status, tagged.status]).toEqual([200, 200]);
        for (const name of [uid, versionUidOf(put), versionedObjectUidOf(uid)])
          expect((await get(name)).headers['openehr-item-tag']).toBe('key="late"');
      }
    });

    it('survive the deletion of the COMPOSITION', async () => {
      const uid = versionUidOf(await create(TAGS));
      await request(app).delete(`${V1}/ehr/${ehr.ehrId}/composition/${uid}`);
      const path = `${V1}/ehr/${ehr.ehrId}/composition/${versionedObjectUidOf(uid)}/tags`;
      expect((await request(app).get(path)).body).toEqual([expect.objectContaining({ key: 'c' })]);
      expect((await send('put', path, [{ key: 'late' }])).status).toBe(200);
    });

    it('are not written when the COMPOSITION is refused', async () => {
      const before = await dump();
      expect((await create(TAGS, { ...aComposition(), composer: 7 })).status).toBe(400);
      expect((await create({ 'openehr-item-tag': 'key' })).status).toBe(400);
      expect(await dump()).toBe(before);
    });

    it('clear a list when they are empty', async () => {
      const uid = versionUidOf(await create(TAGS));
      await request(app)
        .put(`${V1}/ehr/${ehr.ehrId}/composition/${versionedObjectUidOf(uid)}`)
        .set({ 'If-Match': uid, 'openehr-item-tag': '' })
        .send(aComposition());
      expect((await get(versionedObjectUidOf(uid))).headers['openehr-item-tag']).toBeUndefined();
    });
  });
});
