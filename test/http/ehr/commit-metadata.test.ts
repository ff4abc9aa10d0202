import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';
import {
  aComposition,
  dump,
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

const path = (tail = ''): string => `${V1}/ehr/${ehrId}/composition${tail}`;

async function versionOf(uid: string, type = 'versioned_composition'): Promise<Json> {
  const container = type === 'versioned_composition' ? `${type}/${versionedObjectUidOf(uid)}` : type;
  const response = await request(app).get(`${V1}/ehr/${ehrId}/${container}/version/${uid}`);
  expect(response.status).toBe(200);
  return response.body as Json;
}

describe('commit metadata headers', () => {
  it('are stored with the version and its CONTRIBUTION, and not echoed', async () => {
    const response = await request(app)
      .post(path())
      .set('openEHR-AUDIT_DETAILS.change_type', 'code_string="252"')
      .set('openEHR-AUDIT_DETAILS.description', 'value="corrected"')
      .set(
        'openehr-audit-details.committer',
        'name="Ada Moe", external_ref.id="a1", external_ref.namespace="demographic", external_ref.type="PERSON", identifiers.id="i1", identifiers.issuer="iss", identifiers.assigner="ass", identifiers.type="t"',
      )
      .set('openEHR-VERSION', 'lifecycle_state.code_string="553",signature="sig"')
      .send(aComposition());
    expect(response.status).toBe(201);
    expect(Object.keys(response.headers).filter((name) => /audit|openehr-version/.test(name))).toEqual([]);
    const version = await versionOf(versionUidOf(response));
    expect(version).toMatchObject({
      signature: 'sig',
      lifecycle_state: { value: 'incomplete', defining_code: { code_string: '553' } },
      commit_audit: {
        change_type: { value: 'synthesis', defining_code: { code_string: '252' } },
        description: { _type: 'DV_TEXT', value: 'corrected' },
        committer: {
          _type: 'PARTY_IDENTIFIED',
          name: 'Ada Moe',
          external_ref: {
            _type: 'PARTY_REF',
            id: { _type: 'GENERIC_ID', value: 'a1', scheme: 'id_scheme' },
            namespace: 'demographic',
            type: 'PERSON',
          },
          identifiers: [{ _type: 'DV_IDENTIFIER', id: 'i1', issuer: 'iss', assigner: 'ass', type: 't' }],
        },
      },
    });
    const uid = version['contribution'].id.value as string;
    const contribution = await request(app).get(`${V1}/ehr/${ehrId}/contribution/${uid}`);
    expect(contribution.body.audit).toEqual(version['commit_audit']);
  });

  it.each([
    ['249', 'creation'],
    ['252', 'synthesis'],
    ['253', 'unknown'],
  ])('allow %s with POST', async (code, rubric) => {
    for (const header of [`change_type.code_string="${code}"`, `change_type.value="${rubric}"`]) {
      const response = await request(app).post(path()).set('std-AUDIT_DETAILS', header).send(aComposition());
      expect(response.status).toBe(201);
      expect((await versionOf(versionUidOf(response)))['commit_audit'].change_type.value).toBe(rubric);
    }
  });

  it.each(['250', '251', '523', '666', '999'])('refuse %s with POST', async (code) => {
    const before = await dump();
    const header = `change_type.code_string="${code}"`;
    const response = await request(app)
      .post(path())
      .set('openEHR-AUDIT_DETAILS', header)
      .send(aComposition());
    expect(response.status).toBe(400);
    expect((await request(app).post(`${V1}/ehr`).set('openEHR-AUDIT_DETAILS', header)).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('allow 250 to 253 with PUT, and nothing else', async () => {
    let uid = await givenComposition(app, ehrId);
    const put = (code: string): request.Test =>
      request(app)
        .put(path(`/${versionedObjectUidOf(uid)}`))
        .set('If-Match', uid)
        .set('openEHR-AUDIT_DETAILS', `change_type.code_string="${code}"`)
        .send(aComposition());
    for (const code of ['249', '523', '666', '1']) expect((await put(code)).status).toBe(400);
    for (const code of ['250', '251', '252', '253']) {
      const response = await put(code);
      expect(response.status).toBe(200);
      uid = versionUidOf(response);
      expect((await versionOf(uid))['commit_audit'].change_type.defining_code.code_string).toBe(code);
    }
  });

  it('allow 523 only with DELETE', async () => {
    const uid = await givenComposition(app, ehrId);
    const remove = (header: string, value: string): request.Test =>
      request(app)
        .delete(path(`/${uid}`))
        .set(header, value);
    expect((await remove('openEHR-AUDIT_DETAILS', 'change_type.code_string="251"')).status).toBe(400);
    expect((await remove('openEHR-AUDIT_DETAILS', 'description.value="wrong patient"')).status).toBe(204);
    const version = await versionOf(uid.replace(/1$/, '2'));
    expect(version['commit_audit'].description.value).toBe('wrong patient');
  });

  it.each(['532', '553', '800', '801'])('take the lifecycle state %s', async (code) => {
    const header = `lifecycle_state.code_string="${code}"`;
    const response = await request(app).post(path()).set('openEHR-VERSION', header).send(aComposition());
    expect(response.status).toBe(201);
    const { lifecycle_state: state } = await versionOf(versionUidOf(response));
    expect(state.defining_code.code_string).toBe(code);
  });

  it('validate incomplete content with all lower limits as 0, but wrong data as ever', async () => {
    const without = aComposition();
    delete without['content'][0].data;
    const post = (body: Json, state: string): request.Test =>
      request(app).post(path()).set('openEHR-VERSION.lifecycle_state', state).send(body);
    expect((await post(without, 'complete')).status).toBe(422);
    expect((await post(without, 'incomplete')).status).toBe(201);
    const wrong = aComposition();
    wrong['territory'].code_string = 'XX';
    expect((await post(wrong, 'incomplete')).status).toBe(422);
    const rootless = aComposition();
    delete rootless['composer'];
    expect((await post(rootless, 'incomplete')).status).toBe(201);
    expect((await post(rootless, 'complete')).status).toBe(400);
  });

  it.each([
    ['openEHR-VERSION', 'lifecycle_state.code_string="523"'],
    ['openEHR-VERSION', 'lifecycle_state.code_string="999"'],
    ['openEHR-VERSION', 'lifecycle_state.code_string="532",lifecycle_state.value="incomplete"'],
    ['openEHR-VERSION', 'nonsense'],
    ['openEHR-AUDIT_DETAILS', 'colour="blue"'],
    ['openEHR-AUDIT_DETAILS', 'system_id=""'],
    ['openEHR-AUDIT_DETAILS', 'change_type.code_string="249",change_type.value="deleted"'],
    ['openEHR-AUDIT_DETAILS', 'committer.external_ref.id="a"'],
    [
      'openEHR-AUDIT_DETAILS',
      'committer.external_ref.id="a",committer.external_ref.namespace="1 2",committer.external_ref.type="PERSON"',
    ],
    ['openEHR-AUDIT_DETAILS', 'committer.name=""'],
  ])('refuse %s: %s', async (name, value) => {
    const uid = await givenComposition(app, ehrId);
    const before = await dump();
    const put = request(app)
      .put(path(`/${versionedObjectUidOf(uid)}`))
      .set('If-Match', uid);
    expect((await request(app).post(path()).set(name, value).send(aComposition())).status).toBe(400);
    expect((await put.set(name, value).send(aComposition())).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('refuse both spellings with different values, take them with the same', async () => {
    const post = (one: string, other: string): request.Test =>
      request(app)
        .post(path())
        .set('openEHR-VERSION', `signature="${one}"`)
        .set('std-VERSION', `signature="${other}"`)
        .send(aComposition());
    expect((await post('a', 'b')).status).toBe(400);
    expect((await post('a', 'a')).status).toBe(201);
  });

  it('work for EHR, EHR_STATUS and directory', async () => {
    const made = await request(app).post(`${V1}/ehr`).set('openEHR-AUDIT_DETAILS', 'description.value="why"');
    const id = versionUidOf(made);
    const base = `${V1}/ehr/${id}`;
    const first = await request(app).get(`${base}/versioned_ehr_status/version`);
    expect(first.body.commit_audit.description.value).toBe('why');
    const status = await request(app).get(`${base}/ehr_status`);
    await request(app)
      .put(`${base}/ehr_status`)
      .set('If-Match', versionUidOf(status))
      .set('openEHR-AUDIT_DETAILS', 'change_type.value="amendment"')
      .send(status.body as Json);
    const second = await request(app).get(`${base}/versioned_ehr_status/version`);
    expect(second.body.commit_audit.change_type.value).toBe('amendment');
    const folder = { _type: 'FOLDER', archetype_node_id: 'x', name: { _type: 'DV_TEXT', value: 'root' } };
    const directory = await request(app)
      .post(`${base}/directory`)
      .set('openEHR-AUDIT_DETAILS', 'change_type.code_string="251"')
      .send(folder);
    expect(directory.status).toBe(400);
  });

  it('name the user of the token where they name nobody', async () => {
    const secured = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    const made = await request(secured)
      .post(`${V1}/ehr`)
      .set('Authorization', bearer(['USER'], 'grace'));
    expect(made.status).toBe(201);
    const version = await request(app).get(`${V1}/ehr/${versionUidOf(made)}/versioned_ehr_status/version`);
    expect(version.body.commit_audit.committer).toEqual({ _type: 'PARTY_IDENTIFIED', name: 'grace' });
    expect((await request(secured).get(`${V1}/ehr/${versionUidOf(made)}`)).status).toBe(401);
  });
});
