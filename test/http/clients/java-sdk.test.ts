import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';
import { replay, type Answer } from '../../support/wire.js';

/*
 * The calls of EHRbase's Java SDK (client 2.28, `DefaultRestClient` on Apache's fluent HttpClient 4), byte for byte: its
 * addresses end in a slash, its JSON says `charset=UTF-8`, its XML `charset=ISO-8859-1`, a missing object is `null`.
 */

const EHR = '/rest/openehr/v1/ehr/';
const TEMPLATES = '/rest/openehr/v1/definition/template/adl1.4/';
const QUERY = '/rest/openehr/v1/query/aql/';
const TEMPLATE = 'minimal_evaluation.en.v1';
const JSON_TYPE = 'application/json; charset=UTF-8';
/** What Jackson's OffsetDateTime reads there. */
const THREE_DIGITS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)$/;
const VERSION_UID = /^[0-9a-f-]{36}::[\w.]+::\d+$/;

let server: Server;

useDatabase();

beforeAll(async () => {
  server = await testServer(testSettings({}));
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

interface Sent {
  readonly accept?: string;
  readonly type?: string;
  readonly body?: string | Buffer;
  readonly ifMatch?: string;
}

/** Sends a request with the headers that HttpClient writes, in their order. */
function send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { accept, type, body, ifMatch } = sent;
  const headers: [string, string][] = [];
  if (accept !== undefined) headers.push(['Accept', accept]);
  if (ifMatch !== undefined) headers.push(['If-Match', ifMatch]);
  if (body !== undefined) headers.push(['Content-Type', type ?? JSON_TYPE]);
  headers.push(['User-Agent', 'Apache-HttpClient/4.5.14 (Java/17.0.2)'], ['Accept-Encoding', 'identity']);
  return replay(server, { method, path, headers, ...(body === undefined ? {} : { body }) });
}

/** As `DefaultRestClient.httpPost` and `httpPut`: any of three statuses, and the version in the ETag. */
function etagOf({ status, headers, text }: Answer): string {
  if (![200, 201, 204].includes(status)) throw new Error(`${status} ${text}`);
  return (headers.get('etag') ?? '').replaceAll('"', '');
}

const write = (method: string, path: string, body: unknown, ifMatch?: string): Promise<Answer> =>
  send(method, path, {
    accept: 'application/json',
    body: JSON.stringify(body),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  });

const read = (path: string): Promise<Answer> => send('GET', path, { accept: 'application/json' });

const FOLDER = {
  _type: 'FOLDER',
  name: { _type: 'DV_TEXT', value: 'root' },
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
};

describe('the SDK of EHRbase', () => {
  let uploaded: Answer;
  let created: Answer;
  let createdWithStatus: Answer;
  let ehrId = '';
  beforeAll(async () => {
    uploaded = await send('POST', TEMPLATES, {
      accept: 'application/xml',
      type: 'application/xml; charset=ISO-8859-1',
      body: Buffer.from(fixtureText(`opt/${TEMPLATE}.opt`), 'latin1'),
    });
    created = await write('POST', EHR, null);
    createdWithStatus = await write('POST', EHR, {
      _type: 'EHR_STATUS',
      subject: { _type: 'PARTY_SELF' },
      is_modifiable: true,
      is_queryable: true,
    });
    ehrId = etagOf(created);
  });

  it('uploads a template as Latin-1 and finds it in the list and as XML', async () => {
    expect(etagOf(uploaded)).toBe(TEMPLATE);
    const list = JSON.parse((await read(TEMPLATES)).text) as Json[];
    expect(list).toMatchObject([{ template_id: TEMPLATE }]);
    expect(list[0]!.created_timestamp).toMatch(THREE_DIGITS);
    const found = await send('GET', TEMPLATES + TEMPLATE, { accept: 'application/xml' });
    expect([found.status, found.text]).toEqual([200, expect.stringContaining('<template')]);
  });

  it('creates an EHR with the body null, and with an EHR_STATUS', async () => {
    expect(ehrId).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.headers.get('location')).toMatch(new RegExp(`/rest/openehr/v1/ehr/${ehrId}$`));
    expect(etagOf(createdWithStatus)).not.toBe(ehrId);
    expect(JSON.parse((await read(EHR + ehrId)).text)).toMatchObject({ ehr_id: { value: ehrId } });
  });

  it('reads and updates the EHR_STATUS', async () => {
    const status = JSON.parse((await read(`${EHR}${ehrId}/ehr_status`)).text) as Json;
    const uid = status.uid.value as string;
    const next = etagOf(await write('PUT', `${EHR}${ehrId}/ehr_status`, status, uid));
    expect(next).toBe(uid.replace(/1$/, '2'));
    expect(etagOf(await write('PUT', `${EHR}${ehrId}/ehr_status`, status, `"${next}"`))).toMatch(/::3$/);
  });

  it('commits, changes, reads and deletes a COMPOSITION', async () => {
    const path = `${EHR}${ehrId}/composition/`;
    const created = await write('POST', path, aComposition());
    const first = etagOf(created);
    expect(first).toMatch(VERSION_UID);
    expect(created.headers.get('location')).toContain(`/composition/${first}`);
    const [container = ''] = first.split('::');
    const changed = { ...aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value: first } };
    const second = etagOf(await write('PUT', path + container, changed, `"${first}"`));
    expect(second).toBe(first.replace(/1$/, '2'));
    const got = JSON.parse((await read(path + container)).text) as Json;
    expect([got._type, got.uid.value]).toEqual(['COMPOSITION', second]);
    const versioned = JSON.parse(
      (await read(`${EHR}${ehrId}/versioned_composition/${container}`)).text,
    ) as Json;
    expect(versioned).toMatchObject({ uid: { value: container }, owner_id: { id: { value: ehrId } } });
    const deleted = await send('DELETE', path + second);
    expect([deleted.status, etagOf(deleted)]).toEqual([204, second.replace(/2$/, '3')]);
    expect((await read(path + container)).status).toBe(204);
  });

  it('makes and changes a directory', async () => {
    const path = `${EHR}${ehrId}/directory/`;
    const first = etagOf(await write('POST', path, FOLDER));
    const changed = { ...FOLDER, folders: [{ ...FOLDER, name: { _type: 'DV_TEXT', value: 'a' } }] };
    expect(etagOf(await write('PUT', path, changed, first))).toBe(first.replace(/1$/, '2'));
    expect(JSON.parse((await read(path)).text)).toMatchObject({ folders: [{ name: { value: 'a' } }] });
  });

  it('queries, with and without parameters', async () => {
    const aql = (body: object) => write('POST', QUERY, body);
    const q = 'Select e/ehr_id/value as ehr from EHR e where e/ehr_id/value = $ehr';
    const answer = await aql({ q, query_parameters: { ehr: ehrId } });
    expect(JSON.parse(answer.text)).toMatchObject({ q, columns: [{ name: 'ehr' }], rows: [[ehrId]] });
    const all = await aql({ q: 'SELECT e/ehr_id/value FROM EHR e' });
    expect((JSON.parse(all.text) as Json).rows).toHaveLength(2);
  });

  it('reads the history of a COMPOSITION and its versions, by id and at a time', async () => {
    const first = etagOf(await write('POST', `${EHR}${ehrId}/composition/`, aComposition()));
    const [container = ''] = first.split('::');
    const between = new Date(Date.now() + 1).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const second = etagOf(
      await write('PUT', `${EHR}${ehrId}/composition/${container}`, aComposition(), first),
    );
    const versioned = `${EHR}${ehrId}/versioned_composition/${container}`;
    const history = JSON.parse((await read(`${versioned}/revision_history`)).text) as Json;
    expect(history.items.map((item: Json) => item.version_id.value)).toEqual([first, second]);
    for (const [path, uid] of [
      [`version/${first}`, first],
      ['version', second],
      [`version?version_at_time=${between}`, first],
    ] as const) {
      const found = JSON.parse((await read(`${versioned}/${path}`)).text) as Json;
      expect([path, found._type, found.uid.value]).toEqual([path, 'ORIGINAL_VERSION', uid]);
    }
  });

  it('is told 404 of what is not there and 412 of what is outdated', async () => {
    const first = etagOf(await write('POST', `${EHR}${ehrId}/composition/`, aComposition()));
    const path = `${EHR}${ehrId}/composition/${first.split('::')[0] ?? ''}`;
    await write('PUT', path, aComposition(), first);
    const status = JSON.parse((await read(`${EHR}${ehrId}/ehr_status`)).text) as Json;
    const nobody = '11111111-2222-4333-8444-555555555555';
    const answers = [
      await write('PUT', path, aComposition(), first),
      await write(
        'PUT',
        `${EHR}${ehrId}/ehr_status`,
        status,
        `${String(status.uid.value).split('::')[0]}::local.ehr::9`,
      ),
      await send('GET', `${TEMPLATES}nowhere`, { accept: 'application/xml' }),
      await read(`${EHR}${nobody}/ehr_status`),
      await read(`${EHR}${ehrId}/composition/${nobody}`),
      await read(`${EHR}${ehrId}/versioned_composition/${nobody}`),
      await read(`${EHR}${etagOf(createdWithStatus)}/directory/`),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([412, 412, 404, 404, 404, 404, 404]);
    expect((await write('POST', QUERY, { q: 'SELECT e FORM EHR e' })).status).toBe(400);
  });

  it('stores a query and runs it', async () => {
    const q = 'SELECT e/ehr_id/value FROM EHR e ORDER BY e/ehr_id/value';
    const stored = await send('PUT', '/rest/openehr/v1/definition/query/org.sdk::ehrs/1.0.0', {
      ...{ accept: 'application/json', type: 'text/plain; charset=UTF-8', body: q },
    });
    expect(stored.status).toBe(200);
    const run = async (parameters: string): Promise<Json> =>
      JSON.parse((await read(`/rest/openehr/v1/query/org.sdk::ehrs/1.0.0${parameters}`)).text) as Json;
    expect((await run(`?ehr_id=${ehrId}`)).rows).toEqual([[ehrId]]);
    const all = (await run('')).rows as Json[];
    expect((await run('?offset=1&fetch=1')).rows).toEqual(all.slice(1, 2));
  });

  const changeType = (value: string, code_string: string): Json => ({
    _type: 'DV_CODED_TEXT',
    value,
    defining_code: {
      ...{ _type: 'CODE_PHRASE', code_string },
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    },
  });
  const auditOf = (value: string, code: string): Json => ({
    _type: 'AUDIT_DETAILS',
    system_id: 'test-system',
    change_type: changeType(value, code),
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Test' },
  });
  const version = (audit: Json, more: Json): Json => ({
    _type: 'ORIGINAL_VERSION',
    branch: false,
    commit_audit: audit,
    ...more,
  });
  const contribute = async (versions: readonly Json[], audit: Json): Promise<Answer> =>
    write('POST', `${EHR}${ehrId}/contribution`, { _type: 'CONTRIBUTION_CREATE_DTO', versions, audit });

  it('commits a CONTRIBUTION with the names of its own classes', async () => {
    const audit = auditOf('creation', '249');
    const data = aComposition();
    const made = await contribute([version(audit, { data }), version(audit, { data })], audit);
    expect([made.status, made.text]).toEqual([201, '']);
    const got = JSON.parse((await read(`${EHR}${ehrId}/contribution/${etagOf(made)}`)).text) as Json;
    expect([got._type, got.versions.length]).toEqual(['CONTRIBUTION', 2]);
  });

  it('changes and deletes in a CONTRIBUTION, a COMPOSITION and the directory', async () => {
    const first = etagOf(await write('POST', `${EHR}${ehrId}/composition/`, aComposition()));
    const folders = `${EHR}${etagOf(createdWithStatus)}/directory/`;
    const preceding = (value: string): Json => ({
      preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value },
    });
    const changed = auditOf('modification', '251');
    const modified = await contribute(
      [version(changed, { ...preceding(first), data: aComposition() })],
      changed,
    );
    expect([modified.status, modified.text]).toEqual([201, '']);
    const second = first.replace(/1$/, '2');
    expect((await read(`${EHR}${ehrId}/composition/${second}`)).status).toBe(200);
    const gone = auditOf('deleted', '523');
    const deleted = await contribute([version(gone, preceding(second))], gone);
    expect([deleted.status, deleted.text]).toEqual([201, '']);
    expect((await read(`${EHR}${ehrId}/composition/${first.split('::')[0] ?? ''}`)).status).toBe(204);
    const creation = auditOf('creation', '249');
    const made = await write('POST', folders.replace('directory/', 'contribution'), {
      ...{ _type: 'CONTRIBUTION_CREATE_DTO', audit: creation },
      versions: [version(creation, { data: FOLDER })],
    });
    expect([made.status, made.text]).toEqual([201, '']);
    expect(JSON.parse((await read(folders)).text)).toMatchObject({
      _type: 'FOLDER',
      name: { value: 'root' },
    });
  });
});

describe('the administration of the SDK of EHRbase', () => {
  let admin: Server;
  beforeAll(async () => {
    admin = await testServer(testSettings(WITH_ADMIN));
  });
  afterAll(() => new Promise((resolve) => admin.close(resolve)));

  it('deletes an EHR and a template, and is told of those that are not there or in use', async () => {
    const remove = async (path: string): Promise<number> => {
      const headers = [
        ['Authorization', ADMIN],
        ['Accept-Encoding', 'identity'],
      ] as const;
      return (await replay(admin, { method: 'DELETE', path: `/rest/admin/${path}`, headers })).status;
    };
    const unused = 'minimal_admin.en.v1';
    await send('POST', TEMPLATES, {
      ...{ accept: 'application/xml', type: 'application/xml; charset=ISO-8859-1' },
      body: Buffer.from(fixtureText(`opt/${unused}.opt`), 'latin1'),
    });
    const ehr = etagOf(await write('POST', EHR, null));
    const other = etagOf(await write('POST', EHR, null));
    await write('POST', `${EHR}${other}/composition/`, aComposition());
    expect([
      ...[await remove(`ehr/${ehr}`), await remove(`ehr/${ehr}`)],
      ...[await remove(`template/${TEMPLATE}`), await remove(`template/${unused}`)],
    ]).toEqual([204, 404, 422, 202]);
  });
});
