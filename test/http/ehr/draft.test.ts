import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { removeExpiredDrafts } from '../../../models/draft.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, V1, versionedObjectUidOf } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
/** Everything but drafts is open here, so that the tests can prepare it. */
const app = testApp({ ...WITH_ADMIN, auth: 'none' });
const closed = testApp({ ...WITH_ADMIN, auth: 'jwt' });
beforeAll(() => givenMergeTemplates(app));

const ADA = bearer(['USER'], 'ada');
const CONTENT = { 'minimal/minimal:0/quantity|magnitude': 12.5, 'minimal/composer|name': 'Ada' };
const BODY = { template_id: 'minimal_evaluation.en.v1', content: CONTENT };

const ask = (method: 'get' | 'put' | 'delete', ehrId: string, draftId: string, who = ADA) =>
  request(closed)[method](`/rest/draft/${ehrId}/${draftId}`).set('Authorization', who);
const listed = async (who = ADA) =>
  (await request(closed).get('/rest/draft').set('Authorization', who).expect(200)).body as {
    draft_id: string;
    ehr_id: string;
  }[];
const saved = async (ehrId: string, more: object = {}) => {
  const draftId = randomUUID();
  await ask('put', ehrId, draftId)
    .send({ ...BODY, ...more })
    .expect(200);
  return draftId;
};

describe('a draft', () => {
  it('is kept, changed, listed and deleted by whoever typed it', async () => {
    const ehrId = await givenEhr(app);
    const draftId = await saved(ehrId);
    const { body } = await ask('get', ehrId, draftId).expect(200);
    expect(body).toEqual({
      draft_id: draftId,
      ehr_id: ehrId,
      template_id: BODY.template_id,
      version_uid: null,
      saved_at: expect.any(String),
      expires_at: new Date(Date.parse(body.saved_at) + 30 * 86_400_000).toISOString(),
      content: CONTENT,
    });
    await ask('put', ehrId, draftId)
      .send({ ...BODY, content: {} })
      .expect(200);
    expect((await ask('get', ehrId, draftId)).body.content).toEqual({});
    const mine = (await listed()).filter((draft) => draft.draft_id === draftId);
    expect(mine).toEqual([expect.not.objectContaining({ content: expect.anything() })]);
    await ask('delete', ehrId, draftId).expect(204);
    await ask('get', ehrId, draftId).expect(404);
    await ask('delete', ehrId, draftId).expect(404);
  });

  it('is nobody else’s, not even an administrator’s of the same id, name or another issuer', async () => {
    const ehrId = await givenEhr(app);
    const draftId = await saved(ehrId);
    for (const other of [bearer(['ADMIN'], 'root'), bearer(['USER'], 'ada', 600, 'https://id.example')]) {
      await ask('get', ehrId, draftId, other).expect(404);
      await ask('delete', ehrId, draftId, other).expect(404);
      expect((await listed(other)).map((draft) => draft.draft_id)).not.toContain(draftId);
      await ask('put', ehrId, draftId, other)
        .send({ ...BODY, content: {} })
        .expect(200);
    }
    expect((await ask('get', ehrId, draftId)).body.content).toEqual(CONTENT);
  });

  it('needs its permission', async () => {
    const ehrId = await givenEhr(app);
    for (const role of ['READER', 'AUDITOR'])
      await ask('put', ehrId, randomUUID(), bearer([role], 'rita'))
        .send(BODY)
        .expect(403);
  });

  it.each([
    ['no object', []],
    ['no template', { content: {} }],
    ['no content', { template_id: 'a' }],
    ['content that is no object', { template_id: 'a', content: 'x' }],
    ['another version than there can be', { ...BODY, version_uid: 'x' }],
    ['members that nobody knows', { ...BODY, ehr_id: 'x' }],
  ])('with %s is refused', async (_, body) => {
    await ask('put', await givenEhr(app), randomUUID())
      .send(body)
      .expect(400);
  });

  it('is in no query, no CONTRIBUTION and not among the COMPOSITIONs of its EHR', async () => {
    const ehrId = await givenEhr(app);
    const before = (await request(app).get(`${V1}/ehr/${ehrId}?include=compositions,contributions`)).body;
    await saved(ehrId);
    const after = (await request(app).get(`${V1}/ehr/${ehrId}?include=compositions,contributions`)).body;
    expect(after).toEqual(before);
    const q = 'SELECT c FROM EHR e CONTAINS COMPOSITION c';
    const { body } = await request(app).post(`${V1}/query/aql`).send({ q, ehr_id: ehrId });
    expect(body.rows).toEqual([]);
  });

  it('is audited with its EHR', async () => {
    const ehrId = await givenEhr(app);
    const draftId = await saved(ehrId);
    await ask('delete', ehrId, draftId).expect(204);
    const records = await mongoose.connection
      .collection('audit')
      .find({ ehr_id: ehrId, operation: /^draft/ })
      .sort({ time: 1 })
      .toArray();
    expect(records.map(({ operation, user, status }) => [operation, user, status])).toEqual([
      ['draft_save', 'ada', 200],
      ['draft_delete', 'ada', 204],
    ]);
  });

  it('is found where a merge took its EHR, and back when that is undone', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const draftId = await saved(source);
    await merge(app, source, target).expect(200);
    await ask('get', source, draftId).expect(404);
    expect((await ask('get', target, draftId).expect(200)).body).toMatchObject({
      ehr_id: target,
      content: CONTENT,
    });
    expect(await listed()).toContainEqual(expect.objectContaining({ draft_id: draftId, ehr_id: target }));
    await ask('put', source, randomUUID()).send(BODY).expect(409);
    await unmerge(app, source, target).expect(200);
    await ask('get', target, draftId).expect(404);
    await ask('get', source, draftId).expect(200);
  });

  it('goes with its EHR, also where that was merged into the one that is erased', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    await saved(source);
    await saved(target);
    await merge(app, source, target).expect(200);
    await admin(app, 'delete', `/ehr/${target}?cascade=true`).expect(204);
    expect(await stored({ ehr_id: { $in: [source, target] } })).toBe(0);
    await ask('put', target, randomUUID()).send(BODY).expect(404);
  });

  it('of a new version goes with the COMPOSITION', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId);
    await saved(ehrId, { version_uid: uid });
    const other = await saved(ehrId);
    await admin(app, 'delete', `/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`).expect(200);
    expect(await stored({ ehr_id: ehrId })).toBe(1);
    await ask('get', ehrId, other).expect(200);
  });

  it('is gone after 30 days', async () => {
    const ehrId = await givenEhr(app);
    const draftId = await saved(ehrId);
    const drafts = mongoose.connection.collection('drafts');
    await drafts.updateOne({ draft_id: draftId }, { $set: { expires_at: new Date(Date.now() - 1) } });
    await ask('get', ehrId, draftId).expect(404);
    expect((await listed()).map((draft) => draft.draft_id)).not.toContain(draftId);
    await removeExpiredDrafts(new Date());
    expect(await stored({ draft_id: draftId })).toBe(0);
  });
});

function stored(filter: object): Promise<number> {
  return mongoose.connection.collection('drafts').countDocuments(filter);
}
