import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
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

  it('commits a CONTRIBUTION with the names of its own classes', async () => {
    const change_type = {
      _type: 'DV_CODED_TEXT',
      value: 'creation',
      defining_code: {
        _type: 'CODE_PHRASE',
        terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
        code_string: '249',
      },
    };
    const audit = {
      _type: 'AUDIT_DETAILS',
      system_id: 'test-system',
      change_type,
      committer: { _type: 'PARTY_IDENTIFIED', name: 'Test' },
    };
    const body = {
      _type: 'CONTRIBUTION_CREATE_DTO',
      versions: [
        { _type: 'ORIGINAL_VERSION', branch: false, commit_audit: audit, data: aComposition() },
        { _type: 'ORIGINAL_VERSION', branch: false, commit_audit: audit, data: aComposition() },
      ],
      audit,
    };
    const made = await write('POST', `${EHR}${ehrId}/contribution`, body);
    expect([made.status, made.text]).toEqual([201, '']);
    const got = JSON.parse((await read(`${EHR}${ehrId}/contribution/${etagOf(made)}`)).text) as Json;
    expect([got._type, got.versions.length]).toEqual(['CONTRIBUTION', 2]);
  });
});
