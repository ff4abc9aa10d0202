import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { namesThatDifferInCase } from '../../../models/definition/stored-query.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
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

/** What people and tools expect that know other servers, or the letter of the standard. */
const app = testApp();
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

describe('an address of EHRbase', () => {
  it.each([
    ['/swagger-ui/index.html', '/swagger-ui.html', /swagger-ui-bundle/],
    ['/v3/api-docs', '/rest/openapi.json', /"openapi":"3\.1/],
  ])('%s leads to %s, under a BASE_PATH too', async (from, to, content) => {
    for (const [server, base] of [
      [app, ''],
      [testApp({ basePath: '/ehrbase' }), '/ehrbase'],
    ] as const) {
      const { status, headers } = await request(server).get(`${base}${from}`);
      const target = new URL(String(headers['location']), `http://here${base}${from}`).pathname;
      expect([status, target]).toEqual([302, `${base}${to}`]);
      expect((await request(server).get(target)).text).toMatch(content);
    }
  });

  it('/rest/status has ehrbase_version only where the operator says which', async () => {
    expect((await request(app).get('/rest/status')).body.ehrbase_version).toBeUndefined();
    const told = testApp({ statusEhrbaseVersion: '2.34.0' });
    expect((await request(told).get('/rest/status')).body.ehrbase_version).toBe('2.34.0');
  });
});

it('every version of templates is asked for with *', async () => {
  const list = async (version: string): Promise<string[]> => {
    const { body } = await request(app).get(`${V1}/definition/template/adl1.4`).query({ version });
    return (body as Json[]).map(({ template_id: id }) => String(id));
  };
  expect(await list('*')).toEqual(['minimal_evaluation.en.v1']);
  expect(await list('1')).toEqual(['minimal_evaluation.en.v1']);
  expect(await list('2')).toEqual([]);
});

it('the declaration of XML names no encoding', async () => {
  const { text } = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`).set('Accept', 'application/xml');
  expect(text).toMatch(/^<\?xml version="1\.0"\?>\n<ehr_status/);
});

it('a query about an EHR that never existed is 404, however it names it', async () => {
  const unknown = '44444444-4444-4444-4444-444444444444';
  const q = 'SELECT e/ehr_id/value FROM EHR e';
  const path = `${V1}/query/aql`;
  const answers = [
    await request(app).get(path).query({ q, ehr_id: unknown }),
    await request(app).get(path).query({ q }).set('openehr-ehr-id', unknown),
    await request(app).post(path).send({ q, ehr_id: unknown }),
    await request(app)
      .post(path)
      .send({ q, query_parameters: { ehr_id: unknown } }),
  ];
  expect(answers.map(({ status }) => status).slice(0, 3)).toEqual([404, 404, 404]);
  // A variable is a value like any other.
  expect([answers[3]!.status, answers[3]!.body.rows?.length]).toEqual([200, 1]);
  expect((await request(app).post(path).send({ q, ehr_id: ehrId })).body.rows).toEqual([[ehrId]]);
});

it('a selected change type says what its paths say', async () => {
  const uid = await givenComposition(app, ehrId);
  const q = `SELECT v/commit_audit/change_type AS whole, v/commit_audit/change_type/defining_code/preferred_term AS part FROM VERSION v[LATEST_VERSION] CONTAINS COMPOSITION c WHERE v/uid/value = '${uid}'`;
  const { body } = await request(app).post(`${V1}/query/aql`).send({ q });
  expect(body.rows[0][0].defining_code.preferred_term).toBe('creation');
  expect(body.rows[0][1]).toBe('creation');
  const versions = 'VERSION v[LATEST_VERSION] CONTAINS EHR_STATUS s';
  const ofStatus = `SELECT v/commit_audit/change_type AS whole, v/commit_audit AS audit FROM EHR e CONTAINS ${versions}`;
  const found = await request(app).post(`${V1}/query/aql`).send({ q: ofStatus, ehr_id: ehrId });
  const [whole, audit] = found.body.rows[0];
  expect([whole, audit.change_type].map((each) => each.defining_code.preferred_term)).toEqual([
    'creation',
    'creation',
  ]);
});

it('a change type has its term wherever an audit is answered', async () => {
  const uid = await givenComposition(app, ehrId);
  const versioned = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}`;
  const version = (await request(app).get(`${versioned}/version/${uid}`)).body;
  const history = (await request(app).get(`${versioned}/revision_history`)).body;
  const contribution = await request(app).get(
    `${V1}/ehr/${ehrId}/contribution/${version.contribution.id.value}`,
  );
  const audits = [version.commit_audit, history.items[0].audits[0], contribution.body.audit];
  expect(audits.map(({ change_type: type }) => type.defining_code.preferred_term)).toEqual([
    ...['creation', 'creation', 'creation'],
  ]);
});

it('the target of an ITEM_TAG is the id of what has it', async () => {
  const uid = await givenComposition(app, ehrId);
  const container = versionedObjectUidOf(uid);
  for (const [path, target] of [
    [`composition/${container}`, { _type: 'HIER_OBJECT_ID', value: container }],
    [`composition/${uid}`, { _type: 'OBJECT_VERSION_ID', value: uid }],
  ] as const) {
    const tags = await request(app)
      .put(`${V1}/ehr/${ehrId}/${path}/tags`)
      .set('Prefer', 'return=representation')
      .send([{ key: 'a' }]);
    expect([tags.status, tags.body[0].target]).toEqual([200, target]);
  }
});

describe('letter case', () => {
  it('of a version uid makes no difference to If-Match and preceding_version_uid', async () => {
    const uid = await givenComposition(app, ehrId);
    const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;
    const put = await request(app).put(path).set('If-Match', `"${uid.toUpperCase()}"`).send(aComposition());
    expect([put.status, versionUidOf(put)]).toEqual([200, uid.replace(/1$/, '2')]);
    const change_type = { terminology_id: { value: 'openehr' }, code_string: '251' };
    const contribution = await request(app)
      .post(`${V1}/ehr/${ehrId}/contribution`)
      .send({
        versions: [
          {
            commit_audit: { change_type },
            data: aComposition(),
            preceding_version_uid: { value: versionUidOf(put).toUpperCase() },
          },
        ],
      });
    expect(contribution.status).toBe(201);
  });

  it('of a version uid in a path, in a query and as the id that a client chose makes no difference', async () => {
    const chosen = `${randomUUID()}::${'local.cdr'.toUpperCase()}::1`;
    const made = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .send({ ...aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value: chosen } });
    const uid = versionUidOf(made);
    expect([made.status, uid]).toEqual([201, chosen.toLowerCase()]);
    const [container] = uid.split('::');
    const loud = uid.toUpperCase();
    for (const path of [`composition/${loud}`, `versioned_composition/${container}/version/${loud}`]) {
      const read = await request(app).get(`${V1}/ehr/${ehrId}/${path}`);
      expect([read.status, read.headers['etag']]).toEqual([200, `"${uid}"`]);
    }
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    const version = `ehr_status/${versionUidOf(status).toUpperCase()}`;
    expect((await request(app).get(`${V1}/ehr/${ehrId}/${version}`)).status).toBe(200);
    for (const condition of [`c/uid/value = '${loud}'`, `c/uid/value MATCHES {'${loud}'}`]) {
      const q = `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE ${condition}`;
      expect((await request(app).post(`${V1}/query/aql`).send({ q })).body.rows).toEqual([[uid]]);
    }
    const tagged = await request(app)
      .put(`${V1}/ehr/${ehrId}/composition/${loud}/tags`)
      .send([{ key: 'a' }]);
    expect(tagged.status).toBe(200);
    const foreign = uid.replace('local.cdr', 'other.cdr');
    expect((await request(app).get(`${V1}/ehr/${ehrId}/composition/${foreign}`)).status).toBe(404);
    expect((await request(app).delete(`${V1}/ehr/${ehrId}/composition/${loud}`)).status).toBe(204);
  });

  const path = (name: string, version = ''): string =>
    `${V1}/definition/query/${name}${version === '' ? '' : `/${version}`}`;
  const store = (name: string, version: string): request.Test =>
    request(app)
      .put(path(name, version))
      .set('Content-Type', 'text/plain')
      .send('SELECT e/ehr_id/value FROM EHR e');

  it('of the name of a stored query makes no difference', async () => {
    expect((await store('org.letters::Pressures', '1.0.0')).status).toBe(200);
    expect((await store('ORG.LETTERS::pressures', '1.0.0')).status).toBe(409);
    const next = await store('ORG.LETTERS::pressures', '1.1.0');
    expect([next.status, next.body.name]).toEqual([200, 'org.letters::Pressures']);
    const read = await request(app).get(path('ORG.LETTERS::PRESSURES', '1'));
    expect([read.status, read.body.version]).toEqual([200, '1.1.0']);
    expect((await request(app).get(`${V1}/query/org.letters::PRESSURES/1.0.0`)).status).toBe(200);
    expect((await request(app).get(path('org.LETTERS::'))).body).toHaveLength(2);
  });

  it('of a name that several store at once makes one name, and of one version one query', async () => {
    for (let round = 0; round < 8; round += 1) {
      const names = [`org.example::Race${round}`, `ORG.EXAMPLE::race${round}`, `Org.Example::RACE${round}`];
      const same = await Promise.all(names.map((name) => store(name, '1.0.0')));
      expect(same.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const others = names.map((name) => name.replace('ace', 'ing').replace('ACE', 'ING'));
      const different = await Promise.all(others.map((name, index) => store(name, `${index + 1}.0.0`)));
      expect(different.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(different.map(({ body }) => String(body.name))).size).toBe(1);
      const next = await Promise.all(names.map((name) => store(name, '')));
      expect(next.map(({ body }) => String(body.version)).sort()).toEqual(['2.0.0', '3.0.0', '4.0.0']);
    }
    const apart = (await namesThatDifferInCase()).flat();
    expect(apart.filter((name) => /::r(ace|ing)\d$/i.test(name))).toEqual([]);
  });

  it('of two names that an older release took side by side tells which is meant', async () => {
    await store('org.example::Twin', '1.0.0');
    const queries = mongoose.connection.collection<{ _id: string; name: string; query_name: string }>(
      'stored_queries',
    );
    const twin = await queries.findOne({ _id: 'org.example::Twin/1.0.0' });
    await queries.insertOne({
      ...twin!,
      _id: 'org.example::TWIN/1.0.0',
      name: 'org.example::TWIN',
      query_name: 'TWIN',
    });
    for (const [asked, found] of [
      ['org.example::Twin', 'org.example::Twin'],
      ['org.example::TWIN', 'org.example::TWIN'],
      ['org.example::twin', 'org.example::TWIN'],
    ] as const)
      expect((await request(app).get(path(asked, '1'))).body.name).toBe(found);
    expect(await namesThatDifferInCase()).toEqual([['org.example::TWIN', 'org.example::Twin']]);
  });
});
