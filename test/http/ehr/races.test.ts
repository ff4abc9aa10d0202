import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

const app = testApp();
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const secondOf = (uid: string): string => uid.replace(/1$/, '2');
const folder = { _type: 'FOLDER', archetype_node_id: 'x', name: { _type: 'DV_TEXT', value: 'root' } };

/** Sends the same PUT many times at once and tells how often each status came. */
async function putAtOnce(path: string, ifMatch: string, body: object, count: number): Promise<Json> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => request(app).put(path).set('If-Match', ifMatch).send(body)),
  );
  const statuses: Json = {};
  for (const { status, headers } of answers) {
    statuses[status] = Number(statuses[status] ?? 0) + 1;
    expect(headers['etag']).toBe(`"${secondOf(ifMatch)}"`);
    expect(headers['location']).toContain(secondOf(ifMatch));
  }
  return statuses;
}

describe('parallel updates with one If-Match', () => {
  it('of a COMPOSITION: of 64 one succeeds, 63 are told the version that came', async () => {
    const uid = await givenComposition(app, ehrId);
    const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;
    expect(await putAtOnce(path, uid, aComposition(), 64)).toEqual({ 200: 1, 412: 63 });
    const history = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/revision_history`;
    expect((await request(app).get(history)).body.items).toHaveLength(2);
  });

  it('of an EHR_STATUS: of 16 one succeeds', async () => {
    const path = `${V1}/ehr/${ehrId}/ehr_status`;
    const { headers, body } = await request(app).get(path);
    const uid = versionUidOf({ headers });
    expect(await putAtOnce(path, uid, body as Json, 16)).toEqual({ 200: 1, 412: 15 });
  });

  it('of a directory: of 16 one succeeds', async () => {
    const path = `${V1}/ehr/${ehrId}/directory`;
    const uid = versionUidOf(await request(app).post(path).send(folder));
    expect(await putAtOnce(path, uid, folder, 16)).toEqual({ 200: 1, 412: 15 });
  });
});

describe('parallel chains of updates', () => {
  it('leave no gap in the numbers and strictly increasing times', async () => {
    const uid = await givenComposition(app, ehrId);
    const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;
    const climb = async (steps: number): Promise<number> => {
      let won = 0;
      for (let step = 0; step < steps; step += 1) {
        const latest = versionUidOf(await request(app).get(path));
        const { status } = await request(app).put(path).set('If-Match', latest).send(aComposition());
        if (status === 200) won += 1;
        else expect(status).toBe(412);
      }
      return won;
    };
    const won = await Promise.all(Array.from({ length: 6 }, () => climb(5)));
    const versions = 1 + won.reduce((sum, one) => sum + one, 0);
    const history = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/revision_history`;
    const { items } = (await request(app).get(history)).body as Json;
    expect(items.map((item: Json) => item['version_id'].value as string)).toEqual(
      Array.from({ length: versions }, (_none, index) => uid.replace(/1$/, String(index + 1))),
    );
    const times = items.map((item: Json) => item['audits'][0].time_committed.value as string) as string[];
    expect(new Set(times).size).toBe(versions);
    expect([...times].sort()).toEqual(times);
  });
});

describe('a freeze in parallel with writes', () => {
  it('lets each write through before it or refuses it after it', async () => {
    const frozen = await givenEhr(app);
    const base = `${V1}/ehr/${frozen}`;
    const { headers, body } = await request(app).get(`${base}/ehr_status`);
    const writes = Array.from({ length: 12 }, () =>
      request(app).post(`${base}/composition`).send(aComposition()),
    );
    const freeze = request(app)
      .put(`${base}/ehr_status`)
      .set('If-Match', versionUidOf({ headers }))
      .send({ ...(body as Json), is_modifiable: false, is_queryable: false });
    const [frozenAnswer, ...answers] = await Promise.all([freeze, ...writes]);
    expect(frozenAnswer.status).toBe(200);
    const made = answers.filter(({ status }) => status === 201).length;
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(12 - made);
    const list = await request(app).get(`${base}?include=compositions`);
    expect(list.body.compositions ?? []).toHaveLength(made);
    expect((await request(app).post(`${base}/composition`).send(aComposition())).status).toBe(409);
  });
});

describe('more requests at once than a usual pool has connections', () => {
  it('are all carried out: none waits for a connection that only another one can free', async () => {
    const COUNT = 120;
    // A busy machine would refuse some of so many, each with a time to come again.
    const patient = testApp({ requestWaitMs: 0 });
    const answers = await Promise.all(
      Array.from({ length: 2 * COUNT }, (_, index) =>
        index % 2 === 0 ? request(patient).post(`${V1}/ehr`) : request(patient).get(`${V1}/ehr/${ehrId}`),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(COUNT);
    expect(statuses.filter((status) => status === 200)).toHaveLength(COUNT);
  });
});
