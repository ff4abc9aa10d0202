import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { putCategories, type SentCategory } from '../../support/policy/categories.js';
import { MARK_ROLES, putMarks, ROOT, tokenOf, WITHHELD } from '../../support/policy/marks.js';
import { putPolicy } from '../../support/policy/put.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  type Json,
} from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

useDatabase();

const enforcing = everythingOn({ auth: 'jwt', accessMode: 'enforce', auditReads: true });
const settings = { ...enforcing, rolePermissions: MARK_ROLES };
const app = testApp(settings);
const two = testApp({ ...settings, fourEyes: ['policy'] });
const open = testApp();
const NURSE = tokenOf(['USER'], {}, 'nurse');
const OTHER = tokenOf(['ADMIN'], {}, 'other-admin');
const NOTE = 'minimal_evaluation.en.v1';
const NEXT = 'minimal_observation.en.v1';
const LIST = 'persistent_minimal.en.v1';
const MINIMAL = 'openEHR-EHR-COMPOSITION.minimal.v1';
const ENTRY = 'openEHR-EHR-OBSERVATION.x.v1';
const PERMIT = 'permit (principal, action, resource);';
const PSYCHIATRY = `forbid (principal, action, resource is Version)
when { resource.categories.contains("psychiatry") }
unless { principal.roles.contains("PSYCHIATRIST") };`;
const OF_COMPOSITIONS = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';

const admin = (method: 'get' | 'post' | 'delete', path: string, token = ROOT) =>
  request(app)[method](`/rest/admin${path}`).set('Authorization', token);
const put = (categories: readonly SentCategory[]) => putCategories(app, categories);
const policy = (id: string, text: string) => putPolicy(app, id, text, ROOT);

interface PatientRecord {
  readonly ehr: string;
  readonly note: string;
  readonly next: string;
  readonly list: string;
}

async function givenRecord(): Promise<PatientRecord> {
  const ehr = await givenEhr(open);
  const of = (name: string) => givenComposition(open, ehr, aComposition(name));
  return { ehr, note: await of(NOTE), next: await of(NEXT), list: await of(LIST) };
}

/** What of a record somebody sees, by reads and by a query alike. */
async function seen({ ehr, ...uids }: PatientRecord, token = NURSE): Promise<string[]> {
  const names: string[] = [];
  for (const [name, uid] of Object.entries(uids)) {
    const path = `${V1}/ehr/${ehr}/composition/${uid}`;
    const { status } = await request(app).get(path).set('Authorization', token);
    if (status === 200) names.push(name);
    else expect(status).toBe(404);
  }
  for (const about of [{ ehr_id: ehr }, {}]) {
    const asked = request(app).post(`${V1}/query/aql`).set('Authorization', token);
    const { body } = await asked.send({ q: OF_COMPOSITIONS, ...about }).expect(200);
    const rows = (body as { rows: string[][] }).rows.flat();
    const found = Object.entries(uids).flatMap(([name, uid]) => (rows.includes(uid) ? [name] : []));
    expect(found).toEqual(names);
  }
  return names;
}

beforeAll(async () => {
  for (const name of [NOTE, NEXT, LIST]) await givenTemplate(open, name);
});

beforeEach(() => policy('all', PERMIT).expect(200));

afterEach(async () => {
  const { body } = await admin('get', '/policies');
  for (const { id } of (body as Json)['policies']) await admin('delete', `/policies/${id}`).expect(204);
  await put([]).expect(200);
  expect((await verifyStorage()).violations).toEqual([]);
});

describe('the map of categories', () => {
  it('is one document, kept with every version, sealed, and followed by If-Match', async () => {
    const before = await admin('get', '/categories').expect(200);
    const { version } = before.body as { version: number };
    const made = await put([
      { name: 'psychiatry', templates: [NOTE] },
      { name: 'genetics', archetypes: [MINIMAL] },
    ]).expect(200);
    expect(made.body).toEqual({
      version: version + 1,
      categories: [
        { name: 'genetics', templates: [], archetypes: [MINIMAL] },
        { name: 'psychiatry', templates: [NOTE], archetypes: [] },
      ],
      time: expect.any(String),
      by: 'root',
    });
    const got = await admin('get', '/categories').expect(200);
    expect([got.body, got.headers['etag']]).toEqual([made.body, `"categories::${version + 1}"`]);
    const follow = (etag: string, body: object) =>
      request(app).put('/rest/admin/categories').set({ Authorization: ROOT, 'If-Match': etag }).send(body);
    await follow(`"categories::${version}"`, { categories: [] }).expect(412);
    await follow('"another"', { categories: [] }).expect(400);
    // As it was read.
    await follow(got.headers['etag'] as string, made.body as object).expect(200);
    const { body } = await admin('get', '/categories/versions').expect(200);
    expect((body as Json)['versions'].slice(-2)).toEqual([
      made.body,
      { ...(made.body as object), version: version + 2, time: expect.any(String) },
    ]);
    const audited = await admin('get', '/audit?operation=putCategories&status=200&fetch=1').expect(200);
    expect(audited.body).toMatchObject([{ target: 'categories', options: { version: version + 2 } }]);
  });

  it('says which templates it names that are not here', async () => {
    const { body } = await put([{ name: 'psychiatry', templates: [NOTE, 'psychiatry_note.v1'] }]).expect(200);
    expect(body).toMatchObject({ unknown_templates: ['psychiatry_note.v1'] });
  });

  it.each([
    ['an unknown member', { name: 'a', templates: ['x'], colour: 'red' }, '/categories/0/colour'],
    ['a name with blanks', { name: 'Psy chiatry', templates: ['x'] }, '/categories/0/name'],
    ["openEHR's own name", { name: 'event', templates: ['x'] }, '/categories/0/name'],
    ['the archetype of an entry', { name: 'a', archetypes: [ENTRY] }, '/categories/0/archetypes/0'],
    ['a template twice', { name: 'a', templates: ['x', 'x'] }, '/categories/0/templates/1'],
    ['nothing in it', { name: 'a' }, '/categories/0'],
  ])('is refused with %s, with place and reason', async (_, category, path) => {
    const { body } = await put([category]).expect(400);
    const [violation] = (body as Json)['violations'] as { path: string; message: string }[];
    expect(violation?.path).toBe(path);
    expect(violation?.message).not.toBe('');
  });

  it('keeps what policies and marks ask for, and says which these are', async () => {
    await put([
      { name: 'psychiatry', templates: [NOTE] },
      { name: 'genetics', templates: [NEXT] },
      { name: 'idle', templates: [NEXT] },
    ]).expect(200);
    await policy('psychiatrists', PSYCHIATRY).expect(200);
    const ehr = await givenEhr(open);
    await putMarks(app, ehr, [{ ...WITHHELD, category: 'genetics' }]).expect(200);
    const { body } = await put([]).expect(409);
    expect((body as Json)['message']).toBe(
      `the category genetics is in use by marks of the EHRs: ${ehr}; the category psychiatry is in use by policies: psychiatrists`,
    );
    // What is of it may change, and what nobody asks for may go.
    await put([
      { name: 'psychiatry', templates: [LIST] },
      { name: 'genetics', templates: [LIST] },
    ]).expect(200);
    await putMarks(app, ehr, []).expect(200);
    await put([{ name: 'psychiatry', templates: [LIST] }]).expect(200);
  });

  it('waits for a second person where changes of policies do', async () => {
    const asked = await putCategories(two, [{ name: 'psychiatry', templates: [NOTE] }]).expect(202);
    const { approval_id: id, plan } = asked.body as Json;
    expect(JSON.parse(plan.after as string)).toEqual([
      { name: 'psychiatry', templates: [NOTE], archetypes: [] },
    ]);
    expect((await admin('get', '/categories')).body).toMatchObject({ categories: [] });
    await request(two)
      .post(`/rest/admin/approval/${String(id)}/confirm`)
      .set('Authorization', OTHER)
      .send({})
      .expect(200);
    expect((await admin('get', '/categories')).body).toMatchObject({
      categories: [{ name: 'psychiatry' }],
      by: 'root',
      confirmed_by: 'other-admin',
    });
  });
});

describe('a policy', () => {
  it('that asks for a category which is not in the map is refused, with place and those that are', async () => {
    await put([{ name: 'genetics', templates: [NOTE] }]).expect(200);
    const message = 'there is no category "psychiatry"; there are episodic, event, persistent, genetics';
    const refused = await policy('psychiatrists', PSYCHIATRY).expect(422);
    expect((refused.body as Json)['message']).toBe(`line 2, column 37: ${message}`);
    const { body } = await admin('post', '/policies/validate').send({ policy: PSYCHIATRY }).expect(200);
    expect(body).toEqual({
      valid: false,
      findings: [{ kind: 'schema', message, line: 2, column: 37 }],
    });
    await put([{ name: 'psychiatry', templates: [NOTE] }]).expect(200);
    await policy('psychiatrists', PSYCHIATRY).expect(200);
  });

  it('that asks for a category without saying its name is refused', async () => {
    const text = `permit (principal, action, resource is Version)
when { resource.categories.containsAny(principal.roles) };`;
    const { body } = await policy('dynamic', text).expect(422);
    expect((body as Json)['message']).toMatch(/categories are asked for by their names/);
  });

  it('hides what is of a category by template, and the next template once the map has it', async () => {
    const record = await givenRecord();
    await put([{ name: 'psychiatry', templates: [NOTE] }]).expect(200);
    await policy('psychiatrists', PSYCHIATRY).expect(200);
    expect(await seen(record)).toEqual(['next', 'list']);
    expect(await seen(record, tokenOf(['USER', 'PSYCHIATRIST']))).toEqual(['note', 'next', 'list']);
    await put([{ name: 'psychiatry', templates: [NOTE, NEXT] }]).expect(200);
    expect(await seen(record)).toEqual(['list']);
    await put([{ name: 'psychiatry', templates: [LIST] }]).expect(200);
    expect(await seen(record)).toEqual(['note', 'next']);
    const decided = await admin('post', '/policies/decide')
      .send({ principal: { sub: 'x' }, action: 'read', resource: { ehr_id: record.ehr, uid: record.list } })
      .expect(200);
    expect(decided.body).toMatchObject({ decision: 'forbid', policies: ['psychiatrists'] });
  });

  it("hides what is of a category by the archetype of its root, and by openEHR's own", async () => {
    const record = await givenRecord();
    await put([{ name: 'psychiatry', archetypes: [MINIMAL] }]).expect(200);
    await policy('psychiatrists', PSYCHIATRY).expect(200);
    expect(await seen(record)).toEqual(['list']);
    await policy('psychiatrists', PSYCHIATRY.replace('psychiatry', 'persistent')).expect(200);
    expect(await seen(record)).toEqual(['note', 'next']);
  });
});

describe('a mark about a category', () => {
  it('withholds what is of it, and the next template once the map has it', async () => {
    const record = await givenRecord();
    const patient = tokenOf(['USER'], { ownEhrId: record.ehr }, 'patient');
    await put([{ name: 'psychiatry', templates: [NOTE] }]).expect(200);
    await putMarks(app, record.ehr, [{ ...WITHHELD, category: 'psychiatry' }], patient).expect(200);
    expect(await seen(record)).toEqual(['next', 'list']);
    expect(await seen(record, patient)).toEqual(['note', 'next', 'list']);
    await put([{ name: 'psychiatry', templates: [NOTE], archetypes: [MINIMAL] }]).expect(200);
    expect(await seen(record)).toEqual(['list']);
    await putMarks(app, record.ehr, []).expect(200);
  });

  it('that is not there is refused, with place and those that are; as it was kept it may be sent back', async () => {
    const ehr = await givenEhr(open);
    await put([{ name: 'genetics', templates: [NOTE] }]).expect(200);
    const marks = [WITHHELD, { ...WITHHELD, category: 'psychiatry' }];
    const { body } = await putMarks(app, ehr, marks).expect(400);
    expect((body as Json)['violations']).toMatchObject([
      {
        path: '/marks/1/category',
        message: 'there is no category "psychiatry"; there are episodic, event, persistent, genetics',
      },
    ]);
    await putMarks(app, ehr, [{ ...WITHHELD, category: 'genetics' }]).expect(200);
    await putMarks(app, ehr, []).expect(200);
  });
});

it('the record of a read, and the report of the patient, tell the categories of the map', async () => {
  const record = await givenRecord();
  await put([{ name: 'psychiatry', templates: [NOTE] }]).expect(200);
  expect(await seen(record)).toEqual(['note', 'next', 'list']);
  const report = await request(app)
    .get(`/rest/ehrs/${record.ehr}/access`)
    .set('Authorization', tokenOf(['AUDITOR'], {}, 'auditor'))
    .expect(200);
  const entries = (report.body as Json)['entries'] as Json[];
  const categories = entries.flatMap(({ objects, categories: of, operation }) =>
    operation === 'composition_get' && objects?.includes(record.note) === true ? [of] : [],
  );
  expect(categories).toEqual([['event', 'psychiatry']]);
});
