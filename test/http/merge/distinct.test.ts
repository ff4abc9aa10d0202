import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, merge, statusOf } from '../../support/merge-http.js';
import { givenEhr, type Json } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);

/** Two EHRs of one number in two namespaces: candidates for a merge. */
async function alike(): Promise<readonly [string, string]> {
  const id = randomUUID();
  const other: Json = statusOf(id);
  other.subject.external_ref.namespace = 'clinic';
  return [await givenEhr(app, statusOf(id)), await givenEhr(app, other)];
}
const candidatesOf = async (ehrId: string): Promise<unknown[]> =>
  (await admin(app, 'get', `/ehr/merge_candidates?ehr_id=${ehrId}`).expect(200)).body.candidates as unknown[];
const path = (left: string, right: string) => `/ehr/${left}/distinct/${right}`;

describe('two EHRs of which it is said that they are of two persons', () => {
  it('are no candidates any more, in whatever order they are named, until it is taken back', async () => {
    const [left, right] = await alike();
    expect(await candidatesOf(left)).toHaveLength(1);
    const { body } = await admin(app, 'put', path(right, left)).send({ reason: ' twins ' }).expect(200);
    expect(body).toEqual({
      ehr_id: [left, right].sort()[0],
      other_ehr_id: [left, right].sort()[1],
      reason: 'twins',
      said_by: 'root-admin',
      said_at: expect.any(String),
    });
    expect([await candidatesOf(left), await candidatesOf(right)]).toEqual([[], []]);
    const all = await admin(app, 'get', '/ehr/merge_candidates?fetch=1000').expect(200);
    expect(JSON.stringify(all.body.candidates)).not.toContain(left);
    const { body: list } = await admin(app, 'get', '/ehr/distinct').expect(200);
    expect(list.distinct).toContainEqual(body);
    await admin(app, 'delete', path(left, right)).expect(204);
    expect(await candidatesOf(left)).toHaveLength(1);
    await admin(app, 'delete', path(left, right)).expect(404);
  });

  it.each([{}, { reason: '' }, { reason: 'a'.repeat(501) }, { reason: 'a', more: 1 }])(
    'need a reason: %j is refused',
    async (body) => {
      const [left, right] = await alike();
      await admin(app, 'put', path(left, right)).send(body).expect(400);
    },
  );

  it('may be merged all the same', async () => {
    const [left, right] = await alike();
    await admin(app, 'put', path(left, right)).send({ reason: 'twins' }).expect(200);
    await merge(app, left, right, { resolutions: { ehr_status: { subject: 'target' } } }).expect(200);
  });

  it('leave nothing when one of them is erased', async () => {
    const [left, right] = await alike();
    await admin(app, 'put', path(left, right)).send({ reason: 'twins' }).expect(200);
    await admin(app, 'delete', `/ehr/${right}`).expect(204);
    const kept = mongoose.connection.collection('distinct_persons');
    expect(await kept.countDocuments({ $or: [{ ehr_id: right }, { other_ehr: right }] })).toBe(0);
  });

  it('are named in the audit', async () => {
    const [left, right] = await alike();
    await admin(app, 'put', path(left, right)).send({ reason: 'twins' }).expect(200);
    const record = await mongoose.connection
      .collection('audit')
      .findOne({ operation: 'sayDistinct', ehr_ids: left });
    expect(record).toMatchObject({ user: 'root-admin', status: 200, ehr_ids: [left, right].sort() });
  });
});
