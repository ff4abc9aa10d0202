import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import {
  folder,
  givenDirectory,
  givenTag,
  givenUpdate,
  merge,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/* A store that was made by another system and restored here: docs/decisions/0049-kept-as-it-was-made.md, law 5. */

useDatabase();
const there = testApp({ systemId: 'old.system' });
const app = testApp(WITH_ADMIN);
let ehrId = '';
let id = '';
let between = '';
const uidOf = (version: number, system = 'old.system'): string => `${id}::${system}::${version}`;

/** Stands for `id`, which is made later. */
const ID = '00000000-0000-4000-8000-00000000000a';

/** An EHR with a COMPOSITION in two versions, a directory and another EHR. */
beforeAll(async () => {
  await emptied('old.system');
  await givenTemplate(there);
  ehrId = await givenEhr(there, statusOf('p1'));
  await givenDirectory(there, ehrId, folder('root'));
  const first = await givenComposition(there, ehrId);
  [id = ''] = first.split('::');
  await new Promise((resolve) => setTimeout(resolve, 5));
  between = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await givenUpdate(there, ehrId, first, aComposition());
  const lines = await exported();
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
});

afterEach(async () => {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

const get = (path: string): request.Test => request(app).get(`${V1}/ehr/${ehrId}${path}`);
const container = (): string => `/versioned_composition/${id}`;

describe('a version of another system', () => {
  it('is read by its uid, by time and in the history', async () => {
    expect((await get(`/composition/${id}`)).headers.etag).toBe(`"${uidOf(2)}"`);
    expect((await get(`/composition/${uidOf(1)}`)).body).toMatchObject({ uid: { value: uidOf(1) } });
    expect((await get(`/composition/${uidOf(1, 'local.cdr')}`)).status).toBe(404);
    const at = await get(`${container()}/version?version_at_time=${between}`);
    expect(at.body).toMatchObject({ uid: { value: uidOf(1) }, commit_audit: { system_id: 'old.system' } });
    const { body } = await get(`${container()}/revision_history`);
    expect((body as { items: Json[] }).items.map(({ version_id }) => version_id)).toMatchObject([
      { value: uidOf(1) },
      { value: uidOf(2) },
    ]);
    expect((await get('')).body).toMatchObject({ system_id: { value: 'old.system' } });
  });

  it('is found by AQL, now and as of a time', async () => {
    const uids = async (further: object = {}): Promise<unknown> => {
      const q = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';
      return (
        await request(app)
          .post(`${V1}/query/aql`)
          .send({ q, ...further })
      ).body.rows as unknown;
    };
    expect(await uids()).toEqual([[uidOf(2)]]);
    expect(await uids({ as_of: between })).toEqual([[uidOf(1)]]);
  });

  it.each<[string, number | null]>([
    [`c/uid/value = '${ID}::old.system::2'`, 1],
    [`c/uid/value = '${ID}::old.system::1'`, 0],
    // The same number of this system.
    [`c/uid/value = '${ID}::local.cdr::2'`, 0],
    [`c/uid/value = '${ID}::::2'`, 0],
    [`c/uid/value = '${ID}'`, 1],
    [`c/uid/value != '${ID}::old.system::2'`, 0],
    [`c/uid/value < '${ID}::old.system::3'`, 1],
    [`c/uid/value matches {'${ID}::old.system::2', '${ID}::local.cdr::1'}`, 1],
    [`c/uid/value = '${ID}::OLD.system::2'`, null],
    [`c/uid/value = '${ID}::no.system::2'`, null],
  ])('is compared with the uid of a version: %s', async (where, rows) => {
    const ask = (select: string): request.Test => {
      const q = `SELECT ${select} FROM EHR e CONTAINS COMPOSITION c WHERE ${where.replaceAll(ID, id)}`;
      return request(app).post(`${V1}/query/aql`).send({ q });
    };
    // By a pipeline, and by the evaluator.
    const [found, grouped] = [await ask('c/uid/value'), await ask('COUNT(DISTINCT c)')];
    expect([found.status, grouped.status]).toEqual(rows === null ? [400, 400] : [200, 200]);
    if (rows === null) return;
    expect((found.body as { rows: Json[] }).rows).toHaveLength(rows);
    expect((grouped.body as { rows: Json[] }).rows).toEqual([[rows]]);
  });

  it('is found by the predicate of a class', async () => {
    const rows = async (from: string): Promise<unknown> => {
      const q = `SELECT c/uid/value FROM EHR e CONTAINS ${from}`;
      return (await request(app).post(`${V1}/query/aql`).send({ q })).body.rows as unknown;
    };
    expect(await rows(`COMPOSITION c[uid/value='${uidOf(2)}']`)).toEqual([[uidOf(2)]]);
    expect(await rows(`VERSION v[uid/value='${uidOf(2)}'] CONTAINS COMPOSITION c`)).toEqual([[uidOf(2)]]);
    expect(await rows(`VERSION v[uid/value='${uidOf(2, 'local.cdr')}'] CONTAINS COMPOSITION c`)).toEqual([]);
  });

  it('is attested, whether it is the latest or not, and only under its own uid', async () => {
    const attest = (uid: string): request.Test =>
      request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(uid));
    expect((await attest(uidOf(1))).status).toBe(201);
    expect((await attest(uidOf(2))).status).toBe(201);
    expect((await attest(uidOf(1, 'local.cdr'))).status).toBe(404);
    expect((await attest(uidOf(3))).status).toBe(404);
    expect((await get(`${container()}/version/${uidOf(1)}`)).body).toMatchObject({
      attestations: [{ system_id: 'local.cdr' }],
    });
  });

  it('is tagged', async () => {
    await givenTag(app, { ehrId, type: 'composition', uid: uidOf(1) }, 'k');
    expect(
      (await request(app).get(`/rest/experimental/tags/ehr/${ehrId}/composition/${uidOf(1)}/item_tag`)).body,
    ).toHaveLength(1);
  });

  it('is followed by one of this system, with the number after it', async () => {
    const put = (ifMatch: string): request.Test =>
      request(app)
        .put(`${V1}/ehr/${ehrId}/composition/${id}`)
        .set('If-Match', `"${ifMatch}"`)
        .set('Prefer', 'return=representation')
        .send(aComposition());
    expect((await put(uidOf(1))).status).toBe(412);
    expect((await put(uidOf(2, 'local.cdr'))).status).toBe(412);
    const { status, headers } = await put(uidOf(2));
    expect([status, headers.etag]).toEqual([200, `"${uidOf(3, 'local.cdr')}"`]);
    expect((await get(`${container()}/version/${uidOf(3, 'local.cdr')}`)).body).toMatchObject({
      preceding_version_uid: { value: uidOf(2) },
    });
  });

  it('is tagged once one of this system follows it, and named as it is', async () => {
    const tags = (uid: string): string => `${V1}/ehr/${ehrId}/composition/${uid}/tags`;
    const targets = async (path: string): Promise<unknown[]> =>
      ((await request(app).get(path)).body as Json[]).map(({ target }) => target.value as unknown);
    const all = [uidOf(1), uidOf(2), uidOf(3, 'local.cdr')];
    for (const uid of all) {
      const put = request(app).put(tags(uid)).set('Prefer', 'return=representation');
      const { status, body } = await put.send([{ key: 'followed' }]);
      expect([uid, status, body[0]?.target]).toEqual([uid, 200, { _type: 'OBJECT_VERSION_ID', value: uid }]);
      expect(await targets(tags(uid))).toEqual([uid]);
    }
    for (const uid of [uidOf(1, 'local.cdr'), uidOf(3), uidOf(4, 'local.cdr')])
      expect([
        uid,
        (
          await request(app)
            .put(tags(uid))
            .send([{ key: 'k' }])
        ).status,
      ]).toEqual([uid, 404]);
    expect((await targets(`${V1}/ehr/${ehrId}/tags?tag_key=followed`)).sort()).toEqual(all.sort());
  });

  it('goes with its EHR through a merge and back', async () => {
    const other = await givenEhr(app);
    const further = { folder_merge: 'COPY' };
    const { text, status } = await merge(app, ehrId, other, further);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    expect((await request(app).get(`${V1}/ehr/${other}/composition/${uidOf(1)}`)).status).toBe(200);
    const back = await unmerge(app, ehrId, other);
    expect([back.status, back.status === 200 ? '' : back.text]).toEqual([200, '']);
    expect((await get(`/composition/${uidOf(1)}`)).status).toBe(200);
  });

  it('is deleted under the uid of the latest version alone', async () => {
    const remove = (uid: string): request.Test =>
      request(app).delete(`${V1}/ehr/${ehrId}/composition/${uid}`);
    expect((await remove(uidOf(2))).status).toBe(409);
    expect((await remove(uidOf(2, 'local.cdr'))).status).toBe(404);
    expect((await remove(uidOf(3, 'local.cdr'))).status).toBe(204);
  });
});
