import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, auth: 'jwt' });

const PANEL = { title: 'Records', q: 'SELECT e/ehr_id/value FROM EHR e WHERE $x', show: 'table' };
const BODY = { name: 'Ward', panels: [PANEL], parameters: { x: '' } };
const somebody = () => bearer(['READER'], `reader-${randomUUID()}`);
const save = (who: string, body: object, id = randomUUID()) =>
  request(app).put(`/rest/dashboard/${id}`).set('Authorization', who).send(body);
const listed = async (who: string) =>
  (await request(app).get('/rest/dashboard').set('Authorization', who).expect(200)).body as {
    dashboard_id: string;
    name: string;
  }[];

describe('dashboards', () => {
  it('are kept, changed, listed by name and deleted by the one who made them', async () => {
    const who = somebody();
    const id = randomUUID();
    await save(who, BODY, id).expect(200);
    await save(who, { ...BODY, name: 'A' }).expect(200);
    const changed = { name: 'Ward 2', panels: [], parameters: {} };
    await save(who, changed, id).expect(200);
    const all = await listed(who);
    expect(all.map(({ name }) => name)).toEqual(['A', 'Ward 2']);
    expect(all[0]).toMatchObject({ ...BODY, name: 'A' });
    expect(await listed(somebody())).toEqual([]);
    const remove = (by: string) => request(app).delete(`/rest/dashboard/${id}`).set('Authorization', by);
    await remove(somebody()).expect(404);
    await remove(who).expect(204);
    await remove(who).expect(404);
  });

  it('are one and no more than they may be', async () => {
    const who = somebody();
    await save(who, { ...BODY, panels: [{ ...PANEL, show: 'pie' }] }).expect(400);
    await save(who, { ...BODY, more: 1 }).expect(400);
    await save(who, { ...BODY, parameters: { ['x'.repeat(201)]: '' } }).expect(400);
    const large = await save(who, { ...BODY, panels: [{ ...PANEL, q: 'x'.repeat(1_100_000) }] }).expect(413);
    expect(large.body).toMatchObject({
      message: 'the body is larger than 1048576 bytes: send less at a time',
    });
    const ids = Array.from({ length: 50 }, () => randomUUID());
    for (const id of ids) await save(who, BODY, id).expect(200);
    await save(who, BODY).expect(409);
    await save(who, { ...BODY, name: 'again' }, ids[0]).expect(200);
  });
});
