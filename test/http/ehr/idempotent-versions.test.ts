import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, dump, givenEhr, givenTemplate, V1 } from '../../support/resources.js';

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
