import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { auditRecords } from '../../../models/audit.js';
import { bodyFromXml } from '../../../openehr/format/extract-xml.js';
import { testApp } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { useDatabase } from '../../support/database.js';
import { imported, otherAudit, otherVersion } from '../../support/imported-version.js';
import { emptied } from '../../support/interchange.js';
import {
  folder,
  givenDirectory,
  givenTag,
  givenUpdate,
  merge,
  rows,
  statusOf,
} from '../../support/merge-http.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const roles = {
  rolePermissions: { MOVER: ['restore', 'write'], ADMIN: ['read', 'write', 'admin', 'audit'] },
} as const;
const app = testApp({ ...WITH_ADMIN, ...roles, signing: 'digest' });
const identified = testApp({ ...WITH_ADMIN, ...roles, auth: 'jwt', signing: 'digest' });
const AS_MOVER = { Authorization: bearer(['MOVER'], 'mover') };
let source = '';
let latest = '';
let extract: Json = {};
let xml = '';

/** The EXTRACT of an EHR with all that it may have; the EHR itself is not there any more. */
beforeEach(async () => {
  await emptied('old.system');
  await givenTemplate(app);
  source = await givenEhr(app, statusOf('p1'));
  latest = await givenUpdate(app, source, await givenComposition(app, source), aComposition());
  await request(app).post(`${V1}/ehr/${source}/contribution`).send(attestation(latest));
  const deleted = await givenComposition(app, source);
  await request(app).delete(`${V1}/ehr/${source}/composition/${deleted}`);
  await givenDirectory(app, source, folder('root'));
  const brought = await request(identified)
    .post(`${V1}/ehr/${source}/contribution`)
    .set(AS_MOVER)
    .send({ versions: [imported(otherVersion({ uuid: randomUUID(), number: 1 }))] });
  expect([brought.status, brought.body.message]).toEqual([201, undefined]);
  extract = await extractOf(source);
  xml = (await request(app).get(`${V1}/ehr/${source}/extract`).set('Accept', 'application/xml')).text;
  await emptied();
  await givenTemplate(app);
});
afterEach(async () => {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

async function extractOf(ehrId: string): Promise<Json> {
  const { status, body } = await request(app).get(`${V1}/ehr/${ehrId}/extract`);
  expect(status).toBe(200);
  return body as Json;
}

const without = (one: Json): Json => ({ ...one, time_created: null });
const make = (body: Json | string, form = 'application/json'): request.Test =>
  request(app).post(`${V1}/ehr/extract`).set(AS_MOVER).set('Content-Type', form).send(body);
const add = (ehrId: string, query: string, body = extract): request.Test =>
  request(app).post(`/rest/admin/ehr/${ehrId}/extract?${query}`).set(AS_MOVER).send(body);
const undo = (ehrId: string, id: string): request.Test =>
  request(app).post(`/rest/admin/ehr/${ehrId}/extract/${id}/undo`).set(AS_MOVER);

/** All versions in an EXTRACT. */
function versionsOf(given: Json): Json[] {
  const items = given['chapters'][0]['items'] as Json[];
  return items.flatMap(({ item }) => item.versions as Json[]);
}

describe('an EXTRACT', () => {
  it('has IMPORTED_VERSIONs, ATTESTATIONs and deletions, in JSON and in XML', () => {
    expect(xml).toContain('xsi:type="IMPORTED_VERSION"');
    for (const given of [extract, bodyFromXml(xml, 'EXTRACT')]) {
      const versions = versionsOf(given);
      const imports = versions.filter(({ _type }) => _type === 'IMPORTED_VERSION');
      expect(imports).toEqual([
        expect.objectContaining({
          commit_audit: expect.objectContaining({
            committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Mover' },
          }),
          item: expect.objectContaining({ commit_audit: otherAudit(1) }),
        }),
      ]);
      const attested = versions.filter(({ attestations }) => attestations !== undefined);
      expect(attested).toEqual([
        expect.objectContaining({
          uid: { _type: 'OBJECT_VERSION_ID', value: latest },
          attestations: [expect.objectContaining({ _type: 'ATTESTATION' })],
        }),
      ]);
      const deleted = versions.filter(
        ({ lifecycle_state }) => lifecycle_state?.defining_code.code_string === '523',
      );
      expect(deleted.map(({ _type, data }) => [_type, data])).toEqual([['ORIGINAL_VERSION', undefined]]);
    }
  });
});

describe('an EHR that is made of an EXTRACT', () => {
  it.each(['application/json', 'application/xml'])('has the same EXTRACT, sent as %s', async (form) => {
    const { status, body, headers } = await make(form.endsWith('xml') ? xml : extract, form);
    expect([status, body.message, body.ehr_id]).toEqual([201, undefined, source]);
    expect(headers['location']).toMatch(new RegExp(`/ehr/${source}$`, 'u'));
    expect(without(await extractOf(source))).toEqual(without(extract));
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c')).toContainEqual([latest]);
    const imports = 'SELECT v/uid/value FROM EHR e CONTAINS IMPORTED_VERSION v CONTAINS COMPOSITION c';
    expect(await rows(app, imports)).toEqual([[expect.stringMatching(/::old\.system::1$/u)]]);
    const [record] = await auditRecords({ operation: 'ehr_extract_create', offset: 0, fetch: 1 });
    expect(record).toMatchObject({ user: 'mover', ehr_id: source, target: body.import_id, status: 201 });
    const next = await request(app)
      .put(`${V1}/ehr/${source}/composition/${versionedObjectUidOf(latest)}`)
      .set('If-Match', `"${latest}"`)
      .send(aComposition());
    expect(next.headers['etag']).toMatch(/::3"$/u);
  });

  it('goes when it is taken back, and stays once it was used', async () => {
    const first = await make(extract);
    const undone = await undo(source, first.body.import_id as string);
    expect([undone.status, undone.body.erased]).toEqual([200, true]);
    expect((await request(app).get(`${V1}/ehr/${source}`)).status).toBe(404);
    const { body } = await make(extract);
    await givenComposition(app, source);
    const refused = await undo(source, body.import_id as string);
    expect([refused.status, refused.body.obstacles[0].code]).toEqual([409, 'ehr_in_use']);
  });

  it('stays while it has an item tag, which no EXTRACT brings', async () => {
    const { body } = await make(extract);
    const uid = versionedObjectUidOf(latest);
    const tag = await givenTag(app, { ehrId: source, type: 'composition', uid }, 'k');
    const before = await dump();
    const refused = await undo(source, body.import_id as string);
    expect([refused.status, refused.body.obstacles]).toEqual([
      409,
      [expect.objectContaining({ code: 'tagged_since', object_ids: [uid] })],
    ]);
    expect(await dump()).toBe(before);
    await request(app)
      .delete(`/rest/experimental/tags/ehr/${source}/composition/${uid}/item_tag`)
      .send([tag])
      .expect(204);
    expect((await undo(source, body.import_id as string)).body.erased).toBe(true);
  });

  it.each<[string, (given: Json) => unknown, number, string]>([
    ['no EXTRACT', (given) => ({ ...given, _type: 'EHR' }), 400, 'EXTRACT'],
    ['no chapter', (given) => ({ ...given, chapters: [] }), 400, '/chapters'],
    [
      'two EHRs',
      (given) => ({ ...given, chapters: [given['chapters'][0], given['chapters'][0]] }),
      400,
      '/chapters',
    ],
    ['no EHR_STATUS', (given) => withItems(given, (items) => items.slice(1)), 400, 'EHR_STATUS'],
    ['an object without a version', (given) => withObject(given, { versions: [] }), 400, '/versions'],
    [
      'what is no version',
      (given) => withObject(given, { versions: [{ _type: 'COMPOSITION' }] }),
      400,
      '/versions',
    ],
    [
      'a version of another object',
      (given) => withObject(given, { uid: { _type: 'HIER_OBJECT_ID', value: randomUUID() } }),
      400,
      'OBJECT_VERSION_ID of',
    ],
    ['another class of object', (given) => withObject(given, { _type: 'X_VERSIONED_PARTY' }), 400, '/item'],
    [
      'the latest versions only',
      (given) => withItems(given, (items) => items.map((one) => latestOnly(one))),
      409,
      'version before',
    ],
  ])('is refused, and nothing written: %s', async (_name, change, status, message) => {
    const before = await dump();
    const answer = await make(change(extract) as Json);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
    expect(await dump()).toBe(before);
  });

  it('is refused where the EHR is, or its subject, a template is not, or the permission', async () => {
    await givenEhr(app, statusOf('p1'));
    expect((await make(extract)).body.message).toContain('subject');
    const denied = await request(app)
      .post(`${V1}/ehr/extract`)
      .set({ Authorization: bearer(['ADMIN']) })
      .send(extract);
    expect(denied.status).toBe(403);
    await emptied();
    expect((await make(extract)).status).toBe(422);
    await givenTemplate(app);
    expect((await make(extract)).status).toBe(201);
    expect((await make(extract)).status).toBe(409);
  });
});

function withItems(given: Json, change: (items: Json[]) => Json[]): Json {
  const [chapter] = given['chapters'] as Json[];
  const isStatus = ({ item }: Json): boolean => item._type === 'X_VERSIONED_EHR_STATUS';
  const all = chapter!['items'] as Json[];
  const items = [...all.filter(isStatus), ...all.filter((one) => !isStatus(one))];
  return { ...given, chapters: [{ ...chapter, items: change(items) }] };
}

function withObject(given: Json, further: Json): Json {
  return withItems(given, ([first, ...others]) => [
    { ...first, item: { ...first!['item'], ...further } },
    ...others,
  ]);
}

function latestOnly(content: Json): Json {
  return { ...content, item: { ...content['item'], versions: content['item']['versions'].slice(-1) } };
}

describe('an EXTRACT for an EHR that has content', () => {
  let ehrId = '';
  beforeEach(async () => {
    ehrId = await givenEhr(app, statusOf('p2'));
    await givenComposition(app, ehrId);
  });

  /** Brings it; gives the id of the import. */
  async function given(): Promise<string> {
    const { body: plan } = await add(ehrId, 'dry_run=true');
    const { status, body } = await add(ehrId, `plan=${plan.hash}`);
    expect([status, body.message]).toEqual([200, undefined]);
    return body.import_id as string;
  }

  it('goes in by its plan, and out again as if it had not been there', async () => {
    const seen = await extractOf(ehrId);
    const { status, body: plan } = await add(ehrId, 'dry_run=true');
    expect([status, plan.obstacles, plan.already_there]).toEqual([200, [], []]);
    expect(plan.left_out).toEqual([
      expect.objectContaining({ type: 'EHR_STATUS', reason: 'own_ehr_status' }),
    ]);
    expect(await extractOf(ehrId)).toEqual({ ...seen, time_created: expect.anything() });
    expect((await add(ehrId, '')).status).toBe(400);
    const id = await given();
    const after = await extractOf(ehrId);
    expect(JSON.stringify(after)).toContain(latest);
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehrId)).toContainEqual([
      latest,
    ]);
    const again = await add(ehrId, 'dry_run=true');
    expect([again.body.versions, again.body.already_there.length]).toEqual([0, plan.versions]);
    await sealNewRecords();
    const undone = await undo(ehrId, id);
    expect([undone.status, undone.body.erased, undone.body.versions]).toEqual([200, false, plan.versions]);
    expect(without(await extractOf(ehrId))).toEqual(without(seen));
    expect((await undo(ehrId, id)).status).toBe(404);
    await given();
    expect(without(await extractOf(ehrId))).toEqual(without(after));
  });

  it('is refused with the plan of now when that is another one', async () => {
    const { body: plan } = await add(ehrId, 'dry_run=true');
    await givenDirectory(app, ehrId, folder('ours'));
    const { status, body } = await add(ehrId, `plan=${plan.hash}`);
    expect([status, body.plan.left_out.length]).toEqual([409, 2]);
    expect((await add(ehrId, `plan=${body.plan.hash}`)).status).toBe(200);
  });

  it('brings what came later into an EHR that was made of an earlier one, and that alone goes again', async () => {
    await make(extract);
    const uuid = versionedObjectUidOf(latest);
    const items = extract['chapters'][0]['items'] as Json[];
    const grown = withItems(extract, (all) =>
      all.map((content) => {
        const { item } = content;
        if (item.uid.value !== uuid) return content;
        const next = otherVersion({ uuid, number: 3, after: latest });
        next['commit_audit']['time_committed']['value'] = '2030-01-01T00:00:00Z';
        return { ...content, item: { ...item, versions: [...item.versions, next] } };
      }),
    );
    expect(items).toHaveLength(grown['chapters'][0]['items'].length);
    const before = await extractOf(source);
    const { body: plan } = await add(source, 'dry_run=true', grown);
    expect([plan.versions, plan.obstacles]).toEqual([1, []]);
    const { body } = await add(source, `plan=${plan.hash}`, grown);
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', source)).toContainEqual([
      `${uuid}::old.system::3`,
    ]);
    expect((await undo(source, body.import_id as string)).status).toBe(200);
    expect(without(await extractOf(source))).toEqual(without(before));
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', source)).toContainEqual([
      latest,
    ]);
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['changed', 'changed_since', () => givenUpdate(app, ehrId, latest, aComposition())],
    ['tagged', 'tagged_since', () => givenTag(app, { ehrId, type: 'composition', uid: latest }, 'k')],
    [
      'attested',
      'attested_since',
      () => request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(latest)),
    ],
  ])('is not taken back once something of it was %s', async (_name, code, change) => {
    const id = await given();
    await change();
    const before = await dump();
    const { status, body } = await undo(ehrId, id);
    expect([status, body.obstacles.map((one: Json) => one['code'])]).toEqual([409, [code]]);
    expect(await dump()).toBe(before);
  });

  it('is told what stands against it, and writes nothing then', async () => {
    const other = await givenEhr(app, statusOf('p3'));
    await given();
    const { body: plan } = await add(other, 'dry_run=true');
    expect(plan.obstacles.map((one: Json) => one['code'])).toContain('version_differs');
    const before = await dump();
    const { status, body } = await add(other, `plan=${plan.hash}`);
    expect([status, body.obstacles.length]).toEqual([409, plan.obstacles.length]);
    expect(await dump()).toBe(before);
  });

  it('is where the EHR went after a merge, whose undoing leaves it', async () => {
    const id = await given();
    const target = await givenEhr(app, statusOf('p4'));
    expect((await merge(app, ehrId, target, {})).status).toBe(200);
    expect((await undo(ehrId, id)).status).toBe(404);
    expect((await add(ehrId, 'dry_run=true')).status).toBe(409);
  });
});
