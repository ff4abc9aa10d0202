import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';

const app = testApp();
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const folder = { _type: 'FOLDER', archetype_node_id: 'x', name: { _type: 'DV_TEXT', value: 'root' } };
const versions = [{ commit_audit: { change_type: { value: 'creation' } }, data: aComposition() }];

describe('POST with an Idempotency-Key', () => {
  it.each<[string, object, object]>([
    ['composition', aComposition(), { ...aComposition(), links: null }],
    ['directory', folder, { ...folder, folders: [] }],
    ['contribution', { versions }, { versions, _type: 'CONTRIBUTION' }],
  ])('of a %s commits once and answers alike', async (resource, body, other) => {
    const post = (sent: object): request.Test =>
      request(app)
        .post(`${V1}/ehr/${ehrId}/${resource}`)
        .set('Idempotency-Key', `key-${resource}`)
        .set('Prefer', 'return=representation')
        .send(sent);
    const first = await post(body);
    expect(first.status).toBe(201);
    const before = await dump();
    const again = await post(body);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers['etag']).toBe(first.headers['etag']);
    expect(again.headers['last-modified']).toBe(first.headers['last-modified']);
    expect((await post(other)).status).toBe(422);
    expect(await dump()).toBe(before);
  });

  it('remembers nothing of a request that was refused', async () => {
    const post = (sent: object): request.Test =>
      request(app).post(`${V1}/ehr/${ehrId}/composition`).set('Idempotency-Key', 'key-refused').send(sent);
    expect((await post({ nonsense: 1 })).status).toBe(400);
    expect((await post(aComposition())).status).toBe(201);
  });
});

describe('PUT and DELETE with an Idempotency-Key', () => {
  type Sent = readonly [method: 'put' | 'delete', path: string, ifMatch: string, body?: object];

  const send = ([method, path, ifMatch, body]: Sent, key: string): request.Test => {
    const at = `${V1}${path}`;
    const asked = (method === 'put' ? request(app).put(at) : request(app).delete(at)).set({
      'Idempotency-Key': key,
      Prefer: 'return=representation',
    });
    return (ifMatch === '' ? asked : asked.set('If-Match', `"${ifMatch}"`)).send(body);
  };
  const make = async (resource: string, body: object): Promise<string> =>
    versionUidOf(await request(app).post(`${V1}/ehr/${ehrId}/${resource}`).send(body));
  const next = (uid: string): string => uid.replace(/\d+$/, (number) => String(Number(number) + 1));

  /** Sends it twice, with the same key, and once as another request with that key. */
  async function sendTwice(sent: Sent, other: Sent | null): Promise<void> {
    const key = `key ${sent[0]} ${sent[1]} ${sent[2]}`;
    const first = await send(sent, key);
    expect(first.status).toBeLessThan(300);
    const before = await dump();
    const again = await send(sent, key);
    expect([again.status, again.text, again.headers['etag']]).toEqual([
      first.status,
      first.text,
      first.headers['etag'],
    ]);
    if (other !== null) expect((await send(other, key)).status).toBe(422);
    expect(await dump()).toBe(before);
  }

  it('commit a COMPOSITION once, and its deletion', async () => {
    const uid = await make('composition', aComposition());
    const path = `/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;
    await sendTwice(['put', path, uid, aComposition()], ['put', path, next(uid), aComposition()]);
    await sendTwice(['delete', `/ehr/${ehrId}/composition/${next(uid)}`, ''], null);
  });

  it('commit a directory once, and its deletion', async () => {
    const directories = `/ehr/${await givenEhr(app)}/directory`;
    const made = await request(app).post(`${V1}${directories}`).send(folder);
    const uid = versionUidOf(made);
    const changed = { ...folder, archetype_node_id: 'y' };
    await sendTwice(['put', directories, uid, changed], ['put', directories, uid, folder]);
    await sendTwice(['delete', directories, next(uid)], ['delete', directories, uid]);
  });

  it('commit an EHR_STATUS and an EHR with its id once', async () => {
    const statuses = `/ehr/${ehrId}/ehr_status`;
    const got = await request(app).get(`${V1}${statuses}`);
    const uid = versionUidOf(got);
    const changed = { ...got.body, is_queryable: false };
    await sendTwice(['put', statuses, uid, changed], ['put', statuses, uid, got.body as object]);
    await sendTwice(['put', '/ehr/6d3b63ba-4f55-4f7a-a1a7-3f3d7f5dd001', ''], null);
  });
});
