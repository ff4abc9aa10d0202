import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { merge, unmerge } from '../../support/merge-http.js';
import { tagBeyondNames } from '../../support/policy/beyond-names.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { bearer, USER } from '../../support/tokens.js';
import { putPolicies } from '../../support/policy/put.js';

/** Merges that are made and taken back, with readers beside them; in the second half of them more EHRs have the tag than queries name. */
const SIZES = { small: 4, full: 1_000 };
const READERS = 4;
const COMPOSITIONS = 5;
const MARK = 'nobody is to see this';

useDatabase();
const settings = everythingOn({ auth: 'jwt', accessMode: 'enforce' });
const apps = [testApp(settings), testApp({ ...settings, mergeStepsFrom: 0 })] as const;
const open = testApp();
const ROOT = bearer(['USER', 'ADMIN'], 'root');

const POLICIES = {
  all: 'permit (principal, action, resource);',
  famous: `forbid (principal, action, resource) when { resource.hasTag("access.famous") }
    unless { principal.roles.contains("ADMIN") };`,
};

beforeAll(async () => {
  await givenTemplate(open);
  await putPolicies(apps[0], POLICIES);
});

/** An EHR with COMPOSITIONs of a composer; gives its id and the last of them. */
async function givenRecord(composer: string): Promise<{ readonly ehrId: string; readonly uid: string }> {
  const ehrId = await givenEhr(open);
  const body = { ...aComposition(), composer: { _type: 'PARTY_IDENTIFIED', name: composer } };
  let uid = '';
  for (let made = 0; made < COMPOSITIONS; made += 1)
    uid = versionUidOf(await request(open).post(`${V1}/ehr/${ehrId}/composition`).send(body).expect(201));
  return { ehrId, uid };
}

it('what a tag hides before a merge, and its copy after it, nobody reads while it is made or taken back', async () => {
  const seed = firstSeed();
  const random = new Random(seed);
  const answers = { 200: 0, 404: 0, 503: 0 };
  const rounds = draws(SIZES);
  for (let round = 0; round < rounds; round += 1) {
    if (round === Math.ceil(rounds / 2)) await tagBeyondNames('access.famous', null);
    const app = apps[round % 2 === 0 ? 0 : 1];
    const [hidden, plain] = [await givenRecord(MARK), await givenRecord('somebody')];
    const status = versionUidOf(await request(open).get(`${V1}/ehr/${hidden.ehrId}/ehr_status`).expect(200));
    await request(app)
      .put(`${V1}/ehr/${hidden.ehrId}/ehr_status/${versionedObjectUidOf(status)}/tags`)
      .set('Authorization', ROOT)
      .send([{ key: 'access.famous' }])
      .expect(200);
    const get = (path: string) => request(app).get(`${V1}/ehr/${path}`).set('Authorization', USER);
    const query = (q: string, ehr_id?: string) =>
      request(app).post(`${V1}/query/aql`).set('Authorization', USER).send({ q, ehr_id });
    const composers = 'SELECT c/composer/name FROM EHR e CONTAINS COMPOSITION c';
    const asks = [
      () => get(`${plain.ehrId}/composition/${hidden.uid}`),
      () => get(`${hidden.ehrId}/composition/${hidden.uid}`),
      () =>
        get(`${plain.ehrId}/versioned_composition/${versionedObjectUidOf(hidden.uid)}/version/${hidden.uid}`),
      () => query(composers),
      () => query(composers, plain.ehrId),
      () => query(composers, hidden.ehrId),
    ];
    const beside = async (change: () => PromiseLike<{ readonly status: number }>): Promise<void> => {
      let isDone = false;
      const read = async (): Promise<void> => {
        while (!isDone) {
          const which = random.below(asks.length);
          const answer = await asks[which]!();
          const told = { seed, round, which };
          expect({ ...told, isSeen: answer.text.includes(MARK) }).toEqual({ ...told, isSeen: false });
          expect(Object.keys(answers)).toContain(String(answer.status));
          answers[answer.status as keyof typeof answers] += 1;
        }
      };
      const readers = Array.from({ length: READERS }, read);
      try {
        expect((await change()).status).toBe(200);
      } finally {
        isDone = true;
      }
      await Promise.all(readers);
    };
    await beside(() => merge(app, hidden.ehrId, plain.ehrId));
    await beside(() => unmerge(app, hidden.ehrId, plain.ehrId));
  }
  expect(answers[200]).toBeGreaterThan(0);
  expect(answers[404]).toBeGreaterThan(0);
}, 3_600_000);
