import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { recordOfAnswer } from '../../support/api/audit-records.js';
import { useOwnDatabase } from '../../support/database.js';
import { admin, merge, statusOf } from '../../support/merge-http.js';
import { givenEhr, V1, type Json } from '../../support/resources.js';
import { USER, WITH_ADMIN } from '../../support/tokens.js';

useOwnDatabase();
const app = testApp({ ...WITH_ADMIN, auditReads: true });

const find = (identifier: string) => request(app).get('/rest/ehrs').query({ identifier });
const idsOf = ({ body }: request.Response): string[] =>
  (body as { ehrs: { ehr_id: string }[] }).ehrs.map(({ ehr_id: ehrId }) => ehrId);

/** An EHR of a subject in the namespace `hospital`. */
async function givenPatient(subjectId: string, further: object = {}): Promise<string> {
  const { body } = await request(app)
    .post(`${V1}/ehr`)
    .set('Prefer', 'return=representation')
    .send(statusOf(subjectId, further))
    .expect(201);
  return (body as { ehr_id: { value: string } }).ehr_id.value;
}

/** `other_details` with an identifier two levels down. */
function insured(id: string): Json {
  const name = { _type: 'DV_TEXT', value: 'insurance' };
  const element = { _type: 'ELEMENT', archetype_node_id: 'at0003', name };
  const items = [{ ...element, value: { _type: 'DV_IDENTIFIER', id, issuer: 'AOK' } }];
  const cluster = { _type: 'CLUSTER', archetype_node_id: 'at0002', name, items };
  return { _type: 'ITEM_TREE', archetype_node_id: 'at0001', name, items: [cluster] };
}

describe('GET /rest/ehrs', () => {
  it('finds an EHR by its id, its subject in any namespace, and an identifier at any depth', async () => {
    const north = await givenPatient('P-77');
    const south = await givenPatient('x-77', { other_details: insured('P-77') });
    await givenPatient('P-770');
    expect(idsOf(await find('P-77').expect(200))).toEqual([north, south].sort());
    expect(idsOf(await find(` ${north.toUpperCase()} `).expect(200))).toEqual([north]);
    const { body } = await find('x-77');
    expect(body).toEqual({
      ehrs: [
        {
          ehr_id: south,
          time_created: expect.stringMatching(/^\d{4}-.*Z$/),
          subject: { id: 'x-77', namespace: expect.any(String) },
          is_queryable: true,
          is_modifiable: true,
        },
      ],
    });
  });

  it('finds what queries leave out, and not what was merged away', async () => {
    const hidden = await givenPatient('P-hidden', { is_queryable: false, is_modifiable: false });
    const { body } = await find('P-hidden').expect(200);
    expect(body.ehrs).toMatchObject([{ ehr_id: hidden, is_queryable: false, is_modifiable: false }]);
    const source = await givenPatient('P-source');
    await merge(app, source, await givenEhr(app)).expect(200);
    expect([idsOf(await find('P-source')), idsOf(await find(source))]).toEqual([[], []]);
  });

  it('finds by the whole alone, whatever the text looks like', async () => {
    await givenPatient('P-88');
    for (const text of ['P-8', 'p-88', 'P-8*', '.*', 'subject:P-88', '{"$ne":""}', '$where'])
      expect(idsOf(await find(text).expect(200))).toEqual([]);
    const { body } = await request(app).get('/rest/ehrs?identifier[$ne]=x').expect(400);
    expect(body.message).toBe('identifier is required');
  });

  it('refuses an identifier that is missing, blank or too long', async () => {
    const refused = async (path: string): Promise<string> =>
      (await request(app).get(path).expect(400)).body.message as string;
    expect(await refused('/rest/ehrs')).toBe('identifier is required');
    expect(await refused('/rest/ehrs?identifier=%20')).toBe('identifier is required');
    expect(await refused(`/rest/ehrs?identifier=${'é'.repeat(101)}`)).toBe(
      'identifier has more than 200 bytes',
    );
    await find('é'.repeat(100)).expect(200);
    await request(app).get('/rest/ehrs?identifier=x').set('Accept', 'application/xml').expect(406);
  });

  it('says where more than a hundred share it, and reads no more of them', async () => {
    const shared = insured('0000');
    for (let index = 0; index < 103; index += 1)
      await givenPatient(`many-${index}`, { other_details: shared });
    const { body } = await find('0000').expect(200);
    expect([body.ehrs.length, body.truncated]).toEqual([100, true]);
    const { executionStats } = (await mongoose.connection
      .collection('ehrs')
      .find({ 'identities.key': { $in: ['subject:0000', 'identifier:0000'] }, state: 'active' })
      .limit(101)
      .explain('executionStats')) as unknown as { executionStats: { totalDocsExamined: number } };
    expect(executionStats.totalDocsExamined).toBeLessThanOrEqual(101);
  });

  it('is recorded with the EHRs that it found', async () => {
    const ehrId = await givenPatient('P-audited');
    expect(await recordOfAnswer(await find('P-audited'))).toMatchObject({
      operation: 'ehr_find',
      ehr_ids: [ehrId],
    });
  });
});

describe('GET /rest/admin/ehr', () => {
  it('pages through all EHRs by their ids, those that queries leave out too', async () => {
    const hidden = await givenPatient(randomUUID(), { is_queryable: false });
    for (let more = 0; more < 3; more += 1) await givenEhr(app);
    const source = await givenEhr(app);
    await merge(app, source, hidden).expect(200);
    const seen: string[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const { body } = await admin(app, 'get', `/ehr?fetch=3${next === '' ? '' : `&after=${next}`}`).expect(
        200,
      );
      expect(body.ehrs.length).toBeLessThanOrEqual(3);
      seen.push(...(body.ehrs as { ehr_id: string }[]).map(({ ehr_id: ehrId }) => ehrId));
      ({ next } = body as { next?: string });
    }
    const stored = await mongoose.connection
      .collection('ehrs')
      .find({ state: 'active' }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .toArray();
    expect(seen).toEqual(stored.map(({ _id: ehrId }) => String(ehrId)));
    expect([seen.includes(hidden), seen.includes(source)]).toEqual([true, false]);
  });

  it('is XML where that is asked for, and for administrators alone', async () => {
    await givenEhr(app);
    const { text } = await admin(app, 'get', '/ehr?fetch=1').set('Accept', 'application/xml').expect(200);
    expect(text).toMatch(/<EhrListDto[^>]*>.*<ehr_id>/s);
    await request(app).get('/rest/admin/ehr').set('Authorization', USER).expect(403);
    await admin(app, 'get', '/ehr?fetch=1001').expect(400);
    await admin(app, 'get', '/ehr?after=x').expect(400);
  });
});
