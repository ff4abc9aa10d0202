import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, merge } from '../../support/merge-http.js';
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
import { testSettings } from '../../support/settings.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

/** Every row of docs/api.md#what-differs, asked of a server: a row without a check fails, and so does a check without a row. */
const app = testApp(WITH_ADMIN);
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const at = (tail: string, ehr = ehrId): string => `${V1}/ehr/${ehr}${tail}`;
const get = (path: string, headers: Record<string, string> = {}): request.Test =>
  request(app).get(path).set(headers);
const post = (path: string, body: object, headers: Record<string, string> = {}): request.Test =>
  request(app).post(path).set(headers).send(body);
const put = (path: string, body: object, headers: Record<string, string> = {}): request.Test =>
  request(app).put(path).set(headers).send(body);
const statusOf = async (answer: request.Test): Promise<number> => (await answer).status;
const container = async (): Promise<{ uid: string; path: string }> => {
  const uid = await givenComposition(app, ehrId);
  return { uid, path: at(`/composition/${versionedObjectUidOf(uid)}`) };
};
const folder = (more: Json = {}): Json => ({
  _type: 'FOLDER',
  name: { value: 'root' },
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  ...more,
});
const openehr = (code_string: string): Json => ({ terminology_id: { value: 'openehr' }, code_string });
const contribution = (...versions: Json[]): request.Test =>
  post(at('/contribution'), { versions }, { Prefer: 'return=representation' });
const query = (q: string, more: object = {}): request.Test => post(`${V1}/query/aql`, { q, ...more });
const EHRS = 'SELECT e/ehr_id/value FROM EHR e';

const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  '`ehr_id`': async () => {
    expect(await statusOf(put(`${V1}/ehr/1.2.3.4::a`, {}))).toBe(201);
    for (const path of ['', '/ehr_status', '/directory'])
      expect(await statusOf(get(at(path, 'not%20an%20id')))).toBe(400);
  },
  'Minimal updates and creates': async () => {
    const { uid, path } = await container();
    const made = await post(at('/composition'), aComposition());
    expect([made.status, made.text]).toEqual([201, '']);
    expect(await statusOf(put(path, aComposition(), { 'If-Match': uid }))).toBe(200);
    const standard = testApp({ preferMinimalUpdateStatus: 204 });
    const next = uid.replace(/1$/, '2');
    const minimal = await request(standard).put(path).set('If-Match', next).send(aComposition());
    expect(minimal.status).toBe(204);
  },
  'Location, ETag': async () => {
    const { uid, path } = await container();
    const stale = await put(path, aComposition(), { 'If-Match': uid.replace(/1$/, '9') });
    for (const answer of [await get(path), stale])
      expect([answer.headers['etag'], answer.headers['location']]).toEqual([
        `"${uid}"`,
        expect.stringMatching(new RegExp(`/composition/${uid}$`)),
      ]);
    expect(stale.status).toBe(412);
  },
  'Commit headers `openEHR-AUDIT_DETAILS`, `openEHR-VERSION`': async () => {
    const committed = async (headers: Record<string, string>): Promise<Json> => {
      const uid = versionUidOf(await post(at('/composition'), aComposition(), headers));
      return (await get(at(`/versioned_composition/${versionedObjectUidOf(uid)}/version`))).body as Json;
    };
    for (const headers of [
      { 'openEHR-AUDIT_DETAILS.description': 'value="a"' },
      { 'openehr-audit-details': 'description.value="a"' },
    ] as Record<string, string>[])
      expect((await committed(headers))['commit_audit'].description.value).toBe('a');
    const unknown = { 'openEHR-AUDIT_DETAILS': 'colour="blue"' };
    expect(await statusOf(post(at('/composition'), aComposition(), unknown))).toBe(400);
  },
  '`lifecycle_state`': async () => {
    const draft = aComposition();
    delete draft['composer'];
    const state = (code: string): Record<string, string> => ({
      'openEHR-VERSION': `lifecycle_state.code_string="${code}"`,
    });
    const made = await post(at('/composition'), draft, state('553'));
    expect(made.status).toBe(201);
    const path = at(`/composition/${versionedObjectUidOf(versionUidOf(made))}`);
    const put801 = await put(path, draft, { 'If-Match': versionUidOf(made), ...state('801') });
    expect(put801.status).toBe(200);
    const { uid, path: complete } = await container();
    expect(await statusOf(put(complete, aComposition(), { 'If-Match': uid, ...state('801') }))).toBe(422);
    expect(await statusOf(put(complete, aComposition(), { 'If-Match': uid, ...state('800') }))).toBe(200);
  },
  'Change types': async () => {
    const { uid, path } = await container();
    await request(app).delete(at(`/composition/${uid}`));
    const by = (code: string): Record<string, string> => ({
      'openEHR-AUDIT_DETAILS': `change_type.code_string="${code}"`,
    });
    const deletion = uid.replace(/1$/, '2');
    expect(await statusOf(put(path, aComposition(), { 'If-Match': deletion, ...by('816') }))).toBe(200);
    expect(await statusOf(post(at('/composition'), aComposition(), by('817')))).toBe(201);
  },
  'Invalid COMPOSITION': async () => {
    const without = (name: string): Json => ({ ...aComposition(), [name]: undefined });
    expect(await statusOf(post(at('/composition'), { ...aComposition(), colour: 1 }))).toBe(400);
    expect(await statusOf(post(at('/composition'), without('composer')))).toBe(400);
    const wrong = aComposition();
    wrong['territory'].code_string = 'XX';
    delete wrong['content'][0].data;
    const refused = await post(at('/composition'), wrong);
    expect([refused.status, refused.body.validationErrors.length > 1]).toEqual([422, true]);
    const version = (data: Json): Json => ({ commit_audit: { change_type: openehr('249') }, data });
    expect(await statusOf(contribution(version(wrong)))).toBe(400);
    const unknown = aComposition();
    unknown['archetype_details'].template_id.value = 'nobody.v1';
    expect(await statusOf(contribution(version(unknown)))).toBe(422);
  },
  'ENTRY without `archetype_details`; `encoding` of `Unicode::UTF-8`': async () => {
    const content = aComposition();
    const entry: Json = content['content'][0];
    delete entry['archetype_details'];
    entry['encoding'] = { terminology_id: { value: 'Unicode' }, code_string: 'UTF-8' };
    expect(await statusOf(post(at('/composition'), content))).toBe(201);
  },
  'DELETE of a deleted COMPOSITION': async () => {
    const { uid } = await container();
    expect(await statusOf(request(app).delete(at(`/composition/${uid}`)))).toBe(204);
    expect(await statusOf(request(app).delete(at(`/composition/${uid}`)))).toBe(400);
  },
  'GET of a deleted directory': async () => {
    const id = await givenEhr(app);
    const made = await post(at('/directory', id), folder());
    await request(app).delete(at('/directory', id)).set('If-Match', versionUidOf(made));
    expect(await statusOf(get(at('/directory', id)))).toBe(204);
  },
  '`body.uid` on create': async () => {
    const own = 'b2c5a7a0-3f5e-4c8e-9a5e-0d3f6c1f7e01::local.cdr::1';
    const named = (value: string): Json => ({
      ...aComposition(),
      uid: { _type: 'OBJECT_VERSION_ID', value },
    });
    expect(versionUidOf(await post(at('/composition'), named(own)))).toBe(own);
    expect(await statusOf(post(at('/composition'), named(own)))).toBe(412);
    const foreign = await post(at('/composition'), named(own.replace('local.cdr', 'other.cdr')));
    expect([foreign.status, foreign.headers['warning']]).toEqual([201, expect.stringContaining('other.cdr')]);
  },
  'EHR `ehr_status`': async () => {
    expect((await get(at(''))).body.ehr_status._type).toBe('OBJECT_REF');
    expect((await get(at('?include=ehr_status'))).body.ehr_status._type).toBe('EHR_STATUS');
    expect((await get(at(''), { Prefer: 'resolve_refs' })).body.ehr_status._type).toBe('EHR_STATUS');
    const whole = await request(testApp({ ehrStatusAsRef: false })).get(at(''));
    expect(whole.body.ehr_status._type).toBe('EHR_STATUS');
  },
  'Update of an EHR_STATUS': async () => {
    const status = await get(at('/ehr_status'));
    const update = (body: object): request.Test =>
      put(at('/ehr_status'), body, { 'If-Match': versionUidOf(status) });
    expect(await statusOf(update({ ...status.body, subject: undefined }))).toBe(400);
    const foreign = '3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01::local.cdr::1';
    const taken = await update({ ...status.body, uid: { _type: 'OBJECT_VERSION_ID', value: foreign } });
    expect([taken.status, taken.headers['warning']]).toEqual([200, expect.stringContaining(foreign)]);
  },
  '`Location` of a COMPOSITION': async () => {
    const made = await post(at('/composition'), aComposition());
    expect(made.headers['location']).toMatch(new RegExp(`/composition/${versionUidOf(made)}$`));
  },
  'Version of another object in a `versioned_…` path': async () => {
    const [one, other] = [await container(), await container()];
    const path = at(`/versioned_composition/${versionedObjectUidOf(one.uid)}/version/${other.uid}`);
    expect(await statusOf(get(path))).toBe(404);
  },
  'EHR `compositions`, `contributions`': async () => {
    expect((await get(at(''))).body.compositions).toBeUndefined();
    const { body } = await get(at('?include=compositions,contributions'));
    expect(body).toMatchObject({ compositions: expect.anything(), contributions: expect.anything() });
  },
  '`is_queryable=false`': async () => {
    const id = await givenEhr(app, { _type: 'EHR_STATUS', is_queryable: false });
    const found = async (more: object): Promise<boolean> =>
      JSON.stringify((await query(EHRS, more)).body.rows).includes(id);
    expect([await found({}), await found({ ehr_id: id })]).toEqual([false, true]);
  },
  CONTRIBUTION: async () => {
    const audit = { change_type: openehr('249'), time_committed: { value: '1999-01-01T00:00:00Z' } };
    const uid = { _type: 'HIER_OBJECT_ID', value: '0f7a9d4e-51f2-4f0f-9a55-6b0a1c1f7e01' };
    const body = { uid, versions: [{ commit_audit: audit, data: aComposition() }] };
    const made = await post(at('/contribution'), body, { Prefer: 'return=representation' });
    expect([made.status, String(made.body.audit.time_committed.value).startsWith('1999')]).toEqual([
      201,
      false,
    ]);
    expect(await statusOf(post(at('/contribution'), body))).toBe(409);
    const xml = await get(at(`/contribution/${uid.value}`), { Accept: 'application/xml' });
    expect(xml.text).toContain('<contribution');
    const attested = {
      commit_audit: { change_type: openehr('666') },
      preceding_version_uid: made.body.versions[0].id,
      attestations: [
        { _type: 'ATTESTATION', reason: { _type: 'DV_TEXT', value: 'seen' }, is_pending: false },
      ],
    };
    expect(await statusOf(contribution(attested))).toBe(201);
  },
  'Query limits': async () => {
    expect(await statusOf(query(`${EHRS} LIMIT 1`, { fetch: 1 }))).toBe(422);
    expect(await statusOf(query('SELECT TOP 1 e/ehr_id/value FROM EHR e', { fetch: 1 }))).toBe(400);
    expect(await statusOf(query(EHRS, { offset: 1 }))).toBe(200);
    const capped = testApp({ aql: { ...testSettings().aql, maxFetch: 3 } });
    expect(await statusOf(request(capped).post(`${V1}/query/aql`).send({ q: EHRS, fetch: 4 }))).toBe(400);
  },
  '`ehr_id` of a query as parameter or header': async () => {
    expect((await query(EHRS, { ehr_id: ehrId })).body.rows).toEqual([[ehrId]]);
    const none = '44444444-4444-4444-4444-444444444444';
    expect(await statusOf(query(EHRS, { ehr_id: none }))).toBe(404);
  },
  '`q` in results of stored queries': async () => {
    await put(`${V1}/definition/query/ehrs/1.0.0`, { q: EHRS });
    expect((await get(`${V1}/query/ehrs/1.0.0`)).body.q).toBe(EHRS);
  },
  'Large results': async () => {
    for (const accept of ['application/x-ndjson', 'text/csv']) {
      const answer = await post(`${V1}/query/aql`, { q: EHRS }, { Accept: accept });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringContaining(accept)]);
    }
  },
  'Stored query names': async () => {
    await put(`${V1}/definition/query/without_namespace/1.0.0`, { q: EHRS });
    expect(await statusOf(get(`${V1}/definition/query/WITHOUT_namespace/1.0.0`))).toBe(200);
  },
  'Template `Accept`': async () => {
    const path = `${V1}/definition/template/adl1.4/minimal_evaluation.en.v1`;
    expect((await get(path, { Accept: 'text/plain' })).text).toContain('<template');
    expect((await get(path, { Accept: 'application/json' })).body.templateId).toBe(
      'minimal_evaluation.en.v1',
    );
  },
  '`version_at_time` without offset': async () => {
    const id = await givenEhr(app);
    const now = new Date(Date.now() + 60_000).toISOString().slice(0, 19);
    const status = (server = app): request.Test =>
      request(server).get(at(`/ehr_status?version_at_time=${now}`, id));
    expect(await statusOf(status())).toBe(200);
    expect(await statusOf(status(testApp({ defaultTimezone: 'Pacific/Kiritimati' })))).toBe(404);
  },
  'Deleting all templates': async () => {
    const off = testApp({ ...WITH_ADMIN, adminAllowDeleteAll: false });
    expect(await statusOf(admin(off, 'delete', '/template/all'))).toBe(405);
    expect(await statusOf(admin(testApp(WITH_ADMIN), 'delete', '/template/all'))).not.toBe(404);
  },
  'Administration, foreign ids': async () => {
    const { uid } = await container();
    const other = await givenEhr(app);
    const path = `/ehr/${other}/composition/${versionedObjectUidOf(uid)}`;
    expect(await statusOf(admin(app, 'delete', path))).toBe(404);
  },
  'Merging EHRs': async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    expect(await statusOf(merge(app, source, target))).toBe(200);
    const undone = await admin(app, 'post', '/ehr/unmerge').send({ source_ehr: source, target_ehr: target });
    expect(undone.status).toBe(200);
  },
  'Tag headers on GET': async () => {
    const { uid, path } = await container();
    const tags = (count: number): Json[] =>
      Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 'x'.repeat(60) }));
    await put(`${path}/tags`, tags(2));
    expect((await get(path)).headers['openehr-item-tag']).toContain('k1');
    await put(`${path}/tags`, tags(60));
    expect((await get(path)).headers['openehr-item-tag']).toBeUndefined();
    expect((await get(`${path}/tags`)).body).toHaveLength(60);
    expect(uid).toContain('::');
  },
  'Bytes that are not UTF-8': async () => {
    const bytes = Buffer.concat([Buffer.from('{"_type":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const refused = await request(app)
      .post(at('/composition'))
      .set('Content-Type', 'application/json')
      .serialize((body) => body as string)
      .send(bytes as unknown as string);
    expect([refused.status, String(refused.body.message)]).toEqual([400, expect.stringContaining('10')]);
  },
  'Repeating a POST': async () => {
    const key = { 'Idempotency-Key': 'moving-over' };
    const [one, other] = [
      await post(at('/composition'), aComposition(), key),
      await post(at('/composition'), aComposition(), key),
    ];
    expect([other.status, other.headers['etag']]).toEqual([201, one.headers['etag']]);
  },
  'Unknown query parameters': async () => {
    const answer = await get(at('?inlude=compositions'));
    expect([answer.status, answer.headers['warning']]).toEqual([
      200,
      expect.stringContaining('did you mean include?'),
    ]);
    expect((await query(EHRS, { fetsh: 1 })).headers['warning']).toContain('fetsh');
    const strict = testApp({ strictParameters: true });
    expect(await statusOf(request(strict).get(at('?inlude=compositions')))).toBe(400);
    const deletion = request(app).delete(`/rest/admin/ehr/${ehrId}?dry_run=true`).set('Authorization', ADMIN);
    expect(await statusOf(deletion)).toBe(400);
  },
  'Basic authentication': async () => {
    const closed = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    const refused = await request(closed).get(at(''));
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('Bearer'),
    ]);
  },
  '`X-Request-Id`': async () => {
    const answer = await get(at(''), { 'X-Request-Id': 'mine' });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  },
  Caching: async () => {
    const { uid, path } = await container();
    expect((await get(path)).headers['cache-control']).toContain('no-store');
    expect(await statusOf(get(path, { 'If-None-Match': `"${uid}"` }))).toBe(304);
  },
  'What a template says of durations, identifiers, properties': async () => {
    await givenTemplate(app, 'minimal_instruction.en.v1');
    const text = JSON.stringify(aComposition('minimal_instruction.en.v1'));
    const composition = JSON.parse(text.replace('"PT1M"', '"P1Y"')) as Json;
    expect(await statusOf(post(at('/composition'), composition))).toBe(422);
  },
  '`archetype_node_id` of a root': async () => {
    const other = aComposition();
    other['archetype_details'].archetype_id.value = 'openEHR-EHR-COMPOSITION.other.v1';
    expect(await statusOf(post(at('/composition'), other))).toBe(422);
    const lenient = testApp({ validation: 'lenient-all' });
    expect(await statusOf(request(lenient).post(at('/composition')).send(other))).toBe(201);
  },
  'Empty lists': async () => {
    const made = await post(at('/composition'), { ...aComposition(), links: [] });
    expect([made.status, made.headers['warning']]).toEqual([201, expect.stringContaining('links')]);
  },
  'FOLDER items': async () => {
    const id = await givenEhr(app);
    const items = [
      {
        id: { _type: 'GENERIC_ID', value: 'x', scheme: 's' },
        namespace: 'archive',
        type: 'ANY',
        _type: 'OBJECT_REF',
      },
    ];
    const tagged = { 'openehr-item-tag': 'key="a"' };
    expect(await statusOf(post(at('/directory', id), folder({ items }), tagged))).toBe(400);
    expect(await statusOf(post(at('/directory', id), folder({ items })))).toBe(201);
  },
  'XML answers': async () => {
    const { text } = await get(at('/ehr_status'), { Accept: 'application/xml' });
    expect(text).toMatch(/^<\?xml version="1\.0"\?>/);
  },
  '`swagger-ui/index.html`, `/v3/api-docs`': async () => {
    for (const path of ['/swagger-ui/index.html', '/v3/api-docs'])
      expect(await statusOf(get(path))).toBe(302);
  },
  '`/rest/status`': async () => {
    const told = await request(testApp({ statusEhrbaseVersion: '2.34.0' })).get('/rest/status');
    expect(told.body.ehrbase_version).toBe('2.34.0');
    expect((await get('/rest/status')).body.ehrbase_version).toBeUndefined();
  },
  'ADL 2 templates': async () => {
    expect(await statusOf(get(`${V1}/definition/template/adl2`))).toBe(501);
  },
};

/** The subjects of the table in the order of the page. */
function subjects(): string[] {
  const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const table =
    /## What differs\n([\s\S]*?)\n\n(?!\|)/.exec(
      page.replace('## What differs\n\n', '## What differs\n'),
    )?.[1] ?? '';
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]?.trim() ?? '');
}

describe('docs/api.md', () => {
  it('has a row for every check, and a check for every row', () => {
    expect(subjects()).toEqual(Object.keys(CHECKS));
  });

  it.each(Object.entries(CHECKS))('tells the truth of %s', async (_subject, check) => {
    await check();
  });
});
