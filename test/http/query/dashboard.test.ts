import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
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
    const audit = mongoose.connection.collection('audit');
    expect(await audit.distinct('operation', { objects: id })).toEqual([
      'dashboard_delete',
      'dashboard_save',
    ]);
  });

  it('are changed by nobody who has not seen what they are now', async () => {
    const who = somebody();
    const id = randomUUID();
    const over = (savedAt: string, name: string) =>
      save(who, { ...BODY, name }, id).set('If-Match', `"${savedAt}"`);
    await over(new Date().toISOString(), 'of none').expect(412);
    const first = (await save(who, BODY, id).expect(200)).body as { saved_at: string };
    const second = (await over(first.saved_at, 'one tab').expect(200)).body as { saved_at: string };
    expect(second.saved_at > first.saved_at).toBe(true);
    await over(first.saved_at, 'another tab').expect(412);
    expect((await listed(who)).map(({ name }) => name)).toEqual(['one tab']);
    const both = await Promise.all(
      ['a', 'b'].map(async (name) => (await over(second.saved_at, name)).status),
    );
    expect(both.sort()).toEqual([200, 412]);
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

  it('are no more than they may be when several are saved at once: each writes what is one of their owner', async () => {
    const who = somebody();
    for (let count = 1; count < 50; count += 1) await save(who, BODY).expect(200);
    const owner = Buffer.from(who.split('.')[1]!, 'base64url').toString();
    const { sub } = JSON.parse(owner) as { sub: string };
    const holds = mongoose.connection.collection<{ _id: string; saves: number }>('dashboards');
    const hold = () => holds.findOne({ _id: { $regex: sub }, saves: { $exists: true } });
    expect((await hold())?.saves).toBe(49);
    const answers = await Promise.all([1, 2, 3, 4].map(async () => (await save(who, BODY)).status));
    expect(answers.sort()).toEqual([200, 409, 409, 409]);
    expect(await listed(who)).toHaveLength(50);
  });
});
