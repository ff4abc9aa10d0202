import { randomUUID } from 'node:crypto';
import { describe, expect, it, beforeAll } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { givenEhr } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
/** Everything but favourites is open here, so that the tests can prepare it. */
const app = testApp({ ...WITH_ADMIN, auth: 'none' });
const closed = testApp({ ...WITH_ADMIN, auth: 'jwt' });
beforeAll(() => givenMergeTemplates(app));

/** Another user for each test: lists are whole. */
const somebody = () => bearer(['READER'], `reader-${randomUUID()}`);
const ask = (method: 'put' | 'delete', ehrId: string, who: string) =>
  request(closed)[method](`/rest/favourite/${ehrId}`).set('Authorization', who);
const listed = async (who: string) =>
  (
    (await request(closed).get('/rest/favourite').set('Authorization', who).expect(200)).body as {
      ehr_id: string;
    }[]
  ).map(({ ehr_id: ehrId }) => ehrId);

describe('favourites', () => {
  it('are kept for one user, newest first, by whoever may read', async () => {
    const [one, two] = [await givenEhr(app), await givenEhr(app)];
    const who = somebody();
    await ask('put', one, who).expect(204);
    await ask('put', two, who).expect(204);
    await ask('put', two, who).expect(204);
    expect(await listed(who)).toEqual([two, one]);
    expect(await listed(somebody())).toEqual([]);
    await ask('delete', two, somebody()).expect(404);
    await ask('delete', two, who).expect(204);
    await ask('delete', two, who).expect(404);
    expect(await listed(who)).toEqual([one]);
    await ask('put', one, bearer(['AUDITOR'])).expect(403);
  });

  it('are as many as can be listed and taken away', async () => {
    const [oldest, next, last] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const who = somebody();
    await ask('put', oldest, who).expect(204);
    const favourites = mongoose.connection.collection<{ _id: string; owner: string }>('favourites');
    const { owner } = (await favourites.findOne({ ehr_id: oldest }))!;
    const since = new Date();
    const more = Array.from({ length: 198 }, () => randomUUID());
    await favourites.insertMany(more.map((id) => ({ _id: `${who} ${id}`, owner, ehr_id: id, since })));
    const answers = await Promise.all([next, last].map(async (id) => (await ask('put', id, who)).status));
    expect(answers.sort()).toEqual([204, 409]);
    await ask('put', oldest, who).expect(204);
    await ask('delete', oldest, who).expect(204);
    for (const ehrId of [next, last]) await ask('put', ehrId, who).expect(204);
  });

  it('follow a merge and its undoing, and are there once when both were favourites', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const who = somebody();
    for (const ehrId of [source, target]) await ask('put', ehrId, who).expect(204);
    await merge(app, source, target, { reversible: true });
    expect(await listed(who)).toEqual([target]);
    await ask('put', source, who).expect(409);
    await unmerge(app, source, target);
    expect((await listed(who)).sort()).toEqual([source, target].sort());
    await merge(app, source, target, { reversible: true });
    await ask('delete', target, who).expect(204);
    expect(await listed(who)).toEqual([]);
  });

  it('go with an EHR that is erased', async () => {
    const ehrId = await givenEhr(app);
    const who = somebody();
    await ask('put', ehrId, who).expect(204);
    await admin(app, 'delete', `/ehr/${ehrId}`).expect(204);
    expect(await mongoose.connection.collection('favourites').countDocuments({ ehr_id: ehrId })).toBe(0);
    expect(await listed(who)).toEqual([]);
  });
});
