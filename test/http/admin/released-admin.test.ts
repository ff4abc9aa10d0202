import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { onEvent } from '../../../database/events.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { eraseEhr, finishInTurn } from '../../../maintenance/erase.js';
import { ehrById } from '../../../models/ehr.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { merge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { RELEASE_1_1 } from '../../support/settings.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

const SETTINGS = { ...WITH_ADMIN, ...RELEASE_1_1 };
const app = testApp(SETTINGS);
const ALL = `${V1}/admin/ehr/all`;
const remove = (path: string, listener = app): request.Test =>
  request(listener).delete(path).set('Authorization', ADMIN);
const statusOfEhr = async (ehrId: string): Promise<number> =>
  (await request(app).get(`${V1}/ehr/${ehrId}`)).status;

useDatabase();
beforeAll(() => givenTemplate(app));

describe('the Admin API of ITS-REST 1.1.0', () => {
  it('removes an EHR with everything in it: 204, then 404', async () => {
    const ehrId = await givenEhr(app);
    await givenComposition(app, ehrId);
    const path = `${V1}/admin/ehr/${ehrId}`;
    const gone = await remove(path);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect(await statusOfEhr(ehrId)).toBe(404);
    expect((await remove(path)).status).toBe(404);
    expect((await remove(`${V1}/admin/ehr/no%20id`)).status).toBe(400);
  });

  it('tells the audit why, and who asked for it', async () => {
    const ehrId = await givenEhr(app);
    expect((await remove(`${V1}/admin/ehr/${ehrId}?reason=a%20wish&requested_by=ward%203`)).status).toBe(204);
    const audit = mongoose.connection.collection('audit');
    expect(await audit.findOne({ operation: 'admin_ehr_delete', ehr_id: ehrId })).toMatchObject({
      reason: 'a wish',
      options: { requested_by: 'ward 3' },
    });
  });

  it('is there with ADMIN_API_ACTIVE and the edition only, for who has the permission admin', async () => {
    const path = `${V1}/admin/ehr/${await givenEhr(app)}`;
    const anonymous = await request(app).delete(path);
    const user = await request(app)
      .delete(path)
      .set('Authorization', bearer(['USER']));
    expect([anonymous.status, user.status]).toEqual([401, 403]);
    expect((await remove(path, testApp(WITH_ADMIN))).status).toBe(404);
    expect((await remove(path, testApp({ ...SETTINGS, adminApiActive: false }))).status).toBe(404);
    const options = async (listener = app): Promise<string[]> =>
      ((await request(listener).options(V1)).body as Json).endpoints as string[];
    expect(await options()).toContain('/admin');
    expect(await options(testApp({ ...SETTINGS, adminApiActive: false }))).not.toContain('/admin');
  });

  it('removes those that are named, all of them or none', async () => {
    const [one, two, other] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const unknown = await remove(`${ALL}?ehr_id=${one}&ehr_id=${randomUUID()}`);
    expect([unknown.status, await statusOfEhr(one)]).toEqual([404, 200]);
    expect((await remove(`${ALL}?ehr_id=${one}&ehr_id=${two}`)).status).toBe(204);
    expect([await statusOfEhr(one), await statusOfEhr(two), await statusOfEhr(other)]).toEqual([
      404, 404, 200,
    ]);
  });

  it('removes none where one of them holds what can be taken out, unless it cascades', async () => {
    const [one, source, target] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    await merge(app, source, target).expect(200);
    const path = `${ALL}?ehr_id=${one}&ehr_id=${target}`;
    expect([(await remove(path)).status, await statusOfEhr(one)]).toEqual([409, 200]);
    expect((await remove(`${path}&cascade=true`)).status).toBe(204);
    expect([await statusOfEhr(one), await statusOfEhr(target)]).toEqual([404, 404]);
  });

  it('removes none where one of them is being merged, which all passes over', async () => {
    const [one, merging] = [await givenEhr(app), await givenEhr(app)];
    const isMerging = (set: object) =>
      mongoose.connection.collection<{ _id: string }>('ehrs').updateOne({ _id: merging }, set);
    await isMerging({ $set: { merging: randomUUID() } });
    const named = await remove(`${ALL}?ehr_id=${one}&ehr_id=${merging}`);
    expect([named.status, await statusOfEhr(one)]).toEqual([503, 200]);
    const open = testApp({ ...SETTINGS, adminAllowDeleteAllEhrs: true });
    expect((await remove(ALL, open)).status).toBe(204);
    const left = [(await ehrById(one))?.state, (await ehrById(merging))?.state];
    expect(left).toEqual([undefined, 'active']);
    await isMerging({ $unset: { merging: '' } });
    expect((await remove(ALL, open)).status).toBe(204);
    expect(await ehrById(merging)).toBeNull();
  });

  it('records each EHR that it removes', async () => {
    const ids = [await givenEhr(app), await givenEhr(app)];
    await remove(`${ALL}?ehr_id=${ids.join('&ehr_id=')}`);
    for (const ehrId of ids) {
      const { body } = await request(app)
        .get(`/rest/admin/audit?ehr_id=${ehrId}&operation=admin_ehr_delete_all`)
        .set('Authorization', ADMIN);
      const records = body as Json[];
      expect(records.map((record) => [record.ehr_id, record.status])).toContainEqual([ehrId, 204]);
    }
  });

  it('removes all EHRs with ADMIN_ALLOW_DELETE_ALL_EHRS only', async () => {
    const ehrId = await givenEhr(app);
    for (const path of [ALL, `${ALL}?cascade=true`]) {
      const refused = await remove(path);
      expect(refused.status).toBe(405);
      expect((refused.body as Json).message).toContain('ADMIN_ALLOW_DELETE_ALL_EHRS');
    }
    for (const query of ['?ehr_id=', '?ehr_id', '?ehr_id=all', `?ehr_id=${ehrId}&ehr_id=`, '?ehrid=x']) {
      for (const listener of [app, testApp({ ...SETTINGS, adminAllowDeleteAllEhrs: true })])
        expect([query, (await remove(ALL + query, listener)).status]).toEqual([query, 400]);
    }
    expect(await statusOfEhr(ehrId)).toBe(200);
    const open = testApp({ ...SETTINGS, adminAllowDeleteAllEhrs: true });
    expect((await remove(ALL, open)).status).toBe(204);
    expect(await statusOfEhr(ehrId)).toBe(404);
    expect((await remove(ALL, open)).status).toBe(204);
  });

  it('lets a second person confirm one, and takes several one by one then', async () => {
    const two = testApp({ ...SETTINGS, fourEyes: ['erase'] });
    const ehrId = await givenEhr(app);
    const several = await remove(`${ALL}?ehr_id=${ehrId}`, two);
    expect([several.status, await statusOfEhr(ehrId)]).toEqual([405, 200]);
    const one = await remove(`${V1}/admin/ehr/${ehrId}`, two);
    expect([one.status, (one.body as Json).state, await statusOfEhr(ehrId)]).toEqual([202, 'pending', 200]);
  });
});

it('leaves a store that verifies', async () => {
  const ids = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
  for (const ehrId of ids) await givenComposition(app, ehrId);
  await sealNewRecords();
  const { violations: before } = await verifyStorage();
  expect((await remove(`${ALL}?ehr_id=${ids[0]!}&ehr_id=${ids[1]!}`)).status).toBe(204);
  expect((await remove(`${V1}/admin/ehr/${ids[2]!}`)).status).toBe(204);
  expect((await verifyStorage()).violations).toEqual(before);
});

it('hands over what goes on after an EHR that is too large for one transaction is hidden', async () => {
  const ehrId = await givenEhr(app);
  await givenComposition(app, ehrId);
  const rest: Promise<void>[] = [];
  const handOver = (steps: () => Promise<void>) => rest.push(finishInTurn(ehrId, steps));
  await eraseEhr(ehrId, { versionsAtOnce: 1, handOver });
  expect([rest.length, await statusOfEhr(ehrId)]).toEqual([1, 404]);
  await Promise.all(rest);
  expect(await ehrById(ehrId)).toBeNull();
});

it('answers 202 for an EHR that is too large for one transaction, which is gone at once and ends by itself', async () => {
  const ehrId = await givenEhr(app);
  await givenComposition(app, ehrId);
  const versions = mongoose.connection.collection<{ _id: string; object_id: string }>('versions');
  const version = await versions.findOne({ ehr_id: ehrId, type: 'COMPOSITION' });
  const object = version?.object_id ?? '';
  const more = Array.from({ length: 10_000 }, (_, index) => ({
    ...version,
    object_id: object,
    _id: `${object}::local.cdr::${index + 2}`,
    version: index + 2,
  }));
  await versions.insertMany(more);
  const answered = await remove(`${V1}/admin/ehr/${ehrId}`);
  expect([answered.status, answered.text, await statusOfEhr(ehrId)]).toEqual([202, '', 404]);
  while ((await versions.countDocuments({ ehr_id: ehrId })) > 0) await pause(50);
  while ((await ehrById(ehrId)) !== null) await pause(50);
});

it('ends erasures one after another, and tells of one that fails', async () => {
  const failures: unknown[] = [];
  const end = onEvent('erasureFailure', (event) => failures.push(event));
  const error = new Error('the database is away');
  const seen: string[] = [];
  const steps = (name: string, failure?: Error) => async () => {
    seen.push(`${name} begins`);
    await new Promise(setImmediate);
    seen.push(`${name} ends`);
    if (failure !== undefined) throw failure;
  };
  await Promise.all([finishInTurn('a', steps('a', error)), finishInTurn('b', steps('b'))]);
  end();
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(failures).toEqual([{ ehrId: 'a', error }]);
});
