import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
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
let ehrId = '';

useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const path = (id: string, ehr = ehrId): string => `${V1}/ehr/${ehr}/composition/${id}`;
const nextOf = (uid: string): string => uid.replace(/\d+$/, (number) => String(Number(number) + 1));

function put(uid: string, ifMatch = uid): request.Test {
  return request(app)
    .put(path(versionedObjectUidOf(uid)))
    .set('If-Match', ifMatch);
}

describe('PUT composition', () => {
  it('makes the next version and keeps the previous one', async () => {
    const uid = await givenComposition(app, ehrId);
    const changed = aComposition();
    changed.composer.name = 'Another composer';
    const response = await put(uid).set('Prefer', 'return=representation').send(changed);
    expect(response.status).toBe(200);
    expect(versionUidOf(response)).toBe(nextOf(uid));
    expect(response.headers.location).toMatch(new RegExp(`${path(nextOf(uid))}$`));
    expect(response.body.composer.name).toBe('Another composer');
    expect(response.body.uid.value).toBe(nextOf(uid));
    const first = await request(app).get(path(uid));
    expect(first.body.composer.name).not.toBe('Another composer');
    expect((await request(app).get(path(versionedObjectUidOf(uid)))).body).toEqual(response.body);
  });

  it.each([
    ['quoted', (uid: string) => `"${uid}"`],
    ['bare', (uid: string) => uid],
    ['weak', (uid: string) => `W/"${uid}"`],
    ['upper case', (uid: string) => uid.replace(/^[^:]+/, (id) => id.toUpperCase())],
  ])('takes a %s If-Match', async (_name, form) => {
    const uid = await givenComposition(app, ehrId);
    const response = await put(uid, form(uid)).send(aComposition());
    expect([response.status, response.text]).toEqual([200, '']);
  });

  it('answers 204 to a minimal update when so configured', async () => {
    const uid = await givenComposition(app, ehrId);
    const minimal = testApp({ preferMinimalUpdateStatus: 204 });
    const response = await request(minimal)
      .put(path(versionedObjectUidOf(uid)))
      .set('If-Match', uid)
      .send(aComposition());
    expect([response.status, versionUidOf(response)]).toEqual([204, nextOf(uid)]);
  });

  it.each(['', '*', '"a", "b"', 'x', `${UNKNOWN}::local.cdr`])(
    'refuses the If-Match %j with 400',
    async (ifMatch) => {
      const uid = await givenComposition(app, ehrId);
      const before = await dump();
      expect((await put(uid, ifMatch).send(aComposition())).status).toBe(400);
      expect(await dump()).toBe(before);
    },
  );

  it('refuses a version that is not the latest with 412 and names the latest', async () => {
    const first = await givenComposition(app, ehrId);
    await put(first).send(aComposition());
    const before = await dump();
    for (const ifMatch of [
      first,
      first.replace(/1$/, '3'),
      nextOf(first).replace('local.cdr', 'other.system'),
      `${UNKNOWN}::local.cdr::2`,
    ]) {
      const response = await put(first, ifMatch).send(aComposition());
      expect(response.status).toBe(412);
      expect(response.headers.etag).toBe(`"${nextOf(first)}"`);
      expect(response.headers.location).toMatch(new RegExp(`${path(nextOf(first))}$`));
    }
    expect(await dump()).toBe(before);
  });

  it('refuses in the order of the contract', async () => {
    const uid = await givenComposition(app, ehrId);
    const stale = `${UNKNOWN}::local.cdr::1`;
    const before = await dump();
    const send = (target: string, ifMatch: string, body: object): request.Test =>
      request(app).put(target).set('If-Match', ifMatch).send(body);
    expect((await send(path(uid), stale, {})).status).toBe(400);
    expect((await send(path(UNKNOWN, UNKNOWN), stale, { nonsense: 1 })).status).toBe(404);
    expect((await send(path(UNKNOWN), stale, { nonsense: 1 })).status).toBe(404);
    expect((await send(path(versionedObjectUidOf(uid)), stale, { nonsense: 1 })).status).toBe(400);
    expect((await send(path(versionedObjectUidOf(uid)), stale, aComposition())).status).toBe(412);
    const other = await givenEhr(app);
    expect((await send(path(versionedObjectUidOf(uid), other), uid, aComposition())).status).toBe(404);
    const { versions } = JSON.parse(before) as { versions: unknown[] };
    expect(JSON.parse(await dump()).versions).toHaveLength(versions.length + 1);
  });

  it('validates the uid of the body', async () => {
    const uid = await givenComposition(app, ehrId);
    const withUid = (value: string): object => ({
      ...aComposition(),
      uid: { _type: 'OBJECT_VERSION_ID', value },
    });
    const refused = await put(uid).send(withUid(`${UNKNOWN}::local.cdr::1`));
    expect([refused.status, refused.headers.etag]).toEqual([412, `"${uid}"`]);
    expect((await put(uid).send(withUid(uid))).status).toBe(200);
  });

  it('refuses another template with 400', async () => {
    await givenTemplate(app, 'nested.en.v1');
    const uid = await givenComposition(app, ehrId);
    const response = await put(uid).send(aComposition('nested.en.v1'));
    expect(response.status).toBe(400);
    expect(response.body.message).toBe("Can't update composition to have different template.");
  });

  it('takes a higher version of the template and refuses a lower one', async () => {
    const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
    for (const id of ['bump.v1', 'bump.v2']) {
      const text = opt.replaceAll('minimal_evaluation.en.v1', id);
      const upload = request(app)
        .post(`${V1}/definition/template/adl1.4`)
        .set('Content-Type', 'application/xml');
      expect((await upload.send(text)).status).toBe(201);
    }
    const of = (id: string): object => {
      const composition = aComposition();
      composition.archetype_details.template_id.value = id;
      return composition;
    };
    const first = await givenComposition(app, ehrId, of('bump.v1'));
    expect((await put(first).send(of('bump.v2'))).status).toBe(200);
    const back = await put(first, nextOf(first)).send(of('bump.v1'));
    expect(back.status).toBe(400);
    expect(back.body.message).toBe("Can't update composition with wrong template version bump.");
  });

  it('takes the state from openehrVersion and warns of unknown query parameters', async () => {
    const uid = await givenComposition(app, ehrId);
    const target = `${path(versionedObjectUidOf(uid))}?openehrVersion=553`;
    const response = await request(app).put(target).set('If-Match', uid).send(aComposition());
    expect(response.status).toBe(200);
    const version = await request(app).get(
      `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${nextOf(uid)}`,
    );
    expect(version.body.lifecycle_state.value).toBe('incomplete');
    const again = request(app)
      .put(`${path(versionedObjectUidOf(uid))}?stdVersion=999`)
      .set('If-Match', nextOf(uid));
    expect((await again.send(aComposition())).status).toBe(400);
    const unknown = await request(app)
      .put(`${path(versionedObjectUidOf(uid))}?openehrVersoin=532`)
      .set('If-Match', nextOf(uid))
      .send(aComposition());
    expect(unknown.status).toBe(200);
    expect(unknown.headers['warning']).toContain('openehrVersoin is not known; did you mean openehrVersion?');
  });

  it('is refused while the EHR is not modifiable', async () => {
    const frozen = await givenEhr(app);
    const uid = await givenComposition(app, frozen);
    const status = await request(app).get(`${V1}/ehr/${frozen}/ehr_status`);
    await request(app)
      .put(`${V1}/ehr/${frozen}/ehr_status`)
      .set('If-Match', versionUidOf(status))
      .send({ ...status.body, is_modifiable: false });
    const before = await dump();
    const response = await request(app)
      .put(path(versionedObjectUidOf(uid), frozen))
      .set('If-Match', 'x::y::1');
    expect(response.status).toBe(400);
    const update = request(app)
      .put(path(versionedObjectUidOf(uid), frozen))
      .set('If-Match', `${UNKNOWN}::local.cdr::1`);
    expect((await update.send({ nonsense: 1 })).status).toBe(409);
    expect((await request(app).delete(path(uid, frozen))).status).toBe(409);
    expect((await request(app).delete(path(`${UNKNOWN}::local.cdr::1`, frozen))).status).toBe(404);
    expect(await dump()).toBe(before);
    expect((await request(app).get(path(uid, frozen))).status).toBe(200);
  });
});

describe('DELETE composition', () => {
  it('deletes logically: the container answers 204, older versions stay', async () => {
    const uid = await givenComposition(app, ehrId);
    const response = await request(app).delete(path(uid));
    expect([response.status, response.text]).toEqual([204, '']);
    const deletion = versionUidOf(response);
    expect(deletion).toBe(nextOf(uid));
    expect(response.headers.location).toMatch(new RegExp(`${path(deletion)}$`));
    for (const id of [
      versionedObjectUidOf(uid),
      deletion,
      `${versionedObjectUidOf(uid)}?version_at_time=2999-01-01T00:00:00Z`,
    ]) {
      const got = await request(app).get(path(id));
      expect([got.status, got.text]).toEqual([204, '']);
      expect(got.headers.etag).toBe(`"${deletion}"`);
      expect(got.headers.location).toMatch(new RegExp(`${path(deletion)}$`));
    }
    expect((await request(app).get(path(uid))).status).toBe(200);
    const versions = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}`;
    const version = await request(app).get(`${versions}/version/${deletion}`);
    expect(version.status).toBe(200);
    expect(version.body.data).toBeUndefined();
    expect(version.body.lifecycle_state.defining_code.code_string).toBe('523');
    expect(version.body.commit_audit.change_type.defining_code.code_string).toBe('523');
    expect(version.body.preceding_version_uid.value).toBe(uid);
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}?include=compositions`);
    expect(JSON.stringify(body.compositions)).not.toContain(versionedObjectUidOf(uid));
  });

  it('refuses what cannot be deleted', async () => {
    const first = await givenComposition(app, ehrId);
    await put(first).send(aComposition());
    const latest = nextOf(first);
    const before = await dump();
    expect((await request(app).delete(path(versionedObjectUidOf(first)))).status).toBe(400);
    expect((await request(app).delete(path('x::y::1'))).status).toBe(400);
    expect((await request(app).delete(path(`${UNKNOWN}::local.cdr::1`))).status).toBe(404);
    expect((await request(app).delete(path(first, UNKNOWN))).status).toBe(404);
    expect((await request(app).delete(path(nextOf(latest)))).status).toBe(404);
    expect((await request(app).delete(path(latest.replace('local.cdr', 'other.system')))).status).toBe(404);
    const stale = await request(app).delete(path(first));
    expect(stale.status).toBe(409);
    expect(stale.headers.etag).toBe(`"${latest}"`);
    expect(stale.headers.location).toMatch(new RegExp(`${path(latest)}$`));
    expect(await dump()).toBe(before);
    const deleted = versionUidOf(await request(app).delete(path(latest)));
    const after = await dump();
    for (const uid of [first, latest, deleted])
      expect((await request(app).delete(path(uid))).status).toBe(400);
    expect(await dump()).toBe(after);
  });

  it('is undone by an update that names the deletion', async () => {
    const uid = await givenComposition(app, ehrId);
    const deletion = versionUidOf(await request(app).delete(path(uid)));
    expect((await put(uid).send(aComposition())).status).toBe(412);
    const revived = await put(uid, deletion).send(aComposition());
    expect([revived.status, versionUidOf(revived)]).toEqual([200, nextOf(deletion)]);
    expect((await request(app).get(path(versionedObjectUidOf(uid)))).status).toBe(200);
    const history = await request(app).get(
      `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/revision_history`,
    );
    const changes = history.body.items.map(
      (item: { audits: { change_type: { value: string } }[] }) => item.audits[0]?.change_type.value,
    );
    expect(changes).toEqual(['creation', 'deleted', 'modification']);
  });
});

describe('VERSIONED_COMPOSITION', () => {
  it('gives the container, its history and its versions', async () => {
    const uid = await givenComposition(app, ehrId);
    await put(uid).send(aComposition());
    const base = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}`;
    const container = await request(app).get(base);
    expect(container.body).toEqual({
      _type: 'VERSIONED_COMPOSITION',
      uid: { _type: 'HIER_OBJECT_ID', value: versionedObjectUidOf(uid) },
      owner_id: {
        _type: 'OBJECT_REF',
        id: { _type: 'HIER_OBJECT_ID', value: ehrId },
        namespace: 'local',
        type: 'EHR',
      },
      time_created: { _type: 'DV_DATE_TIME', value: expect.stringMatching(/\.\d{6}Z$/) },
    });
    const history = await request(app).get(`${base}/revision_history`);
    expect(history.body._type).toBe('REVISION_HISTORY');
    expect(history.body.items.map((item: Json) => item.version_id.value)).toEqual([uid, nextOf(uid)]);
    expect(history.body.items[0].audits).toHaveLength(1);
    const latest = await request(app).get(`${base}/version`);
    expect(latest.body).toMatchObject({
      _type: 'ORIGINAL_VERSION',
      uid: { value: nextOf(uid) },
      preceding_version_uid: { value: uid },
      lifecycle_state: { value: 'complete' },
      commit_audit: {
        system_id: 'local.cdr',
        change_type: { value: 'modification' },
        committer: { _type: 'PARTY_IDENTIFIED', name: 'anonymous' },
      },
      contribution: { namespace: 'local', type: 'CONTRIBUTION' },
      data: { _type: 'COMPOSITION', uid: { value: nextOf(uid) } },
    });
    expect(latest.headers.etag).toBe(`"${nextOf(uid)}"`);
    expect(latest.headers.location).toMatch(new RegExp(`${base}/version/${nextOf(uid)}$`));
    const first = await request(app).get(`${base}/version/${uid}`);
    expect(first.body.preceding_version_uid).toBeUndefined();
    expect(first.body.commit_audit.change_type.value).toBe('creation');
    const xml = await request(app).get(`${base}/version/${uid}`).set('Accept', 'application/xml');
    expect(xml.text).toContain('xsi:type="COMPOSITION"');
    expect((await request(app).get(`${base}/version?version_at_time=2001-01-01T00:00:00Z`)).status).toBe(404);
    for (const resource of ['', '/revision_history']) {
      const text = (
        await request(app)
          .get(base + resource)
          .set('Accept', 'application/xml')
      ).text;
      expect(text).toMatch(/^<\?xml/);
    }
  });

  it('refuses ids that are malformed, unknown or do not agree', async () => {
    const uid = await givenComposition(app, ehrId);
    const other = await givenComposition(app, ehrId);
    const base = (id: string, ehr = ehrId): string => `${V1}/ehr/${ehr}/versioned_composition/${id}`;
    for (const tail of ['', '/revision_history', '/version']) {
      expect((await request(app).get(base('x') + tail)).status).toBe(400);
      expect((await request(app).get(base(uid) + tail)).status).toBe(400);
      expect((await request(app).get(base(UNKNOWN) + tail)).status).toBe(404);
      expect((await request(app).get(base(versionedObjectUidOf(uid), UNKNOWN) + tail)).status).toBe(404);
      expect((await request(app).post(base(versionedObjectUidOf(uid)) + tail)).status).toBe(405);
    }
    expect((await request(app).get(`${base(versionedObjectUidOf(uid))}/version/${other}`)).status).toBe(404);
    expect(
      (await request(app).get(`${base(versionedObjectUidOf(uid))}/version/${versionedObjectUidOf(uid)}`))
        .status,
    ).toBe(400);
    expect((await request(app).get(`${base(versionedObjectUidOf(uid))}/version/${nextOf(uid)}`)).status).toBe(
      404,
    );
  });
});
