import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { creation, FOLDER } from '../../support/api/world.js';
import { useDatabase } from '../../support/database.js';
import { LARGE_TEMPLATE } from '../../support/large-bodies.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { RELEASE_1_1 } from '../../support/settings.js';

/** A CONTRIBUTION whose COMPOSITIONs are in FLAT or STRUCTURED, in both dialects. docs/spec/rest.md#contribution */
const APPS = { '1.0.3': testApp(), '1.1.0': testApp(RELEASE_1_1) } as const;
const app = APPS['1.0.3'];
const TEMPLATE = 'minimal_evaluation.en.v1';
const MAGNITUDE = 'minimal/minimal:0/quantity|magnitude';
const FORMS = {
  FLAT: 'application/openehr.wt.flat+json',
  'FLAT, older name': 'application/openehr.wt.flat.schema+json',
  STRUCTURED: 'application/openehr.wt.structured+json',
  'STRUCTURED, older name': 'application/openehr.wt.structured.schema+json',
} as const;

useDatabase();
let ehrId = '';
/** The same COMPOSITION in each form, as this server writes it, without its uid. */
const contents: Record<string, Json> = {};
/** One of the template that may have any number of entries, in FLAT. */
let entries: Json = {};
const at = (path = ''): string => `${V1}/ehr/${ehrId}${path}`;

beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  const uid = await givenComposition(app, ehrId);
  for (const form of Object.values(FORMS)) contents[form] = await readAs(form, uid);
  await givenTemplate(app, LARGE_TEMPLATE);
  entries = await readAs(FORMS.FLAT, await givenComposition(app, ehrId, aComposition(LARGE_TEMPLATE)));
});

/** A COMPOSITION as it is read in a form, without what says its uid. */
async function readAs(form: string, uid: string): Promise<Json> {
  const { text } = await request(app)
    .get(at(`/composition/${uid}`))
    .set('Accept', form)
    .expect(200);
  return withoutUid(JSON.parse(text) as Json);
}

function withoutUid(content: Json): Json {
  const kept = Object.entries(content).filter(([key]) => !key.endsWith('/_uid'));
  return Object.fromEntries(
    kept.map(([key, value]) =>
      typeof value === 'object' && value !== null && '_uid' in value
        ? [key, Object.fromEntries(Object.entries(value as Json).filter(([name]) => name !== '_uid'))]
        : [key, value],
    ),
  );
}

interface Sent {
  readonly form?: string;
  readonly template?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly listener?: typeof app;
}

function commit(
  body: object,
  { form = FORMS.FLAT, template = TEMPLATE, headers = {}, listener = app }: Sent = {},
): request.Test {
  return request(listener)
    .post(at('/contribution'))
    .set({ 'Content-Type': form, ...(template !== '' && { 'openehr-template-id': template }), ...headers })
    .send(JSON.stringify(body));
}

/** One CONTRIBUTION that makes all of them. */
function creations(...data: object[]): Json {
  return { ...creation({}), versions: data.flatMap((each) => (creation(each) as Json).versions as Json[]) };
}

const REPRESENTATION = { Prefer: 'return=representation, resolve_refs' };

describe.each(Object.entries(FORMS))('%s', (_, form) => {
  it('is read as a POST of the COMPOSITION reads it', async () => {
    const direct = await request(app)
      .post(at('/composition'))
      .set({ 'Content-Type': form, 'openehr-template-id': TEMPLATE })
      .send(JSON.stringify(contents[form]));
    const wanted = await readAs('application/json', versionUidOf(direct));
    for (const listener of Object.values(APPS)) {
      const made = await commit(creation(contents[form]!), { form, listener, headers: REPRESENTATION });
      expect([made.status, made.headers['content-type']]).toEqual([201, 'application/json; charset=utf-8']);
      const [version] = (made.body as Json).versions as Json[];
      expect({ ...(version!.data as Json), uid: undefined }).toEqual({ ...wanted, uid: undefined });
      expect(await readAs('application/json', version!.uid.value as string)).toEqual(version!.data);
    }
  });

  it('is answered where Accept names it', async () => {
    const headers = { ...REPRESENTATION, Accept: form };
    const made = await commit(creations(contents[form]!, FOLDER), { form, headers: { ...headers } });
    expect([made.status, made.headers['content-type']]).toEqual([201, `${form}; charset=utf-8`]);
    const contribution = JSON.parse(made.text) as Json;
    expect(contribution._type).toBe('CONTRIBUTION');
    const [composition, folder] = contribution.versions as Json[];
    expect(withoutUid(composition!.data as Json)).toEqual(contents[form]);
    expect((folder!.data as Json)._type).toBe('FOLDER');
    const uid = contribution.uid.value as string;
    const read = await request(app)
      .get(at(`/contribution/${uid}`))
      .set(headers);
    expect(read.text).toBe(made.text);
    const references = await request(app)
      .get(at(`/contribution/${uid}`))
      .set('Accept', form);
    expect((JSON.parse(references.text) as Json).versions[0]._type).toBe('OBJECT_REF');
    await request(app)
      .delete(at('/directory'))
      .set('If-Match', folder!.uid.value as string);
  });
});

it('names its template by the query too, not by both', async () => {
  const send = (headers: Record<string, string>, query: string) =>
    request(app)
      .post(`${at('/contribution')}${query}`)
      .set({ 'Content-Type': FORMS.FLAT, ...headers })
      .send(JSON.stringify(creation(contents[FORMS.FLAT]!)));
  expect((await send({}, `?templateId=${TEMPLATE}`)).status).toBe(201);
  expect((await send({ 'openEHR-TEMPLATE_ID': TEMPLATE }, '')).status).toBe(201);
  expect((await send({ 'openehr-template-id': TEMPLATE }, '?templateId=other')).status).toBe(400);
});

it('has EHR_STATUS and FOLDER canonical, which need no template', async () => {
  const { body, headers } = await request(app).get(at('/ehr_status'));
  const made = creations(FOLDER, body as Json);
  const status = made.versions[1] as Json;
  status.preceding_version_uid = { _type: 'OBJECT_VERSION_ID', value: versionUidOf({ headers }) };
  status.commit_audit.change_type.value = 'modification';
  status.commit_audit.change_type.defining_code.code_string = '251';
  const answer = await commit(made, { template: '' });
  expect([answer.status, answer.text]).toEqual([201, '']);
  const directory = await request(app).get(at('/directory'));
  await request(app).delete(at('/directory')).set('If-Match', versionUidOf(directory));
});

it('changes what is there, and names a new COMPOSITION beside its data', async () => {
  const uid = '0f2b8c7e-3a5d-4e8f-9b1c-6d7e8f9a0b1c::local.cdr::1';
  const made = creation(contents[FORMS.FLAT]!) as Json;
  made.versions[0].uid = { _type: 'OBJECT_VERSION_ID', value: uid };
  expect((await commit(made)).status).toBe(201);
  expect((await readAs(FORMS.FLAT, uid))[MAGNITUDE]).toBe(contents[FORMS.FLAT]![MAGNITUDE]);
  const change = creation({ ...contents[FORMS.FLAT]!, [MAGNITUDE]: 12 }) as Json;
  change.versions[0].preceding_version_uid = { _type: 'OBJECT_VERSION_ID', value: uid };
  change.versions[0].commit_audit.change_type.value = 'modification';
  change.versions[0].commit_audit.change_type.defining_code.code_string = '251';
  expect((await commit(change)).status).toBe(201);
  expect((await readAs(FORMS.FLAT, versionedObjectUidOf(uid)))[MAGNITUDE]).toBe(12);
});

it('is the same when it is sent again with its key', async () => {
  const headers = { ...REPRESENTATION, Accept: FORMS.STRUCTURED, 'Idempotency-Key': 'the same again' };
  const send = () => commit(creation(contents[FORMS.FLAT]!), { headers });
  const [first, again] = [await send(), await send()];
  expect([first.status, again.text]).toEqual([201, first.text]);
});

describe('what is wrong', () => {
  const flat = (more: Json): Json => ({ ...contents[FORMS.FLAT]!, ...more });
  const refused = async (body: object, options: Sent = {}) => {
    const before = await dump();
    const answers = [];
    for (const listener of Object.values(APPS)) answers.push(await commit(body, { ...options, listener }));
    expect((await dump()) === before).toBe(true);
    return {
      statuses: answers.map(({ status }) => status),
      violations: answers.map(({ body: error }) => (error as Json).violations as Json[]),
      message: String((answers[0]!.body as Json).message),
    };
  };

  it('with the content stands in its version, with the key', async () => {
    const unit = 'encounter/body_temperature:0/any_event:0/temperature|unit';
    const wrong = [{ ...entries }, { ...entries, [unit]: 'C' }];
    const { statuses, violations } = await refused(creations(...wrong), { template: LARGE_TEMPLATE });
    expect(statuses).toEqual([400, 422]);
    for (const found of violations)
      expect(found).toMatchObject([
        {
          code: 'unit-not-allowed',
          path: '/versions[1]/data/content[0]/data/events[0]/data/items[0]/value',
          flatPath: unit,
        },
      ]);
  });

  it('with what is missing is told by the key that would give it', async () => {
    const anonymous = Object.entries(contents[FORMS.FLAT]!).filter(([key]) => !key.includes('/composer'));
    const { statuses, violations } = await refused(creations(Object.fromEntries(anonymous)));
    expect(statuses).toEqual([400, 400]);
    for (const found of violations)
      expect(found).toMatchObject([
        { code: 'missing', path: '/versions[0]/data/composer', flatPath: 'ctx/composer_name' },
      ]);
  });

  it('with a key stands in its version, with the key', async () => {
    const key = 'minimal/minimal:0/quantity|magnitud';
    const { statuses, violations } = await refused(creations(flat({}), flat({ [key]: 1 })));
    expect(statuses).toEqual([400, 400]);
    for (const found of violations)
      expect(found).toMatchObject([{ code: 'unknown-key', path: '/versions[1]/data', flatPath: key }]);
  });

  it('with the form: canonical data, or the other form', async () => {
    const canonical = await refused(creations(aComposition()));
    expect([canonical.statuses, canonical.violations[0]]).toEqual([
      [400, 400],
      [expect.objectContaining({ code: 'wrong-form', path: '/versions[0]/data' })],
    ]);
    const other = await refused(creations(contents[FORMS.STRUCTURED]!));
    expect(other.statuses).toEqual([400, 400]);
    const simplified = await refused(creations(flat({})), { form: 'application/json' });
    expect([simplified.statuses, simplified.message]).toEqual([
      [400, 400],
      expect.stringContaining('with its _type'),
    ]);
    expect((await refused({ ...creation({}), versions: [{ data: 1 }] })).statuses).toEqual([400, 400]);
  });

  it('with the template: none is named 400, an unknown one 422', async () => {
    const none = await refused(creations(flat({})), { template: '' });
    expect([none.statuses, none.message]).toEqual([
      [400, 400],
      expect.stringMatching(/^versions\[0\]: the template id is required/),
    ]);
    expect((await refused(creations(flat({})), { template: 'none' })).statuses).toEqual([422, 422]);
  });

  it('with the media types: 415 and 406', async () => {
    expect((await refused(creations(flat({})), { form: 'application/openehr.wt+json' })).statuses).toEqual([
      415, 415,
    ]);
    const headers = { Accept: 'application/openehr.wt+json' };
    expect((await refused(creations(flat({})), { headers })).statuses).toEqual([406, 406]);
  });
});

it('is read in another thread when it is large', async () => {
  const others = /^encounter\/body_temperature:[1-9]/;
  const one = Object.fromEntries(Object.entries(entries).filter(([key]) => !others.test(key)));
  const repeated = Object.entries(one).filter(([key]) => key.startsWith('encounter/body_temperature:0/'));
  const count = Math.ceil(300_000 / JSON.stringify(Object.fromEntries(repeated)).length);
  const large = { ...one };
  for (let index = 1; index < count; index += 1)
    for (const [key, value] of repeated) large[key.replace(':0/', `:${index}/`)] = value;
  const made = await commit(creations(large, one), { template: LARGE_TEMPLATE, headers: REPRESENTATION });
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ _type: 'CONTRIBUTION' })]);
  const [first, second] = (made.body as Json).versions as Json[];
  expect((first!.data.content as Json[]).length).toBe((second!.data.content as Json[]).length + count - 1);
  const wrong = await commit(creations(one, { ...large, 'ctx/languag': 'en' }), { template: LARGE_TEMPLATE });
  expect([wrong.status, (wrong.body as Json).violations]).toEqual([
    400,
    [expect.objectContaining({ path: '/versions[1]/data', flatPath: 'ctx/languag' })],
  ]);
});
