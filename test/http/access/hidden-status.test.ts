import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { merge, statusOf } from '../../support/merge-http.js';
import { V1, versionUidOf, type Json } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { ADMIN, bearer } from '../../support/tokens.js';
import { putPolicies } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
const open = testApp();
const ADA = bearer(['USER', 'ADMIN'], 'ada');
/** EHRs are seen by all, the EHR_STATUSes of `hidden` by one alone, and whose name space is `vip` nobody else changes. */
const POLICIES = {
  all: 'permit (principal, action, resource);',
  status: `forbid (principal, action, resource) when { principal.sub == "ada" && resource is Version &&
    resource.kind == "EHR_STATUS" && resource has committer && resource.committer == "hidden" };`,
  vip: `forbid (principal, action == Action::"update", resource is Ehr)
    when { principal.sub == "ada" && resource has namespace && resource.namespace == "vip" };`,
};

const get = (path: string, token = ADA) => request(app).get(path).set('Authorization', token);

/** `other_details` with an identifier. */
function insured(id: string): Json {
  const name = { _type: 'DV_TEXT', value: 'insurance' };
  const element = { _type: 'ELEMENT', archetype_node_id: 'at0002', name };
  const items = [{ ...element, value: { _type: 'DV_IDENTIFIER', id, issuer: 'AOK' } }];
  return { _type: 'ITEM_TREE', archetype_node_id: 'at0001', name, items };
}

async function givenPatient(subject: string, committer: string): Promise<string> {
  const made = await request(open)
    .post(`${V1}/ehr`)
    .set('openEHR-AUDIT_DETAILS', `committer.name="${committer}"`)
    .send(statusOf(subject, { other_details: insured('national-1') }))
    .expect(201);
  return versionUidOf(made);
}

async function found(identifier: string, token = ADA): Promise<Json[]> {
  const { body } = await get(`/rest/ehrs?identifier=${identifier}`, token).expect(200);
  return (body as { ehrs: Json[] }).ehrs;
}

beforeAll(async () => {
  await putPolicies(app, POLICIES);
});

describe('an EHR whose EHR_STATUS is hidden', () => {
  it('is found by its id alone, and lists tell nothing that the EHR_STATUS says', async () => {
    const [hidden, seen] = [await givenPatient('H-1', 'hidden'), await givenPatient('S-1', 'other')];
    const bare = { ehr_id: hidden, time_created: expect.any(String) };
    expect(await found(hidden)).toEqual([bare]);
    expect(await found('H-1')).toEqual([]);
    expect((await found('national-1')).map(({ ehr_id: ehrId }) => ehrId)).toEqual([seen]);
    expect(await found('H-1', ADMIN)).toMatchObject([{ ehr_id: hidden, is_queryable: true }]);
    expect(await found('national-1', ADMIN)).toHaveLength(2);
    for (const ehr of [hidden, seen])
      await request(app).put(`/rest/favourite/${ehr}`).set('Authorization', ADA).expect(204);
    const favourites = (await get('/rest/favourite').expect(200)).body as Json[];
    expect(favourites.find(({ ehr_id: ehrId }) => ehrId === hidden)).toEqual({
      ...bare,
      since: expect.any(String),
    });
    expect(favourites.find(({ ehr_id: ehrId }) => ehrId === seen)).toMatchObject({ subject: { id: 'S-1' } });
    const listed = (await get('/rest/admin/ehr?ehr_fetch=100').expect(200)).body as { ehrs: Json[] };
    expect(listed.ehrs.find(({ ehr_id: ehrId }) => ehrId === hidden)).toEqual(bare);
    expect(listed.ehrs.find(({ ehr_id: ehrId }) => ehrId === seen)).toMatchObject({ is_modifiable: true });
  });

  it('is not found by its subject, nor what was merged into it', async () => {
    const [hidden, merged] = [await givenPatient('H-2', 'hidden'), await givenPatient('M-2', 'other')];
    const ofSubject = (subject: string, token = ADA) =>
      get(`${V1}/ehr?subject_id=${subject}&subject_namespace=hospital`, token);
    await ofSubject('M-2').expect(200);
    await merge(app, merged, hidden).expect(200);
    const nobody = await ofSubject('nobody').expect(404);
    for (const subject of ['H-2', 'M-2']) {
      const refused = await ofSubject(subject).expect(404);
      expect([(refused.body as Json).message, refused.headers['link']]).toEqual([
        (nobody.body as Json).message,
        undefined,
      ]);
    }
    await ofSubject('H-2', ADMIN).expect(200);
    await get(`${V1}/ehr/${hidden}`).expect(200);
  });

  it('leaves room for those that are seen, however many share an identifier', async () => {
    for (let more = 0; more < 101; more++) await givenPatient(`many-${more}`, 'hidden');
    const seen = await givenPatient('last', 'other');
    expect((await found('national-1')).map(({ ehr_id: ehrId }) => ehrId)).toContain(seen);
    const { body } = await get('/rest/ehrs?identifier=national-1').expect(200);
    expect(body).not.toHaveProperty('truncated');
  });
});

describe('an EHR that a policy knows by the name space of its subject', () => {
  /** An EHR_STATUS with a name space. */
  function named(subject: string, namespace: string): Json {
    const status = statusOf(subject);
    const { subject: self } = status;
    return { ...status, subject: { ...self, external_ref: { ...self.external_ref, namespace } } };
  }
  const made = async (subject: string, namespace: string): Promise<string> =>
    versionUidOf(await request(open).post(`${V1}/ehr`).send(named(subject, namespace)).expect(201));
  const statusUid = async (ehr: string): Promise<string> =>
    versionUidOf(await get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));

  it('gets another one from who may change the EHR as it is and as it will be', async () => {
    const [vip, plain] = [await made('V-1', 'vip'), await made('P-1', 'ward')];
    const put = async (ehr: string, body: Json, token = ADA) =>
      request(app)
        .put(`${V1}/ehr/${ehr}/ehr_status`)
        .set({ Authorization: token, 'If-Match': `"${await statusUid(ehr)}"` })
        .send(body);
    const contribute = async (ehr: string, body: Json) =>
      request(app)
        .post(`${V1}/ehr/${ehr}/contribution`)
        .set('Authorization', ADA)
        .send({
          versions: [
            {
              commit_audit: {
                change_type: { terminology_id: { value: 'openehr' }, code_string: '251' },
              },
              preceding_version_uid: { value: await statusUid(ehr) },
              data: body,
            },
          ],
        });
    const ways = [
      await put(vip, named('V-1', 'ward')),
      await put(vip, { ...named('V-1', 'ward'), subject: { _type: 'PARTY_SELF' } }),
      await put(plain, named('P-1', 'vip')),
      await contribute(vip, named('V-1', 'ward')),
    ];
    expect(ways.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    // What says nothing else of the EHR needs no more than before.
    expect((await put(vip, named('V-2', 'vip'))).status).toBe(200);
    expect((await put(plain, named('P-1', 'other-ward'))).status).toBe(200);
    expect((await contribute(plain, named('P-1', 'ward'))).status).toBe(201);
    expect((await put(vip, named('V-1', 'ward'), ADMIN)).status).toBe(200);
  });
});
