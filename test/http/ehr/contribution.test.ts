import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
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

const UNKNOWN = '3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01';
const app = testApp();
useDatabase();
beforeAll(() => givenTemplate(app));

const RUBRICS: Record<string, string> = {
  '249': 'creation',
  '250': 'amendment',
  '251': 'modification',
  '252': 'synthesis',
  '253': 'unknown',
  '523': 'deleted',
  '666': 'attestation',
};
const path = (ehrId: string, tail = ''): string => `${V1}/ehr/${ehrId}/contribution${tail}`;

function aTerm(code: string, rubric = RUBRICS[code] ?? 'x'): Json {
  const terminology_id = { _type: 'TERMINOLOGY_ID', value: 'openehr' };
  return {
    _type: 'DV_CODED_TEXT',
    value: rubric,
    defining_code: { _type: 'CODE_PHRASE', terminology_id, code_string: code },
  };
}

function aVersion(change: string, more: Json = {}): Json {
  return {
    _type: 'ORIGINAL_VERSION',
    commit_audit: {
      _type: 'AUDIT_DETAILS',
      change_type: aTerm(change),
      committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Moe' },
    },
    ...more,
  };
}

const preceding = (value: string): Json => ({
  preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value },
});
const aFolder = (name: string): Json => ({
  _type: 'FOLDER',
  name: { _type: 'DV_TEXT', value: name },
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
});
const contribution = (...versions: Json[]): Json => ({ _type: 'CONTRIBUTION', versions });
const post = (ehrId: string, body: unknown): request.Test =>
  request(app)
    .post(path(ehrId))
    .send(body as object);
const nextOf = (uid: string): string => uid.replace(/\d+$/, (number) => String(Number(number) + 1));

async function statusOf(ehrId: string): Promise<{ uid: string; body: Json }> {
  const response = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
  return { uid: versionUidOf(response), body: response.body as Json };
}

describe('POST contribution', () => {
  it('commits creations, updates, deletions and attestations of all types together, in order', async () => {
    const ehrId = await givenEhr(app);
    const toUpdate = await givenComposition(app, ehrId);
    const toDelete = await givenComposition(app, ehrId);
    const status = await statusOf(ehrId);
    const fresh = '0a0a0a0a-0000-4000-8000-000000000001::local.cdr::1';
    const attestation = { reason: { _type: 'DV_TEXT', value: 'signed off' }, is_pending: false };
    const body = contribution(
      aVersion('249', { data: { ...aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value: fresh } } }),
      aVersion('251', { ...preceding(fresh), data: aComposition() }),
      aVersion('250', { ...preceding(toUpdate), data: aComposition() }),
      aVersion('523', preceding(toDelete)),
      aVersion('251', { ...preceding(status.uid), data: { ...status.body, is_queryable: false } }),
      aVersion('249', { data: aFolder('root') }),
      aVersion('666', { ...preceding(toUpdate), attestations: [attestation] }),
    );
    const response = await request(app).post(path(ehrId)).set('Prefer', 'return=representation').send(body);
    expect(response.status).toBe(201);
    const uid = response.body.uid.value as string;
    expect(response.headers.etag).toBe(`"${uid}"`);
    expect(response.headers.location).toMatch(new RegExp(`${path(ehrId)}/${uid}$`));
    expect(response.body._type).toBe('CONTRIBUTION');
    expect(response.body.versions.map((ref: Json) => [ref.id.value, ref.type, ref.namespace])).toEqual([
      [fresh, 'COMPOSITION', 'local'],
      [nextOf(fresh), 'COMPOSITION', 'local'],
      [nextOf(toUpdate), 'COMPOSITION', 'local'],
      [nextOf(toDelete), 'COMPOSITION', 'local'],
      [nextOf(status.uid), 'EHR_STATUS', 'local'],
      [expect.stringMatching(/::1$/), 'FOLDER', 'local'],
      [toUpdate, 'COMPOSITION', 'local'],
    ]);
    expect(response.body.audit).toMatchObject({
      system_id: 'local.cdr',
      change_type: { value: 'modification' },
      committer: { name: 'anonymous' },
    });
    expect((await request(app).get(path(ehrId, `/${uid}`))).body).toEqual(response.body);
    expect(
      (await request(app).get(`${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(toDelete)}`)).status,
    ).toBe(204);
    expect((await statusOf(ehrId)).body.is_queryable).toBe(false);
    expect((await request(app).get(`${V1}/ehr/${ehrId}/directory`)).body.name.value).toBe('root');
    const history = await request(app).get(
      `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(toUpdate)}/revision_history`,
    );
    expect(history.body.items[0].audits[1]).toMatchObject({
      _type: 'ATTESTATION',
      system_id: 'local.cdr',
      reason: { value: 'signed off' },
      is_pending: false,
    });
    const { aql, versions } = JSON.parse(await dump()) as Record<'aql' | 'versions', Json[]>;
    expect(aql.filter((doc) => doc.ehr === ehrId).map((doc) => doc.q)).not.toContain(true);
    const made = versions.filter((version) => version.contribution_uid === uid);
    const times = new Set(
      made.filter((version) => version._id !== nextOf(fresh)).map((version) => version.time_committed),
    );
    expect(times.size).toBe(1);
    const chain = versions.filter((version) => version.object_id === versionedObjectUidOf(fresh));
    expect(chain[0]!.time_committed < chain[1]!.time_committed).toBe(true);
  });

  it('gives whole versions with resolve_refs', async () => {
    const ehrId = await givenEhr(app);
    const response = await request(app)
      .post(path(ehrId))
      .set('Prefer', 'return=representation, resolve_refs')
      .send(contribution(aVersion('249', { data: aComposition() })));
    expect(response.headers['preference-applied']).toBe('return=representation, resolve_refs');
    expect(response.body.versions[0]).toMatchObject({
      _type: 'ORIGINAL_VERSION',
      data: { _type: 'COMPOSITION' },
      commit_audit: { committer: { name: 'Ada Moe' } },
    });
    const got = await request(app)
      .get(path(ehrId, `/${response.body.uid.value as string}`))
      .set('Prefer', 'resolve_refs');
    expect(got.body).toEqual(response.body);
  });

  it('takes uid, audit, signature, inputs and attestations as given', async () => {
    const ehrId = await givenEhr(app);
    const input = await givenComposition(app, ehrId);
    const body = {
      ...contribution(
        aVersion('249', {
          data: aComposition(),
          signature: 'abc',
          lifecycle_state: aTerm('553', 'incomplete'),
          other_input_version_uids: [{ _type: 'OBJECT_VERSION_ID', value: input }],
          attestations: [{ _type: 'ATTESTATION', reason: aTerm('240', 'signed'), is_pending: true }],
          contribution: { nonsense: true },
        }),
      ),
      uid: { _type: 'HIER_OBJECT_ID', value: 'C0FFEE00-1111-4222-8333-444455550004' },
      audit: {
        _type: 'AUDIT_DETAILS',
        system_id: 'local.cdr',
        time_committed: { _type: 'DV_DATE_TIME', value: '1999-01-01T00:00:00Z' },
        change_type: aTerm('249'),
        description: { _type: 'DV_TEXT', value: 'import' },
        committer: { _type: 'PARTY_IDENTIFIED', name: 'Grace' },
      },
    };
    const response = await request(app)
      .post(path(ehrId))
      .set('Prefer', 'return=representation,resolve_refs')
      .send(body);
    expect(response.status).toBe(201);
    expect(response.body.uid.value).toBe('c0ffee00-1111-4222-8333-444455550004');
    expect(response.body.audit).toMatchObject({
      description: { value: 'import' },
      committer: { name: 'Grace' },
    });
    expect(response.body.audit.time_committed.value).not.toMatch(/^1999/);
    expect(response.body.versions[0]).toMatchObject({
      signature: 'abc',
      lifecycle_state: { value: 'incomplete' },
      other_input_version_uids: [{ value: input }],
      attestations: [{ is_pending: true, committer: { name: 'Ada Moe' } }],
      contribution: { id: { value: 'c0ffee00-1111-4222-8333-444455550004' } },
    });
    const before = await dump();
    expect((await post(ehrId, body)).status).toBe(409);
    expect(await dump()).toBe(before);
  });

  it('takes headers as defaults of the audit', async () => {
    const ehrId = await givenEhr(app);
    const version = aVersion('249', { data: aComposition() });
    delete version['commit_audit'].committer;
    const response = await request(app)
      .post(path(ehrId))
      .set('Prefer', 'return=representation,resolve_refs')
      .set('openEHR-AUDIT_DETAILS', 'description.value="from header",committer.name="Header"')
      .send(contribution(version));
    expect(response.body.audit).toMatchObject({
      change_type: { value: 'creation' },
      description: { value: 'from header' },
      committer: { name: 'Header' },
    });
    expect(response.body.versions[0].commit_audit.committer.name).toBe('Header');
  });

  it('reads and writes XML', async () => {
    const ehrId = await givenEhr(app);
    const term = (name: string, code: string, value: string): string =>
      `<${name}><value>${value}</value><defining_code><terminology_id><value>openehr</value></terminology_id><code_string>${code}</code_string></defining_code></${name}>`;
    const xml = `<?xml version="1.0"?><contribution xmlns="http://schemas.openehr.org/v1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><versions xsi:type="ORIGINAL_VERSION"><commit_audit><committer xsi:type="PARTY_IDENTIFIED"><name>Ada</name></committer>${term('change_type', '249', 'creation')}</commit_audit><data xsi:type="FOLDER" archetype_node_id="openEHR-EHR-FOLDER.generic.v1"><name><value>root</value></name></data>${term('lifecycle_state', '532', 'complete')}</versions></contribution>`;
    const response = await request(app)
      .post(path(ehrId))
      .set('Content-Type', 'application/xml')
      .set('Accept', 'application/xml')
      .set('Prefer', 'return=representation')
      .send(xml);
    expect([response.status, response.text]).toEqual([201, expect.stringContaining('<contribution')]);
    const uid = versionUidOf(response);
    const resolved = await request(app)
      .get(path(ehrId, `/${uid}`))
      .set('Accept', 'application/xml')
      .set('Prefer', 'resolve_refs');
    expect(resolved.text).toContain('xsi:type="ORIGINAL_VERSION"');
    expect(resolved.text).toContain('xsi:type="FOLDER"');
  });

  it('is found for every simple write too', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId);
    const version = await request(app).get(
      `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`,
    );
    const response = await request(app).get(path(ehrId, `/${version.body.contribution.id.value as string}`));
    expect(response.status).toBe(200);
    expect(response.headers['last-modified']).toMatch(/GMT$/);
    expect(response.body.versions).toEqual([
      {
        _type: 'OBJECT_REF',
        id: { _type: 'OBJECT_VERSION_ID', value: uid },
        namespace: 'local',
        type: 'COMPOSITION',
      },
    ]);
    expect((await request(app).get(path(UNKNOWN, `/${UNKNOWN}`))).status).toBe(404);
    expect((await request(app).get(path(ehrId, `/${UNKNOWN}`))).status).toBe(404);
    expect((await request(app).get(path(await givenEhr(app), `/${versionUidOf(response)}`))).status).toBe(
      404,
    );
    expect((await request(app).get(path(ehrId, '/x'))).status).toBe(400);
    expect((await request(app).delete(path(ehrId, `/${UNKNOWN}`))).status).toBe(405);
  });
});

describe('a CONTRIBUTION that is refused', () => {
  const bad = (data: Json = {}): Json => ({ ...aComposition(), ...data });
  const audited = (audit: Json): Json => ({
    ...contribution(aVersion('249', { data: aComposition() })),
    audit,
  });
  const committed = (audit: Json): Json =>
    contribution({ ...aVersion('249', { data: aComposition() }), commit_audit: audit });

  it.each<[string, unknown, string]>([
    ['no versions', { _type: 'CONTRIBUTION' }, 'Versions must not be empty'],
    ['empty versions', contribution(), 'Versions must not be empty'],
    ['an array', [], 'CONTRIBUTION'],
    [
      'another type',
      { ...contribution(aVersion('249', { data: aComposition() })), _type: 'EHR' },
      'CONTRIBUTION',
    ],
    ['an unknown attribute', { ...contribution(aVersion('249', { data: aComposition() })), x: 1 }, 'x'],
    [
      'a bad uid',
      { ...contribution(aVersion('249', { data: aComposition() })), uid: { value: 'x' } },
      '/uid',
    ],
    ['an empty system', audited({ system_id: '' }), '/audit/system_id'],
    [
      'a system that is no text, in a version',
      committed({ change_type: aTerm('249'), system_id: 5 }),
      '/versions[0]/commit_audit/system_id',
    ],
    ['no change type', committed({}), '/versions[0]/commit_audit/change_type'],
    ['an unknown change type', committed({ change_type: aTerm('999') }), 'versions[0]: change_type'],
    ['code and rubric that disagree', committed({ change_type: aTerm('249', 'deleted') }), 'do not agree'],
    [
      'an unknown class of a version',
      contribution({ ...aVersion('249', { data: aComposition() }), _type: 'VERSION' }),
      '/versions[0]',
    ],
    [
      'a creation that follows',
      contribution(aVersion('249', { data: aComposition(), ...preceding(`${UNKNOWN}::local.cdr::1`) })),
      'versions[0]',
    ],
    [
      'a modification that follows nothing',
      contribution(aVersion('251', { data: aComposition() })),
      'versions[0]',
    ],
    ['a deletion of nothing', contribution(aVersion('523')), 'versions[0]'],
    ['an attestation of nothing', contribution(aVersion('666')), 'versions[0]'],
    ['no data', contribution(aVersion('249')), 'versions[0]'],
    ['data of another type', contribution(aVersion('249', { data: { _type: 'PARTY_SELF' } })), 'versions[0]'],
    [
      'a malformed preceding uid',
      contribution(aVersion('251', { data: aComposition(), ...preceding('x') })),
      '/versions[0]/preceding_version_uid',
    ],
    [
      'the state deleted for content',
      contribution(aVersion('249', { data: aComposition(), lifecycle_state: aTerm('523') })),
      'versions[0]',
    ],
    [
      'an unknown state',
      contribution(aVersion('249', { data: aComposition(), lifecycle_state: aTerm('999') })),
      'lifecycle_state',
    ],
    [
      'an attestation without reason',
      contribution(aVersion('249', { data: aComposition(), attestations: [{ is_pending: true }] })),
      '/versions[0]/attestations[0]',
    ],
    [
      'an unreadable COMPOSITION',
      contribution(aVersion('249', { data: bad({ shade: 1 }) })),
      '/versions[0]/data',
    ],
    [
      'a COMPOSITION without composer',
      contribution(aVersion('249', { data: bad({ composer: null }) })),
      '/versions[0]/data',
    ],
    [
      'an unknown territory',
      contribution(
        aVersion('249', {
          data: bad({ territory: { terminology_id: { value: 'ISO_3166-1' }, code_string: 'XX' } }),
        }),
      ),
      '/versions[0]/data',
    ],
    [
      'a bad FOLDER',
      contribution(aVersion('249', { data: { _type: 'FOLDER', archetype_node_id: 'x' } })),
      '/versions[0]/data',
    ],
  ])('with 400: %s', async (_name, body, told) => {
    const ehrId = await givenEhr(app);
    const before = await dump();
    const response = await post(ehrId, body);
    expect(response.status).toBe(400);
    expect(`${response.body.message as string} ${String(response.body.validationErrors)}`).toContain(told);
    expect(await dump()).toBe(before);
  });

  it('rolls everything back and names the version that failed', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId);
    await request(app)
      .put(`${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`)
      .set('If-Match', uid)
      .send(aComposition());
    const other = await givenEhr(app);
    const foreign = await givenComposition(app, other);
    const unknownTemplate = aComposition();
    unknownTemplate.archetype_details.template_id.value = 'nowhere.v1';
    const good = aVersion('249', { data: aComposition() });
    const before = await dump();
    for (const [status, version] of [
      [422, aVersion('249', { data: unknownTemplate })],
      [404, aVersion('251', { data: aComposition(), ...preceding(`${UNKNOWN}::local.cdr::1`) })],
      [404, aVersion('251', { data: aComposition(), ...preceding(foreign) })],
      [404, aVersion('523', preceding(`${UNKNOWN}::local.cdr::1`))],
      [
        404,
        aVersion('666', {
          ...preceding(nextOf(nextOf(uid))),
          attestations: [{ reason: { _type: 'DV_TEXT', value: 'x' }, is_pending: true }],
        }),
      ],
      [412, aVersion('251', { data: aComposition(), ...preceding(uid) })],
      [409, aVersion('523', preceding(uid))],
      [412, aVersion('249', { data: aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value: uid } })],
      [
        412,
        aVersion('251', {
          data: aComposition(),
          ...preceding(nextOf(uid)),
          uid: { _type: 'OBJECT_VERSION_ID', value: uid },
        }),
      ],
    ] as const) {
      const response = await post(ehrId, contribution(good, version));
      expect(response.status).toBe(status);
      expect(response.body.message).toContain('versions[1]');
      if (status === 409) expect(response.headers.etag).toBe(`"${nextOf(uid)}"`);
    }
    expect(await dump()).toBe(before);
  });

  it('answers the failure of the first bad version', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId);
    const stale = aVersion('251', { data: aComposition(), ...preceding(nextOf(uid)) });
    const response = await post(ehrId, contribution(stale, aVersion('249', { data: bad({ shade: 1 }) })));
    expect([response.status, response.body.message]).toEqual([412, expect.stringContaining('versions[0]')]);
  });

  it('comes after the EHR was looked for', async () => {
    const body = contribution(aVersion('249', { data: bad({ shade: 1 }) }));
    expect((await post(UNKNOWN, body)).status).toBe(404);
    expect((await post('x', body)).status).toBe(400);
    expect((await request(app).post(path(UNKNOWN)).set('Content-Type', 'text/plain').send('x')).status).toBe(
      415,
    );
    expect((await request(app).post(path(UNKNOWN)).set('Accept', 'text/csv').send(body)).status).toBe(406);
    expect(
      (await request(app).post(path(UNKNOWN)).set('Content-Type', 'application/json').send('{')).status,
    ).toBe(404);
  });

  it('accepts a foreign system id, unless told not to, and stores the own', async () => {
    const ehrId = await givenEhr(app);
    const closed = testApp({ acceptForeignSystemId: false });
    const refused = await request(closed)
      .post(path(ehrId))
      .send(audited({ system_id: 'other' }));
    expect(refused.status).toBe(400);
    const response = await request(app)
      .post(path(ehrId))
      .set('Prefer', 'return=representation')
      .send(audited({ system_id: 'other' }));
    expect([response.status, response.body.audit.system_id]).toEqual([201, 'local.cdr']);
  });
});

describe('a CONTRIBUTION and is_modifiable', () => {
  it('is validated version by version', async () => {
    const ehrId = await givenEhr(app, { _type: 'EHR_STATUS', is_modifiable: false });
    const status = await statusOf(ehrId);
    const content = aVersion('249', { data: aComposition() });
    const setting = (flag: boolean, uid = status.uid): Json =>
      aVersion('251', { ...preceding(uid), data: { ...status.body, is_modifiable: flag } });
    const before = await dump();
    const unreadable = aVersion('249', { data: { ...aComposition(), shade: 1 } });
    for (const versions of [[content], [unreadable], [content, setting(true)]]) {
      const response = await post(ehrId, contribution(...versions));
      expect(response.status).toBe(409);
      expect(response.body.message).toContain('does not allow modification');
      expect(response.body.message).toContain('versions[0]');
    }
    expect(await dump()).toBe(before);
    expect((await post(ehrId, contribution(setting(true), content))).status).toBe(201);
    const after = await dump();
    const frozen = await post(ehrId, contribution(setting(false, nextOf(status.uid)), content));
    expect([frozen.status, frozen.body.message]).toEqual([409, expect.stringContaining('versions[1]')]);
    expect(await dump()).toBe(after);
    expect((await post(ehrId, contribution(content, setting(false, nextOf(status.uid))))).status).toBe(201);
    expect((await statusOf(ehrId)).body.is_modifiable).toBe(false);
  });

  it('deletes and makes a directory in one go', async () => {
    const ehrId = await givenEhr(app);
    const uid = versionUidOf(await request(app).post(`${V1}/ehr/${ehrId}/directory`).send(aFolder('a')));
    expect((await post(ehrId, contribution(aVersion('249', { data: aFolder('b') })))).status).toBe(409);
    const response = await post(
      ehrId,
      contribution(aVersion('523', preceding(uid)), aVersion('249', { data: aFolder('b') })),
    );
    expect(response.status).toBe(201);
    const directory = await request(app).get(`${V1}/ehr/${ehrId}/directory`);
    expect(directory.body.name.value).toBe('b');
    const latest = versionUidOf(directory);
    expect(
      (await post(ehrId, contribution(aVersion('251', { ...preceding(latest), data: aFolder('c') })))).status,
    ).toBe(201);
    expect((await request(app).get(`${V1}/ehr/${ehrId}/directory`)).headers.etag).toBe(`"${nextOf(latest)}"`);
  });
});
