import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import type { JsonObject } from '../../../openehr/base/json.js';
import { toXml } from '../../../openehr/format/canonical-xml.js';
import { readRm } from '../../../openehr/rm/read.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

const app = testApp();
const closed = testApp({ ...WITH_ADMIN, auth: 'jwt' });
useDatabase();
let ehrId: string;
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const contributions = () => `${V1}/ehr/${ehrId}/contribution`;
const post = (body: Json) =>
  request(app).post(contributions()).set('Prefer', 'return=representation,resolve_refs').send(body);
const coded = (value: string, code_string: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: { terminology_id: { value: 'openehr' }, code_string },
});
const TEXT_ID = { terminology_id: 'openehr', code_string: '249' };
const CREATION = coded('creation', '249');
const version = (audit: Json, more: Json = {}): Json => ({
  commit_audit: audit,
  data: aComposition(),
  ...more,
});

describe('a CONTRIBUTION in the words of', () => {
  it.each<[string, Json]>([
    [
      "EHRbase's SDK",
      {
        _type: 'CONTRIBUTION_CREATE_DTO',
        audit: { _type: 'AUDIT_DETAILS', change_type: CREATION },
        versions: [
          {
            _type: 'ORIGINAL_VERSION',
            branch: false,
            ...version({ _type: 'AUDIT_DETAILS', change_type: CREATION }),
          },
        ],
      },
    ],
    [
      'pyehr',
      {
        _type: 'UPDATE_CONTRIBUTION',
        audit: { _type: 'UPDATE_AUDIT', change_type: CREATION },
        versions: [
          {
            _type: 'UPDATE_VERSION',
            lifecycle_state: coded('complete', '532'),
            ...version({ _type: 'UPDATE_AUDIT', change_type: CREATION }),
          },
        ],
      },
    ],
    [
      'a client of the official document: terminology as text',
      {
        _type: 'NEW_CONTRIBUTION',
        versions: [
          version({ _type: 'UPDATE_AUDIT', change_type: { value: 'creation', defining_code: TEXT_ID } }),
        ],
      },
    ],
    [
      'a client of the official document: TERMINOLOGY_CODE',
      {
        versions: [
          version(
            { change_type: { _type: 'TERMINOLOGY_CODE', uri: 'http://openehr.org/id/249', ...TEXT_ID } },
            { lifecycle_state: { ...TEXT_ID, code_string: '532' } },
          ),
        ],
      },
    ],
    [
      'a client that writes CODE_PHRASE',
      {
        versions: [
          version({
            change_type: { _type: 'CODE_PHRASE', terminology_id: { value: 'openehr' }, code_string: '249' },
          }),
        ],
      },
    ],
    [
      'a client with its own name of an attestation',
      {
        versions: [
          version(
            { change_type: CREATION },
            {
              attestations: [
                {
                  _type: 'UPDATE_ATTESTATION',
                  reason: { _type: 'DV_TEXT', value: 'seen' },
                  is_pending: false,
                },
              ],
            },
          ),
        ],
      },
    ],
  ])('%s is committed in those of the reference model', async (_name, body) => {
    const response = await post(body);
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({
      _type: 'CONTRIBUTION',
      audit: { _type: 'AUDIT_DETAILS', change_type: { value: 'creation' } },
      versions: [
        {
          _type: 'ORIGINAL_VERSION',
          lifecycle_state: { value: 'complete', defining_code: { code_string: '532' } },
          commit_audit: {
            _type: 'AUDIT_DETAILS',
            change_type: {
              value: 'creation',
              defining_code: {
                terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
                code_string: '249',
              },
            },
          },
        },
      ],
    });
    expect(response.body.versions[0].branch).toBeUndefined();
  });

  it.each<[string, Json]>([
    ['an unknown class', { _type: 'CONTRIBUTION_DTO', versions: [version({ change_type: CREATION })] }],
    [
      'an unknown class of a version',
      { versions: [{ _type: 'COPIED_VERSION', ...version({ change_type: CREATION }) }] },
    ],
    ['a branch where no VERSION is', { branch: false, versions: [version({ change_type: CREATION })] }],
    [
      'a code of another terminology',
      { versions: [version({ change_type: { ...TEXT_ID, terminology_id: 'local' } })] },
    ],
  ])('nobody is refused: %s', async (_name, body) => {
    const before = await dump();
    expect((await post(body)).status).toBe(400);
    expect(await dump()).toBe(before);
  });
});

describe('a commit_audit that is an ATTESTATION', () => {
  const attested = {
    _type: 'ATTESTATION',
    change_type: CREATION,
    reason: coded('signed', '240'),
    is_pending: true,
    proof: 'abc',
    attested_view: {
      _type: 'DV_MULTIMEDIA',
      media_type: {
        _type: 'CODE_PHRASE',
        terminology_id: { _type: 'TERMINOLOGY_ID', value: 'IANA_media-types' },
        code_string: 'image/png',
      },
      size: 3,
      data: 'AAEC',
    },
    items: [{ _type: 'DV_EHR_URI', value: 'ehr://x/y' }],
  };

  it('is kept with all its members, in JSON, XML, AQL and the history', async () => {
    const response = await post({ versions: [version(attested)] });
    expect(response.status).toBe(201);
    const { commit_audit: audit, uid } = response.body.versions[0] as {
      commit_audit: Json;
      uid: { value: string };
    };
    expect(audit).toMatchObject({ ...attested, system_id: 'local.cdr' });
    const [container] = uid.value.split('::');
    const versioned = `${V1}/ehr/${ehrId}/versioned_composition/${container}`;
    const xml = await request(app).get(`${versioned}/version/${uid.value}`).set('Accept', 'application/xml');
    expect(xml.text).toMatch(/<commit_audit xsi:type="ATTESTATION">.*<is_pending>true<\/is_pending>/s);
    const history = await request(app).get(`${versioned}/revision_history`);
    expect(history.body.items[0].audits[0]).toMatchObject({ _type: 'ATTESTATION', proof: 'abc' });
    const q = `SELECT v/commit_audit AS a FROM EHR e CONTAINS VERSION v[LATEST_VERSION] CONTAINS COMPOSITION c WHERE v/uid/value = '${uid.value}'`;
    const rows = await request(app).post(`${V1}/query/aql`).send({ q });
    expect(rows.body.rows[0][0]).toMatchObject({ _type: 'ATTESTATION', is_pending: true });
  });

  it('comes in XML as well', async () => {
    const { object: audit } = readRm({ ...attested, committer: { _type: 'PARTY_SELF' } }, 'ATTESTATION');
    const contribution = {
      _type: 'CONTRIBUTION',
      versions: [version(audit as Json, { _type: 'ORIGINAL_VERSION' })],
    };
    const posted = await request(app)
      .post(contributions())
      .set({ 'Content-Type': 'application/xml', Accept: 'application/json' })
      .set('Prefer', 'return=representation, resolve_refs')
      .send(toXml(contribution as JsonObject, 'contribution'));
    expect([posted.status, posted.body.message]).toEqual([201, undefined]);
    expect(posted.body.versions[0].commit_audit).toMatchObject({ ...attested, system_id: 'local.cdr' });
  });

  it('is refused without what an ATTESTATION needs', async () => {
    const before = await dump();
    const response = await post({ versions: [version({ _type: 'ATTESTATION', change_type: CREATION })] });
    expect(response.status).toBe(400);
    expect(String(response.body.validationErrors)).toContain('/versions[0]/commit_audit');
    expect(await dump()).toBe(before);
  });
});

describe('what a CONTRIBUTION says and does not mean', () => {
  const deletion = (uid: string, more: Json = {}): Json => ({
    commit_audit: { change_type: coded('deleted', '523') },
    preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: uid },
    ...more,
  });

  it.each([
    ['523', undefined],
    ['533', undefined],
    ['532', 'lifecycle_state 532'],
    ['999', 'lifecycle_state 999'],
  ])(
    'a deletion with the lifecycle state %s is one, with a warning of what is ignored',
    async (code, warned) => {
      const uid = await givenComposition(app, ehrId);
      const lifecycle_state = { terminology_id: { value: 'openehr' }, code_string: code };
      const response = await post({ versions: [deletion(uid, { lifecycle_state })] });
      expect(response.status).toBe(201);
      expect(response.body.versions[0].lifecycle_state.defining_code.code_string).toBe('523');
      if (warned === undefined) expect(response.headers['warning']).toBeUndefined();
      else expect(response.headers['warning']).toContain(warned);
    },
  );

  it('a deletion with data is refused: it would be lost unseen', async () => {
    const uid = await givenComposition(app, ehrId);
    const before = await dump();
    const response = await post({ versions: [deletion(uid, { data: aComposition() })] });
    expect([response.status, response.body.message]).toEqual([
      400,
      'versions[0]: a deletion (523) has no data',
    ]);
    expect(await dump()).toBe(before);
  });

  it('an EHR_STATUS is neither created nor deleted: 409', async () => {
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    const before = await dump();
    expect((await post({ versions: [deletion(versionUidOf(status))] })).status).toBe(409);
    const created = await post({
      versions: [version({ change_type: CREATION }, { data: status.body as Json })],
    });
    expect(created.status).toBe(409);
    expect(await dump()).toBe(before);
  });

  it('inputs of a merge that nobody here has are taken from administrators only', async () => {
    const uid = await givenComposition(app, ehrId);
    const inputs = (...values: string[]) => ({
      versions: [
        version(
          { change_type: CREATION },
          { other_input_version_uids: values.map((value) => ({ _type: 'OBJECT_VERSION_ID', value })) },
        ),
      ],
    });
    const foreign = '3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01::other.cdr::3';
    const before = await dump();
    const refused = await post(inputs(uid, foreign));
    expect(refused.status).toBe(400);
    expect(refused.body.validationErrors).toEqual([
      `/versions[0]/other_input_version_uids[1]: No version here has the uid ${foreign}`,
    ]);
    expect(await dump()).toBe(before);
    expect((await post(inputs(uid))).status).toBe(201);
    const byAdmin = await request(closed)
      .post(contributions())
      .set('Authorization', ADMIN)
      .send(inputs(uid, foreign));
    expect(byAdmin.status).toBe(201);
  });

  it('the uid of another object in an EHR_STATUS is ignored with a warning', async () => {
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    const other = '3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01::local.cdr::1';
    const data = { ...(status.body as Json), uid: { _type: 'OBJECT_VERSION_ID', value: other } };
    const preceding = { _type: 'OBJECT_VERSION_ID', value: versionUidOf(status) };
    const response = await post({
      versions: [
        version({ change_type: coded('modification', '251') }, { data, preceding_version_uid: preceding }),
      ],
    });
    expect(response.status).toBe(201);
    expect(response.headers['warning']).toContain(other);
  });
});
