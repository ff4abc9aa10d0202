import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { claimStorage, finishReindex, saveReindexPosition } from '../../../models/settings.js';
import { bodyFromXml } from '../../../openehr/format/extract-xml.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { everythingOn, testSettings } from '../../support/settings.js';
import { ADMIN, USER } from '../../support/tokens.js';
import { putPolicies } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
const open = testApp();
/** What `hidden` committed is hidden. */
const POLICIES = {
  all: 'permit (principal, action, resource);',
  hidden: `forbid (principal, action, resource is Version)
    when { resource has committer && resource.committer == "hidden" };`,
};

const get = (path: string, token = USER) => request(app).get(path).set('Authorization', token);
const by = (committer: string): Record<string, string> => ({
  'openEHR-AUDIT_DETAILS': `committer.name="${committer}"`,
});

async function givenCompositionBy(ehr: string, committer: string, headers = {}): Promise<string> {
  const sending = request(open).post(`${V1}/ehr/${ehr}/composition`);
  return versionUidOf(
    await sending
      .set({ ...by(committer), ...headers })
      .send(aComposition())
      .expect(201),
  );
}

async function givenNext(ehr: string, uid: string, committer = 'other'): Promise<string> {
  const sending = request(open).put(`${V1}/ehr/${ehr}/composition/${versionedObjectUidOf(uid)}`);
  return versionUidOf(
    await sending
      .set({ 'If-Match': `"${uid}"`, ...by(committer) })
      .send(aComposition())
      .expect(200),
  );
}

beforeAll(async () => {
  await givenTemplate(open);
  await putPolicies(app, POLICIES);
});

interface Item {
  readonly item: { readonly uid: { readonly value: string }; readonly versions: Json[] };
}

/** Uids of the versions of each object of an EXTRACT, by the object. */
function versionsOf(body: unknown): Record<string, string[]> {
  const { chapters } = body as { chapters: { items: Item[] }[] };
  const items = chapters.flatMap((chapter) => chapter.items.map(({ item }) => item));
  return Object.fromEntries(
    items.map(({ uid, versions }) => [uid.value, versions.map((version) => version['uid'].value as string)]),
  );
}

describe('an EXTRACT of objects with many versions, of which the first are hidden', () => {
  it('has the others under their own object, in JSON and XML', async () => {
    const ehr = await givenEhr(open);
    const status = versionUidOf(await request(open).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));
    const expected: Record<string, string[]> = { [versionedObjectUidOf(status)]: [status] };
    for (const hidden of [1, 2]) {
      const uids = [await givenCompositionBy(ehr, 'hidden')];
      while (uids.length < 22)
        uids.push(await givenNext(ehr, uids.at(-1) ?? '', uids.length < hidden ? 'hidden' : 'other'));
      expected[versionedObjectUidOf(uids[0] ?? '')] = uids.slice(hidden);
    }
    const path = `${V1}/ehr/${ehr}/extract?versions=all`;
    expect(versionsOf((await get(path).expect(200)).body)).toEqual(expected);
    const xml = await get(path).set('Accept', 'application/xml').expect(200);
    expect(versionsOf(bodyFromXml(xml.text, 'EXTRACT'))).toEqual(expected);
  });
});

describe('a CONTRIBUTION of which nothing is left', () => {
  const contributionOf = async (ehr: string, uid: string): Promise<string> => {
    const path = `${V1}/ehr/${ehr}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`;
    return ((await request(open).get(path).expect(200)).body as Json)['contribution'].id.value as string;
  };

  it('is there for who sees the EHR, and is not while what it made is hidden', async () => {
    const ehr = await givenEhr(open);
    const [uid, moved] = [await givenCompositionBy(ehr, 'hidden'), await givenCompositionBy(ehr, 'hidden')];
    const paths: string[] = [];
    for (const each of [uid, moved])
      paths.push(`${V1}/ehr/${ehr}/contribution/${await contributionOf(ehr, each)}`);
    const listed = async (token = USER): Promise<string[]> => {
      const { body } = await get('/rest/overview', token).expect(200);
      return (body as Json)['contributions'].map((each: Json) => each['uid'] as string);
    };
    for (const path of paths) await get(path).expect(404);
    await request(app)
      .delete(`/rest/admin/ehr/${ehr}/composition/${versionedObjectUidOf(uid)}`)
      .set('Authorization', ADMIN)
      .expect(200);
    const { body } = await request(open)
      .get(paths[0] ?? '')
      .expect(200);
    expect((await get(paths[0] ?? '').expect(200)).body).toEqual(body);
    expect(await listed()).toContain(paths[0]?.split('/').at(-1));
    expect(await listed()).not.toContain(paths[1]?.split('/').at(-1));
    await get(paths[1] ?? '').expect(404);
  });
});

describe('the overview', () => {
  it('tells administrators alone how many rows others were answered, and how far jobs are', async () => {
    // It keeps for a moment what it was asked before.
    const fresh = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
    await request(fresh)
      .post(`${V1}/query/aql`)
      .set('Authorization', ADMIN)
      .send({ q: 'SELECT e/ehr_id/value FROM EHR e LIMIT 7' })
      .expect(200);
    const { systemId, aql } = testSettings();
    await claimStorage(systemId, aql.leafIndex);
    await saveReindexPosition({ sv: 0, leafIndex: aql.leafIndex, afterEhr: 'z' });
    try {
      const overview = async (token: string): Promise<Json> =>
        (await request(fresh).get('/rest/overview').set('Authorization', token).expect(200)).body as Json;
      const [told, all] = [await overview(USER), await overview(ADMIN)];
      const query = { time: expect.any(String), aql: expect.any(String), ms: expect.any(Number) };
      expect(all['slowest_queries'][0]).toEqual({ ...query, rows: expect.any(Number) });
      expect(told['slowest_queries'][0]).toEqual(query);
      expect(all['jobs']).toContainEqual(
        expect.objectContaining({ kind: 'reindex', of: expect.any(Number) }),
      );
      expect(told['jobs']).toEqual([{ kind: 'reindex' }]);
    } finally {
      await finishReindex(aql.leafIndex);
    }
  });
});

describe('warnings of a query', () => {
  it('do not tell whether data that are hidden have an archetype, as they do without policies', async () => {
    const q = (archetype: string) => `SELECT o/uid/value FROM EHR e CONTAINS OBSERVATION o[${archetype}]`;
    const meta = async (server: typeof app, archetype: string): Promise<Json> =>
      (
        await request(server)
          .post(`${V1}/query/aql`)
          .set('Authorization', USER)
          .send({ q: q(archetype) })
          .expect(200)
      ).body.meta as Json;
    const unknown = 'openEHR-EHR-OBSERVATION.nobody_has_this.v1';
    expect((await meta(open, unknown))['warnings']).toEqual([
      expect.objectContaining({ code: 'unknown_archetype' }),
    ]);
    expect((await meta(app, unknown))['warnings']).toBeUndefined();
  });
});

describe('an older version that is hidden', () => {
  it.each(['532', '553'])(
    'tells nobody that its lifecycle state is %s, nor what follows it',
    async (state) => {
      const ehr = await givenEhr(open);
      const first = await givenCompositionBy(ehr, 'hidden', {
        'openEHR-VERSION': `lifecycle_state.code_string="${state}"`,
      });
      await givenNext(ehr, first);
      const id = versionedObjectUidOf(first);
      const following = async (uid: string, lifecycle: string, changeType: string) => {
        const { status, text } = await request(app)
          .put(`${V1}/ehr/${ehr}/composition/${id}`)
          .set({ Authorization: USER, 'If-Match': `"${uid}"` })
          .set('openEHR-VERSION', `lifecycle_state.code_string="${lifecycle}"`)
          .set('openEHR-AUDIT_DETAILS', `change_type.code_string="${changeType}"`)
          .send(aComposition());
        return { status, text: text.replaceAll(uid, 'uid').replaceAll(/[0-9a-f-]{36}/g, 'id') };
      };
      const absent = first.replace(/::1$/, '::7');
      for (const [lifecycle, changeType] of [
        ['800', '251'],
        ['801', '251'],
        ['532', '816'],
      ] as const) {
        const nothing = await following(absent, lifecycle, changeType);
        expect(nothing.status).toBe(412);
        expect(await following(first, lifecycle, changeType)).toEqual(nothing);
      }
    },
  );
});
