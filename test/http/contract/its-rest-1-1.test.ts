import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp } from '../../support/app.js';
import { AQL, creation, FOLDER, STATUS } from '../../support/api/world.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
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
import { RELEASE_1_1 } from '../../support/settings.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

/** Each case asks both dialects of one store. docs/spec/rest.md#dialects */
const APPS = { '1.0.3': testApp(), '1.1.0': testApp(RELEASE_1_1) } as const;
type Edition = keyof typeof APPS;
const app = APPS['1.1.0'];

const without = (object: Json, ...names: string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

useDatabase();
let ehrId = '';
const at = (path = ''): string => `${V1}/ehr/${ehrId}${path}`;
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

/** Puts an EHR_STATUS over the latest, in 1.1.0. */
async function putStatus(id: string, body: object): Promise<request.Response> {
  const { headers } = await request(app).get(`${V1}/ehr/${id}/ehr_status`);
  return request(app).put(`${V1}/ehr/${id}/ehr_status`).set('If-Match', String(headers.etag)).send(body);
}

/** What each dialect answers to requests that are made anew for each. */
async function both(
  ask: (listener: (typeof APPS)[Edition]) => Promise<request.Response> | request.Test,
): Promise<Record<Edition, number>> {
  const before = await ask(APPS['1.0.3']);
  const after = await ask(APPS['1.1.0']);
  return { '1.0.3': before.status, '1.1.0': after.status };
}

it('takes the two editions and refuses others at the start, naming those there are', () => {
  expect(loadConfig({}).itsRest).toBe('1.0.3');
  expect(loadConfig({}).preferMinimalUpdateStatus).toBe(200);
  expect(loadConfig({ ITS_REST: '1.1.0' }).preferMinimalUpdateStatus).toBe(204);
  expect(
    loadConfig({ ITS_REST: '1.1.0', PREFER_MINIMAL_UPDATE_STATUS: '200' }).preferMinimalUpdateStatus,
  ).toBe(200);
  expect(() => loadConfig({ ITS_REST: '1.1' })).toThrow(/ITS_REST must be one of \[1\.0\.3, 1\.1\.0\]/);
});

describe('headers', () => {
  it('have weak entity tags, which If-Match and If-None-Match take in both dialects', async () => {
    const made = await request(app).post(at('/composition')).send(aComposition());
    const tag = String(made.headers.etag);
    expect(tag).toMatch(/^W\/"[^"]+::1"$/);
    const path = at(`/composition/${versionedObjectUidOf(versionUidOf(made))}`);
    for (const [edition, listener] of Object.entries(APPS)) {
      const read = await request(listener).get(path).set('If-None-Match', tag);
      expect([edition, read.status]).toEqual([edition, 304]);
    }
    for (const listener of [APPS['1.0.3'], app]) {
      const latest = await request(app).get(path);
      const put = await request(listener)
        .put(path)
        .set('If-Match', String(latest.headers.etag))
        .send(aComposition());
      expect(put.status).toBeLessThan(300);
    }
    const { headers } = await request(APPS['1.0.3']).get(path);
    expect(headers.etag).toBe(`"${versionUidOf({ headers })}"`);
  });

  it('name the EHR, a CONTRIBUTION, a template and a result weakly too', async () => {
    const { body } = await request(app).get(at('?include=contributions'));
    const contribution = String((body as Json).contributions[0].id.value);
    const template = aComposition().archetype_details.template_id.value as string;
    for (const answer of [
      await request(app).get(at()),
      await request(app).get(at(`/contribution/${contribution}`)),
      await request(app).get(`${V1}/definition/template/adl1.4/${template}`),
      await request(app).post(`${V1}/query/aql`).send({ q: AQL }),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.etag).toMatch(/^W\/"[^"]+"$/);
      expect(answer.headers.location).toBeUndefined();
    }
  });

  it('have Location where something new is, and nowhere else', async () => {
    const made = await request(app).post(at('/composition')).send(aComposition());
    const uid = versionUidOf(made);
    const path = at(`/composition/${versionedObjectUidOf(uid)}`);
    expect(made.headers.location).toMatch(new RegExp(`/composition/${uid}$`));
    const updated = await request(app).put(path).set('If-Match', uid).send(aComposition());
    const next = versionUidOf(updated);
    expect([updated.status, updated.headers.location]).toEqual([
      204,
      expect.stringMatching(new RegExp(`/composition/${next}$`)),
    ]);
    const stale = await request(app).put(path).set('If-Match', uid).send(aComposition());
    const conflict = await request(app).delete(at(`/composition/${uid}`));
    const read = await request(app).get(path);
    const version = await request(app).get(at(`/versioned_composition/${versionedObjectUidOf(uid)}/version`));
    const deleted = await request(app).delete(at(`/composition/${next}`));
    expect([stale, conflict, read, version, deleted].map((answer) => answer.status)).toEqual([
      412, 409, 200, 200, 204,
    ]);
    for (const answer of [stale, conflict, read, version, deleted]) {
      expect(answer.headers.location).toBeUndefined();
      expect(answer.headers.etag).toMatch(/^W\//);
    }
  });
});

describe('a preference', () => {
  const applied = async (
    ask: (listener: (typeof APPS)[Edition]) => Promise<request.Response> | request.Test,
  ): Promise<Record<Edition, unknown>> => {
    const [before, after] = [await ask(APPS['1.0.3']), await ask(app)];
    return {
      '1.0.3': before.headers['preference-applied'],
      '1.1.0': after.headers['preference-applied'],
    };
  };

  it('is told of on every answer to a request that has one', async () => {
    const uid = await givenComposition(app, ehrId);
    const path = at(`/composition/${versionedObjectUidOf(uid)}`);
    const read = (prefer: string) => (listener: (typeof APPS)[Edition]) =>
      request(listener).get(path).set('Prefer', prefer);
    expect(await applied(read('return=minimal'))).toEqual({ '1.1.0': 'return=representation' });
    expect(await applied(read('wait=10'))).toEqual({ '1.1.0': 'return=representation' });
    expect(await applied((listener) => read('wait=10')(listener).set('If-None-Match', `"${uid}"`))).toEqual({
      '1.1.0': 'return=minimal',
    });
    expect(
      await applied((listener) =>
        request(listener).get(at('/composition/nothing')).set('Prefer', 'return=minimal'),
      ),
    ).toEqual({ '1.1.0': 'return=representation' });
    expect(
      await applied((listener) =>
        request(listener).post(`${V1}/query/aql`).set('Prefer', 'x').send({ q: AQL }),
      ),
    ).toEqual({ '1.1.0': 'return=representation' });
    expect(await applied((listener) => request(listener).get(path))).toEqual({});
  });

  it.each(['minimal', 'identifier', 'representation'])(
    'of a write is told of as before: %s',
    async (returns) => {
      const prefer = `return=${returns}`;
      expect(
        await applied((listener) =>
          request(listener).post(at('/composition')).set('Prefer', prefer).send(aComposition()),
        ),
      ).toEqual({ '1.0.3': prefer, '1.1.0': prefer });
    },
  );

  it('that a write has no answer to is told of with what it answers', async () => {
    const write = (prefer: string) => (listener: (typeof APPS)[Edition]) =>
      request(listener).post(at('/contribution')).set('Prefer', prefer).send(creation(aComposition()));
    expect(await applied(write('wait=10'))).toEqual({ '1.1.0': 'return=minimal' });
    expect(await applied(write('resolve_refs'))).toEqual({
      '1.0.3': 'resolve_refs',
      '1.1.0': 'return=minimal, resolve_refs',
    });
    const tags = at(`/composition/${await givenComposition(app, ehrId)}/tags`);
    expect(
      await applied((listener) =>
        request(listener)
          .put(tags)
          .set('Prefer', 'wait=10')
          .send([{ key: 'a' }]),
      ),
    ).toEqual({ '1.1.0': 'return=minimal' });
  });

  it('is PREFER_DEFAULT where a write has none, in both dialects', async () => {
    expect(loadConfig({}).preferDefault).toBe('minimal');
    expect(() => loadConfig({ PREFER_DEFAULT: 'all' })).toThrow(/PREFER_DEFAULT must be one of/);
    for (const edition of [{}, RELEASE_1_1]) {
      const write = (preferDefault: 'identifier' | 'representation', prefer = '') =>
        request(testApp({ ...edition, preferDefault }))
          .post(at('/composition'))
          .set('Prefer', prefer)
          .send(aComposition());
      const named = await write('identifier');
      expect([named.status, named.body]).toEqual([201, { uid: versionUidOf(named) }]);
      expect(named.headers['preference-applied']).toBeUndefined();
      const whole = await write('representation');
      expect([whole.status, (whole.body as Json)._type]).toEqual([201, 'COMPOSITION']);
      const minimal = await write('representation', 'return=minimal');
      expect([minimal.status, minimal.text]).toEqual([201, '']);
      const told = await write('identifier', 'wait=10');
      expect([told.body, told.headers['preference-applied']]).toEqual([
        { uid: versionUidOf(told) },
        edition === RELEASE_1_1 ? 'return=identifier' : undefined,
      ]);
      const put = await request(testApp({ ...edition, preferDefault: 'identifier' }))
        .put(at(`/composition/${versionedObjectUidOf(versionUidOf(named))}`))
        .set('If-Match', versionUidOf(named))
        .send(aComposition());
      expect([put.status, put.body]).toEqual([200, { uid: versionUidOf(put) }]);
    }
  });
});

it('dates a versioned object and its history by the latest version', async () => {
  const uid = await givenComposition(app, ehrId);
  const composition = `/versioned_composition/${versionedObjectUidOf(uid)}`;
  for (const path of [composition, '/versioned_ehr_status']) {
    const latest = await request(app).get(at(`${path}/version`));
    expect(latest.headers['last-modified']).toMatch(/GMT$/);
    for (const answered of ['', '/revision_history']) {
      const dates = Object.values(APPS).map(
        async (listener) => (await request(listener).get(at(path + answered))).headers['last-modified'],
      );
      expect(await Promise.all(dates)).toEqual([undefined, latest.headers['last-modified']]);
    }
  }
  const deleted = await request(app).delete(at(`/composition/${uid}`));
  const time = deleted.headers['last-modified'];
  expect(time).toMatch(/GMT$/);
  // The header has seconds: what was before is made older than one.
  const early = new Date(Date.now() - 60_000);
  const set = (name: string, _id: string, field: string) =>
    mongoose.connection.collection<{ _id: string }>(name).updateOne({ _id }, { $set: { [field]: early } });
  await set('versions', uid, 'time_committed');
  await set('versioned_objects', versionedObjectUidOf(uid), 'time_created');
  for (const answered of ['', '/revision_history'])
    expect((await request(app).get(at(composition + answered))).headers['last-modified']).toBe(time);
});

it.each([
  'application/json',
  'application/xml',
  'application/openehr.wt.flat+json',
  'application/openehr.wt.structured.schema+json',
  'application/xml;q=0.5, application/openehr.wt.structured+json',
  'text/csv',
])('answers the same form to Accept: %s in both dialects', async (accept) => {
  const uid = await givenComposition(app, ehrId);
  const version = `/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`;
  for (const path of [`/composition/${uid}`, version, '/ehr_status']) {
    const read = (listener: (typeof APPS)[Edition]) => request(listener).get(at(path)).set('Accept', accept);
    const [before, after] = [await read(APPS['1.0.3']), await read(app)];
    const formOf = ({ status, headers, text }: request.Response) => [
      status,
      headers['content-type'],
      status === 200 ? text : '',
    ];
    expect([path, formOf(after)]).toEqual([path, formOf(before)]);
  }
});

describe('system', () => {
  it('says which edition it speaks, in OPTIONS, status and the description', async () => {
    for (const [edition, listener] of Object.entries(APPS)) {
      const options = await request(listener).options(V1);
      expect(options.body).toMatchObject({
        restapi_specs_version: edition,
        conformance_profile: edition === '1.0.3' ? 'STANDARD' : 'CORE',
      });
      expect((options.body as Json).endpoints).toEqual(['/ehr', '/definition', '/query']);
      expect(options.headers.allow).toBe('OPTIONS');
      const status = await request(listener).get('/rest/status');
      expect(status.body).toMatchObject({ openehr_rest_version: edition });
      const { body } = await request(listener).get('/rest/openapi.json');
      expect((body as Json).info.description).toContain(`ITS-REST ${edition}`);
      const read = (body as Json).paths[`${V1}/ehr/{ehr_id}/composition/{uid_based_id}`];
      expect('Location' in read.get.responses['200'].headers).toBe(edition === '1.0.3');
      expect('Location' in read.put.responses['200'].headers).toBe(true);
      expect('204' in read.put.responses).toBe(edition === '1.1.0');
    }
  });

  it('has no Demographic API: 501, and 404 where no edition with it is spoken', async () => {
    const id = randomUUID();
    for (const [method, path] of [
      ['post', '/person'],
      ['get', `/person/${id}`],
      ['put', `/role/${id}/tags`],
      ['delete', `/agent/${id}/tags/flag`],
      ['get', `/versioned_party/${id}/version/${id}::local.cdr::1`],
      ['get', '/tags'],
    ] as const)
      expect(await both((listener) => request(listener)[method](`${V1}/demographic${path}`))).toEqual({
        '1.0.3': 404,
        '1.1.0': 501,
      });
  });
});

describe('content', () => {
  it('that lacks what the reference model requires is 400, what else is wrong with it 422', async () => {
    const lacking = aComposition();
    delete lacking.content[0].language;
    const broken = aComposition();
    broken.content[0].data.items[0].value = { _type: 'DV_BOOLEAN', value: true };
    const unknown = aComposition();
    unknown.archetype_details.template_id.value = 'no such template';
    const direct = (body: Json) => both((listener) => request(listener).post(at('/composition')).send(body));
    expect(await direct(lacking)).toEqual({ '1.0.3': 422, '1.1.0': 400 });
    expect(await direct(broken)).toEqual({ '1.0.3': 422, '1.1.0': 422 });
    expect(await direct(unknown)).toEqual({ '1.0.3': 422, '1.1.0': 422 });
    const inContribution = (body: Json) =>
      both((listener) => request(listener).post(at('/contribution')).send(creation(body)));
    expect(await inContribution(lacking)).toEqual({ '1.0.3': 400, '1.1.0': 400 });
    expect(await inContribution(broken)).toEqual({ '1.0.3': 400, '1.1.0': 422 });
    expect(await inContribution(unknown)).toEqual({ '1.0.3': 422, '1.1.0': 422 });
  });

  it('keeps the error body, with the code of the status', async () => {
    const lacking = aComposition();
    delete lacking.content[0].language;
    const { body } = await request(app).post(at('/composition')).send(lacking);
    expect(body).toMatchObject({ error: 'Bad Request', code: 'invalid' });
    expect((body as Json).validationErrors).toHaveLength(1);
  });

  it('of another template is 422 on an update', async () => {
    await givenTemplate(app, 'minimal_admin.en.v1');
    const uid = await givenComposition(app, ehrId);
    const other = aComposition('minimal_admin.en.v1');
    const path = at(`/composition/${versionedObjectUidOf(uid)}`);
    expect(await both((listener) => request(listener).put(path).set('If-Match', uid).send(other))).toEqual({
      '1.0.3': 400,
      '1.1.0': 422,
    });
  });

  it('of a FOLDER that breaks a rule is 422, without a name 400', async () => {
    const twins = { ...FOLDER, folders: [FOLDER, FOLDER] };
    const ask = (body: object) => both((listener) => request(listener).post(at('/directory')).send(body));
    expect(await ask(twins)).toEqual({ '1.0.3': 400, '1.1.0': 422 });
    expect(await ask(without(FOLDER, 'name'))).toEqual({ '1.0.3': 400, '1.1.0': 400 });
  });

  it('of a template that makes no sense is 422, what is no template 400', async () => {
    const upload = (text: string) =>
      both((listener) =>
        request(listener)
          .post(`${V1}/definition/template/adl1.4`)
          .set('Content-Type', 'application/xml')
          .send(text),
      );
    const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
    const unknown = opt.replace('<rm_type_name>EVALUATION<', '<rm_type_name>NO_TYPE<');
    expect(unknown).not.toBe(opt);
    expect(await upload(unknown)).toEqual({ '1.0.3': 400, '1.1.0': 422 });
    expect(await upload('<template>')).toEqual({ '1.0.3': 400, '1.1.0': 400 });
  });

  it('of a tag is 422, what is no tag 400', async () => {
    const path = at(`/composition/${await givenComposition(app, ehrId)}/tags`);
    const ask = (body: object) => both((listener) => request(listener).put(path).send(body));
    expect(await ask([{ key: 'a', value: ' ' }])).toEqual({ '1.0.3': 400, '1.1.0': 422 });
    expect(await ask([{ key: 'a b' }])).toEqual({ '1.0.3': 400, '1.1.0': 422 });
    expect(await ask([{ value: 'a' }])).toEqual({ '1.0.3': 400, '1.1.0': 400 });
    expect(await ask([{ key: 'a', value: 'b' }])).toEqual({ '1.0.3': 200, '1.1.0': 204 });
  });
});

describe('an EHR_STATUS', () => {
  const lacking = ['name', 'archetype_node_id', 'subject', 'is_queryable', 'is_modifiable'];

  it.each(lacking)('without %s makes no EHR', async (name) => {
    const body = without(STATUS, name);
    expect(await both((listener) => request(listener).post(`${V1}/ehr`).send(body))).toEqual({
      '1.0.3': 201,
      '1.1.0': 400,
    });
  });

  it('without archetype_details is 422, and whole or absent makes an EHR', async () => {
    const rootless = without(STATUS, 'archetype_details');
    const create = (body?: object) => both((listener) => request(listener).post(`${V1}/ehr`).send(body));
    expect(await create(rootless)).toEqual({ '1.0.3': 201, '1.1.0': 422 });
    expect(await create(STATUS)).toEqual({ '1.0.3': 201, '1.1.0': 201 });
    expect(await create()).toEqual({ '1.0.3': 201, '1.1.0': 201 });
    const withId = (body: object) =>
      both((listener) => request(listener).put(`${V1}/ehr/${randomUUID()}`).send(body));
    expect(await withId(rootless)).toEqual({ '1.0.3': 201, '1.1.0': 422 });
    const made = await request(app).get(`${V1}/ehr/${await givenEhr(app)}?include=ehr_status`);
    const status = without((made.body as Json).ehr_status as Json, 'uid');
    expect(await create(status)).toEqual({ '1.0.3': 201, '1.1.0': 201 });
    const lenient = testApp({ ...RELEASE_1_1, validation: 'lenient-all' });
    expect((await request(lenient).post(`${V1}/ehr`).send(rootless)).status).toBe(201);
  });

  it('is updated whole, also in a CONTRIBUTION', async () => {
    const update = (body: object) =>
      both(async (listener) => {
        const { headers } = await request(app).get(at('/ehr_status'));
        return request(listener).put(at('/ehr_status')).set('If-Match', String(headers.etag)).send(body);
      });
    const rootless = without(STATUS, 'archetype_details');
    expect(await update(without(STATUS, 'name'))).toEqual({ '1.0.3': 200, '1.1.0': 400 });
    expect(await update(STATUS)).toEqual({ '1.0.3': 200, '1.1.0': 204 });
    const refused = await putStatus(ehrId, rootless);
    expect([refused.status, (refused.body as Json).validationErrors]).toEqual([
      422,
      [expect.stringContaining('/archetype_details')],
    ]);
    const commit = async (listener: (typeof APPS)[Edition], data: Json): Promise<number> => {
      const uid = versionUidOf(await request(app).get(at('/ehr_status')));
      const made = creation(data) as Json;
      made.versions[0].preceding_version_uid = { _type: 'OBJECT_VERSION_ID', value: uid };
      made.versions[0].commit_audit.change_type = {
        _type: 'DV_CODED_TEXT',
        value: 'modification',
        defining_code: {
          _type: 'CODE_PHRASE',
          terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
          code_string: '251',
        },
      };
      return (await request(listener).post(at('/contribution')).send(made)).status;
    };
    expect(await commit(app, rootless)).toBe(422);
    expect(await commit(APPS['1.0.3'], rootless)).toBe(201);
    expect(await commit(app, rootless)).toBe(201);
    expect(await commit(app, STATUS)).toBe(201);
    expect(await commit(app, rootless)).toBe(422);
  });

  it('that 1.0.3 stored without archetype_details can be changed and sent back', async () => {
    const made = await request(APPS['1.0.3']).post(`${V1}/ehr`).send(without(STATUS, 'archetype_details'));
    const id = String(made.headers.etag).replaceAll('"', '');
    const { body } = await request(app).get(`${V1}/ehr/${id}/ehr_status`);
    expect(body).not.toHaveProperty('archetype_details');
    const changed = { ...(body as Json), name: { _type: 'DV_TEXT', value: 'changed' } };
    expect((await putStatus(id, changed)).status).toBe(204);
    expect((await putStatus(id, without(changed, 'name'))).status).toBe(400);
    expect((await putStatus(id, STATUS)).status).toBe(204);
    expect((await putStatus(id, changed)).status).toBe(422);
  });

  it('of the administration is filled in as before', async () => {
    const id = await givenEhr(app);
    const admin = testApp({ ...WITH_ADMIN, ...RELEASE_1_1 });
    const { status } = await request(admin)
      .put(`/rest/admin/ehr/${id}`)
      .set('Authorization', ADMIN)
      .send(without(STATUS, 'archetype_details', 'name'));
    expect(status).toBe(200);
  });
});

it('keeps the system_id that a client gives in an audit, not that of an ATTESTATION', async () => {
  const systemOf = async (listener: (typeof APPS)[Edition]): Promise<string[]> => {
    const made = await request(listener)
      .post(at('/composition'))
      .set('openehr-audit-details', 'system_id="of.client"')
      .send(aComposition());
    const { body } = await request(app).get(
      at(`/versioned_composition/${versionedObjectUidOf(versionUidOf(made))}/version`),
    );
    const contribution = await request(app).get(
      at(`/contribution/${String((body as Json).contribution.id.value)}`),
    );
    return [(body as Json).commit_audit.system_id, (contribution.body as Json).audit.system_id] as string[];
  };
  expect(await systemOf(APPS['1.0.3'])).toEqual(['local.cdr', 'local.cdr']);
  expect(await systemOf(app)).toEqual(['of.client', 'of.client']);
  const inBody = creation(aComposition()) as Json;
  inBody.audit = { _type: 'AUDIT_DETAILS', system_id: 'of.body' };
  inBody.versions[0].commit_audit.system_id = 'of.version';
  inBody.versions[0].attestations = [
    { system_id: 'of.attestation', reason: { _type: 'DV_TEXT', value: 'signed' }, is_pending: false },
  ];
  const made = await request(app)
    .post(at('/contribution'))
    .set('Prefer', 'return=representation, resolve_refs')
    .send(inBody);
  expect(made.status).toBe(201);
  expect((made.body as Json).audit.system_id).toBe('of.body');
  expect((made.body as Json).versions[0].commit_audit.system_id).toBe('of.version');
  expect((made.body as Json).versions[0].attestations).toMatchObject([{ system_id: 'local.cdr' }]);
});

it('answers 404 to a change of a directory that is not there', async () => {
  const path = `${V1}/ehr/${await givenEhr(app)}/directory`;
  const tag = `"${randomUUID()}::local.cdr::1"`;
  const put = () => both((listener) => request(listener).put(path).set('If-Match', tag).send(FOLDER));
  const remove = () => both((listener) => request(listener).delete(path).set('If-Match', tag));
  expect(await put()).toEqual({ '1.0.3': 412, '1.1.0': 404 });
  expect(await remove()).toEqual({ '1.0.3': 412, '1.1.0': 404 });
  await request(app).post(path).send(FOLDER);
  expect(await put()).toEqual({ '1.0.3': 412, '1.1.0': 412 });
});

it('has one place for a stored query without a version', async () => {
  const path = `${V1}/definition/query/org.example::q${randomUUID()}`;
  const store = (listener: (typeof APPS)[Edition], q: string) =>
    request(listener).put(path).set('Content-Type', 'text/plain').send(q);
  const texts = [AQL, `${AQL} LIMIT 1`, `${AQL} LIMIT 2`];
  for (const q of texts) {
    const stored = await store(app, q);
    expect([stored.status, stored.headers.location]).toEqual([200, expect.stringMatching(/\/1\.0\.0$/)]);
  }
  const versions = async (): Promise<string[][]> =>
    ((await request(app).get(path)).body as Json[]).map(({ version, q }) => [version, q] as string[]);
  expect(await versions()).toEqual([['1.0.0', texts[2]]]);
  // A store that the other dialect has filled: its next versions stay, and 1.0.0 is still the place.
  await store(APPS['1.0.3'], texts[0]!);
  expect(await versions()).toEqual([
    ['2.0.0', texts[0]],
    ['1.0.0', texts[2]],
  ]);
  await store(app, texts[1]!);
  expect(await versions()).toEqual([
    ['2.0.0', texts[0]],
    ['1.0.0', texts[1]],
  ]);
  const named = await request(app).put(`${path}/1.0.0`).set('Content-Type', 'text/plain').send(AQL);
  expect(named.status).toBe(409);
});

it('lists the latest of each template unless versions are asked for', async () => {
  const base = `t${randomUUID()}`;
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  const ids = [`${base}.v1`, `${base}.v1.10`, `${base}.v1.9`, `${base}.de.v3`, `${base}.en.v2`];
  for (const id of ids)
    await request(app)
      .post(`${V1}/definition/template/adl1.4`)
      .set('Content-Type', 'application/xml')
      .send(opt.replace('<value>minimal_evaluation.en.v1</value>', `<value>${id}</value>`));
  const list = async (listener: (typeof APPS)[Edition], more = ''): Promise<string[]> => {
    const { body } = await request(listener).get(
      `${V1}/definition/template/adl1.4?template_id=${base}*${more}`,
    );
    return (body as Json[]).map((record) => record.template_id as string);
  };
  expect((await list(APPS['1.0.3'])).sort()).toEqual([...ids].sort());
  expect((await list(app)).sort()).toEqual([ids[1], ids[3], ids[4]].sort());
  expect((await list(app, '&version=*')).sort()).toEqual([...ids].sort());
});
