import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { enforcedPolicies } from '../../../src/middleware/viewing.js';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp } from '../../support/app.js';
import { STATUS } from '../../support/api/world.js';
import { useDatabase } from '../../support/database.js';
import { merge } from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, USER } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const settings = everythingOn({ auth: 'jwt', accessMode: 'enforce' });
const app = testApp(settings);
const open = testApp();
const POLICIES = '/rest/admin/policies';
const EVERYBODY = 'permit (principal, action, resource);';

const policy = (id: string, text: string) => putPolicy(app, id, text);

/** Token of a user with further claims. */
function tokenWith(claims: object): string {
  const token = jwt.sign({ roles: ['USER'], ...claims }, TEST_JWT_SECRET, { subject: 'ada', expiresIn: 600 });
  return `Bearer ${token}`;
}

const get = (path: string, token = USER) => request(app).get(`${V1}${path}`).set('Authorization', token);
const post = (path: string, body: object, token = USER) =>
  request(app).post(`${V1}${path}`).set('Authorization', token).send(body);
const rowsOf = async (q: string, token = USER): Promise<unknown[]> =>
  ((await post('/query/aql', { q }, token).expect(200)).body as { rows: unknown[] }).rows;

const change_type = (value: string, code: string) => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    code_string: code,
  },
});
/** Of a CONTRIBUTION that creates a COMPOSITION of somebody. */
const version = (composer: string) => ({
  _type: 'ORIGINAL_VERSION',
  commit_audit: { _type: 'AUDIT_DETAILS', change_type: change_type('creation', '249') },
  data: { ...aComposition(), composer: { _type: 'PARTY_IDENTIFIED', name: composer } },
});

beforeAll(() => givenTemplate(open));

afterEach(async () => {
  const listed = await request(app).get(POLICIES).set('Authorization', ADMIN);
  for (const { id } of (listed.body as Json)['policies'])
    await request(app).delete(`${POLICIES}/${id}`).set('Authorization', ADMIN).expect(204);
});

describe('enforced policies', () => {
  it('restrict nothing as long as there are none, and hold for the request after the one that stores them', async () => {
    const ehr = await givenEhr(open);
    await get(`/ehr/${ehr}`).expect(200);
    await policy('nobody', 'permit (principal, action, resource) when { principal.sub == "nobody" };').expect(
      200,
    );
    const refused = await get(`/ehr/${ehr}`).expect(404);
    expect((refused.body as Json).message).toBe(`EHR with id ${ehr} does not exist`);
    await policy('nobody', EVERYBODY).expect(200);
    await get(`/ehr/${ehr}`).expect(200);
  });

  it('let patients see their own, by the claim of their token, also when it was merged into another one', async () => {
    const [own, other, former] = [await givenEhr(open), await givenEhr(open), await givenEhr(open)];
    await givenComposition(open, own);
    await givenComposition(open, other);
    await policy(
      'own',
      'permit (principal, action, resource) when { principal has ehr && resource.ehr_id == principal.ehr };',
    );
    const token = tokenWith({ ownEhrId: own });
    await get(`/ehr/${own}`, token).expect(200);
    await get(`/ehr/${other}`, token).expect(404);
    await get(`/ehr/${own}`, USER).expect(404);
    const ofEhrs = 'SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c';
    expect(await rowsOf(ofEhrs, token)).toEqual([[own]]);
    await merge(app, former, own).expect(200);
    expect(await rowsOf(ofEhrs, tokenWith({ ownEhrId: former }))).toEqual([[own]]);
    // Where it went is for him to know, and for nobody else.
    expect((await get(`/ehr/${former}`, token).expect(404)).headers['link']).toContain(own);
    const unknown = await get(`/ehr/${former}`, USER).expect(404);
    expect([unknown.headers['link'], unknown.text.includes(own)]).toEqual([undefined, false]);
  });

  it('ask for organisation, purpose and scopes of the token', async () => {
    const ehr = await givenEhr(open);
    await policy(
      'care',
      `permit (principal, action, resource) when { principal has organisation && principal.organisation == "ward 3" &&
        principal has purpose && principal.purpose == "TREAT" && principal.scopes.contains("user/composition-*.r") };`,
    ).expect(200);
    const claims = {
      organisation: 'ward 3',
      purpose_of_use: ['TREAT'],
      scope: 'openid user/composition-*.r',
    };
    await get(`/ehr/${ehr}`, tokenWith(claims)).expect(200);
    for (const [name, value] of [
      ['organisation', 'ward 4'],
      ['purpose_of_use', 'HRESCH'],
      ['scope', 'openid'],
    ] as const)
      await get(`/ehr/${ehr}`, tokenWith({ ...claims, [name]: value })).expect(404);
  });

  it.each([
    ['organisation', { organisation: ['one', 'other'] }],
    ['organisation', { organisation: { name: 'one' } }],
    ['ownEhrId', { ownEhrId: 'no EHR id at all' }],
    ['ehrId', { ehrId: 'no EHR id at all, since blanks are none' }],
    ['purpose_of_use', { purpose_of_use: 5 }],
    ['purpose_of_use', { purpose_of_use: 'hresch' }],
    ['purpose_of_use', { purpose_of_use: 'RESEARCH' }],
    ['ehrId', { ehrId: '00000000-0000-4000-8000-00000000abcd' }],
  ])('refuse a token whose claim %s says nothing or two things', async (name, claims) => {
    await policy('everybody', EVERYBODY).expect(200);
    const refused = await get('/ehr/00000000-0000-4000-8000-000000000000', tokenWith(claims)).expect(401);
    expect((refused.body as Json).message).toContain(`the claim ${name}`);
  });

  it('judge each version by itself: a history has those that are seen', async () => {
    const ehr = await givenEhr(open);
    const first = await givenComposition(open, ehr);
    const id = versionedObjectUidOf(first);
    const next = versionUidOf(
      await request(open)
        .put(`${V1}/ehr/${ehr}/composition/${id}`)
        .set({ 'If-Match': `"${first}"`, 'openEHR-AUDIT_DETAILS': 'committer.name="hidden"' })
        .send(aComposition())
        .expect(200),
    );
    await policy('all', EVERYBODY).expect(200);
    await policy(
      'not',
      'forbid (principal, action, resource is Version) when { resource has committer && resource.committer == "hidden" };',
    ).expect(200);
    await get(`/ehr/${ehr}/composition/${first}`).expect(200);
    await get(`/ehr/${ehr}/composition/${next}`).expect(404);
    await get(`/ehr/${ehr}/composition/${id}`).expect(404);
    const history = await get(`/ehr/${ehr}/versioned_composition/${id}/revision_history`).expect(200);
    expect((history.body as Json)['items'].map((item: Json) => item['version_id'].value)).toEqual([first]);
    const extract = await get(`/ehr/${ehr}/extract?versions=all`).expect(200);
    expect([extract.text.includes(first), extract.text.includes(next)]).toEqual([true, false]);
    expect(
      await rowsOf(
        `SELECT v/uid/value FROM EHR e[ehr_id/value='${ehr}'] CONTAINS VERSION v [ALL_VERSIONS] CONTAINS COMPOSITION c`,
      ),
    ).toEqual([[first]]);
  });

  it('permit a write that cannot be read back, and answer its repetition', async () => {
    const ehr = await givenEhr(open);
    await policy('write', 'permit (principal, action == Action::"create", resource);').expect(200);
    const send = () => post(`/ehr/${ehr}/composition`, aComposition()).set('Idempotency-Key', `write-${ehr}`);
    const made = await send().expect(201);
    const uid = versionUidOf(made);
    await get(`/ehr/${ehr}/composition/${uid}`).expect(404);
    expect(versionUidOf(await send().expect(201))).toBe(uid);
    expect(await rowsOf('SELECT c/uid/value FROM COMPOSITION c')).toEqual([]);
    // What he may not do any more is not answered again either.
    await policy('write', 'permit (principal, action == Action::"delete", resource);').expect(200);
    await send().expect(404);
  });

  it('answer 403 to a change of what is seen and may not be changed, and nothing is stored', async () => {
    const ehr = await givenEhr(open);
    const uid = await givenComposition(open, ehr);
    const id = versionedObjectUidOf(uid);
    await policy('read', 'permit (principal, action == Action::"read", resource);').expect(200);
    const refused = await post(`/ehr/${ehr}/composition`, aComposition()).expect(403);
    expect((refused.body as Json).message).toBe('no policy of access permits you to create this');
    const send = (method: 'put' | 'delete', path: string) => {
      const sending = request(app)[method](`${V1}/ehr/${ehr}${path}`);
      return sending.set({ Authorization: USER, 'If-Match': `"${uid}"` });
    };
    await send('put', `/composition/${id}`).send(aComposition()).expect(403);
    await send('delete', `/composition/${uid}`).expect(403);
    await send('put', `/composition/${id}/tags`)
      .send([{ key: 'a', value: 'b' }])
      .expect(403);
    await request(app)
      .put(`${V1}/ehr/${ehr}/ehr_status`)
      .set({ Authorization: USER, 'If-Match': versionUidOf(await get(`/ehr/${ehr}/ehr_status`)) })
      .send(STATUS)
      .expect(403);
    await request(app).post(`${V1}/ehr`).set('Authorization', USER).send(STATUS).expect(403);
    const history = await get(`/ehr/${ehr}/versioned_composition/${id}/revision_history`).expect(200);
    expect((history.body as Json)['items']).toHaveLength(1);
  });

  it('judge each entry of a CONTRIBUTION, all or nothing', async () => {
    const ehr = await givenEhr(open);
    await policy('all', EVERYBODY).expect(200);
    await policy(
      'not',
      'forbid (principal, action == Action::"create", resource is Version) when { resource has composer && resource.composer == "wrong" };',
    ).expect(200);
    const commit = (...composers: string[]) =>
      post(`/ehr/${ehr}/contribution`, { _type: 'CONTRIBUTION', versions: composers.map(version) });
    const refused = await commit('right', 'wrong').expect(403);
    expect((refused.body as Json).message).toMatch(/^versions\[1\]: no policy/);
    await commit('right', 'right').expect(201);
    expect(await rowsOf(`SELECT COUNT(*) FROM EHR e[ehr_id/value='${ehr}'] CONTAINS COMPOSITION c`)).toEqual([
      [2],
    ]);
  });

  it('tell nobody by what a merge names that something hidden is there', async () => {
    const ehr = await givenEhr(open);
    const uid = await givenComposition(open, ehr);
    const naming = (input: string) => ({
      _type: 'CONTRIBUTION',
      versions: [
        {
          ...version('right'),
          other_input_version_uids: [{ _type: 'OBJECT_VERSION_ID', value: input }],
        },
      ],
    });
    const other = await givenEhr(open);
    await policy(
      'all',
      `permit (principal, action, resource) unless { resource.ehr_id == "${ehr}" };`,
    ).expect(200);
    const absent = uid.replace(/^[0-9a-f-]{36}/, '5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11');
    const [hidden, nothing] = [
      await post(`/ehr/${other}/contribution`, naming(uid)).expect(400),
      await post(`/ehr/${other}/contribution`, naming(absent)).expect(400),
    ];
    expect((hidden.body as Json).message.replace(uid, absent)).toBe((nothing.body as Json).message);
  });

  it('are not explained to who is narrowed by them', async () => {
    const ehr = await givenEhr(open);
    await policy(
      'all',
      `permit (principal, action, resource) unless { resource.ehr_id == "${ehr}" };`,
    ).expect(200);
    const explained = await post('/query/aql/explain', { q: 'SELECT e/ehr_id/value FROM EHR e' }).expect(200);
    expect(explained.text).not.toContain(ehr);
    expect(explained.body).toMatchObject({
      passes: expect.arrayContaining(['permit']),
      pipeline: [],
      stages: [],
    });
  });
});

describe('a server that enforces policies', () => {
  it('needs users', () => {
    expect(() => loadConfig({ ACCESS_MODE: 'enforce', AUTH: 'none' })).toThrow(
      'ACCESS_MODE=enforce needs users',
    );
  });

  it.each(['1.0.3', '1.1.0'] as const)(
    'judges in %s all that is about an EHR and no administration',
    (edition) => {
      const { operations } = everyOperation(everythingOn({ itsRest: edition }));
      const unjudged = operations.filter(({ discloses }) => discloses === 'nothing' || discloses === 'whole');
      const forAll = unjudged.filter(
        ({ access, adminWith }) => !['admin', 'audit', 'restore'].includes(access) && adminWith === undefined,
      );
      const open = forAll.filter(({ discloses, path }) => discloses === 'whole' || path.includes('ehr_id'));
      // These ask themselves whether it is an administrator, an auditor or the patient: test/http/access/{marks,access-report}.test.ts.
      expect(open.map(({ id }) => id)).toEqual(['marks_get', 'marks_put', 'ehr_access']);
    },
  );

  it('does not start with an operation that does not say what it discloses', () => {
    const silent = [{ id: 'tells' } as Operation];
    expect(() => enforcedPolicies(settings, silent)).toThrow(
      'the operation tells does not say what it discloses',
    );
  });

  it('does not answer what was not judged', async () => {
    await policy('everybody', EVERYBODY).expect(200);
    const operation = { id: 'tells', discloses: 'read' } as Operation;
    const ctx = { state: { matched: { operation, params: {} }, user: null }, status: 200 };
    const answered = enforcedPolicies(settings, [operation])(ctx as never, () => Promise.resolve());
    await expect(answered).rejects.toThrow('the operation tells was answered without a judgement');
  });
});
