import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { withoutAttributes } from '../../../openehr/rm/access.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  imported,
  openehrTerm,
  otherAudit,
  otherVersion,
  OTHER_SYSTEM,
} from '../../support/imported-version.js';
import { emptied, exported, imported as importedLines, refusals } from '../../support/interchange.js';
import { folder, givenDirectory, merge, statusOf, unmerge } from '../../support/merge-http.js';
import { aComposition, dump, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const roles = {
  rolePermissions: { MOVER: ['restore', 'read', 'write'], ADMIN: ['read', 'write', 'admin'] },
} as const;
const app = testApp({ ...WITH_ADMIN, ...roles, signing: 'digest' });
const { systemId } = testSettings();
/** The same with identities, without which nobody may say who wrote what when. */
const identified = testApp({ ...WITH_ADMIN, ...roles, auth: 'jwt', signing: 'digest' });
let ehrId = '';

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  ehrId = await givenEhr(app, statusOf('p1'));
});
const AS_MOVER = { Authorization: bearer(['MOVER'], 'mover') };

function commit(versions: readonly Json[], { to = ehrId, as = AS_MOVER } = {}): request.Test {
  return request(identified)
    .post(`${V1}/ehr/${to}/contribution`)
    .set(as)
    .set('Prefer', 'return=representation, resolve_refs')
    .send({ versions });
}

async function versionAt(uid: string, form = 'application/json'): Promise<request.Response> {
  const container = uid.slice(0, 36);
  return request(app)
    .get(`${V1}/ehr/${ehrId}/versioned_composition/${container}/version/${uid}?verify=true`)
    .set('Accept', form);
}

async function rows(q: string): Promise<unknown[][]> {
  const { status, body } = await request(app)
    .post(`${V1}/query/aql`)
    .send({ q, query_parameters: { ehr: ehrId } });
  expect([status, body.message]).toEqual([200, undefined]);
  return (body as { rows: unknown[][] }).rows;
}

/** Two versions of a COMPOSITION, committed together. */
async function givenImported(): Promise<{
  readonly uuid: string;
  readonly items: Json[];
  readonly body: Json;
}> {
  const uuid = randomUUID();
  const items = [otherVersion({ uuid, number: 1 }), otherVersion({ uuid, number: 2 })];
  const { status, body } = await commit(items.map((item) => imported(item)));
  expect([status, body.message]).toEqual([201, undefined]);
  return { uuid, items, body: body as Json };
}

describe('an IMPORTED_VERSION in a CONTRIBUTION', () => {
  afterEach(async () => {
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('is kept as it was made, beside the audit of its import', async () => {
    const { uuid, items, body } = await givenImported();
    const uid = `${uuid}::${OTHER_SYSTEM}::2`;
    const { status, body: version, headers } = await versionAt(uid);
    expect([status, headers['everchart-signature'], headers['etag']]).toEqual([200, 'verified', `"${uid}"`]);
    const data = { ...items[1]!['data'], uid: { _type: 'OBJECT_VERSION_ID', value: uid } };
    expect(version).toEqual({
      _type: 'IMPORTED_VERSION',
      contribution: expect.objectContaining({ id: body.uid }),
      signature: expect.any(String),
      commit_audit: expect.objectContaining({
        committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Mover' },
        system_id: systemId,
      }),
      item: { ...items[1], data },
    });
    expect(version.commit_audit.time_committed.value > '2026').toBe(true);
    expect(body.versions).toContainEqual(version);
  });

  it('has the same in XML, in which it can be committed too', async () => {
    const { uuid } = await givenImported();
    const { text, status } = await versionAt(`${uuid}::${OTHER_SYSTEM}::1`, 'application/xml');
    expect(status).toBe(200);
    expect(text).toContain('xsi:type="IMPORTED_VERSION"');
    const other = randomUUID();
    const inner = text.slice(text.indexOf('>', text.indexOf('<version')) + 1, text.lastIndexOf('</version>'));
    const sent = `<contribution xmlns="http://schemas.openehr.org/v1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><versions xsi:type="IMPORTED_VERSION">${inner
      .replaceAll(uuid, other)
      .replace(/<signature>[^<]*<\/signature>/u, '')}</versions></contribution>`;
    const { status: written, text: why } = await request(identified)
      .post(`${V1}/ehr/${ehrId}/contribution`)
      .set(AS_MOVER)
      .set('Content-Type', 'application/xml')
      .send(sent);
    expect([written, why]).toEqual([201, '']);
    const { body } = await versionAt(`${other}::${OTHER_SYSTEM}::1`);
    expect(body.item.commit_audit).toEqual(otherAudit(1));
  });

  it('is followed by a version of this system, whose If-Match names it', async () => {
    const { uuid } = await givenImported();
    const path = `${V1}/ehr/${ehrId}/composition/${uuid}`;
    const stale = await request(app)
      .put(path)
      .set('If-Match', `"${uuid}::${systemId}::2"`)
      .send(aComposition());
    expect(stale.status).toBe(412);
    const { status, headers } = await request(app)
      .put(path)
      .set('If-Match', `"${uuid}::${OTHER_SYSTEM}::2"`)
      .send(aComposition());
    expect([status, headers['etag']]).toEqual([200, `"${uuid}::${systemId}::3"`]);
    const back = await commit([
      imported(otherVersion({ uuid, number: 4, after: `${uuid}::${systemId}::3` })),
    ]);
    expect([back.status, back.body.message]).toEqual([201, undefined]);
    const history = await request(app).get(
      `${V1}/ehr/${ehrId}/versioned_composition/${uuid}/revision_history`,
    );
    const { items } = history.body as { items: { version_id: Json; audits: Json[] }[] };
    expect(items.map(({ version_id: { value }, audits }) => [value, audits.length])).toEqual([
      [`${uuid}::${OTHER_SYSTEM}::1`, 2],
      [`${uuid}::${OTHER_SYSTEM}::2`, 2],
      [`${uuid}::${systemId}::3`, 1],
      [`${uuid}::${OTHER_SYSTEM}::4`, 2],
    ]);
    expect(items[0]!.audits[1]).toEqual(otherAudit(1));
  });

  it.each<['ehr_status' | 'directory', string, () => Json]>([
    ['ehr_status', 'EHR_STATUS', () => statusOf(randomUUID())],
    ['directory', 'FOLDER', () => folder('root')],
  ])('may be one of the %s, with versions of this system before and behind it', async (kind, type, data) => {
    const own = await givenEhr(app, statusOf(randomUUID()));
    const place = `${V1}/ehr/${own}/${kind}`;
    if (kind === 'directory') await givenDirectory(app, own, folder('before'));
    const first = JSON.parse((await request(app).get(place)).headers['etag']!) as string;
    const [uuid = ''] = first.split('::');
    const item = otherVersion({ uuid, number: 2, after: first }, { data: data() });
    const before = await dump();
    const stale = otherVersion({ uuid, number: 2, after: `${uuid}::${OTHER_SYSTEM}::1` }, { data: data() });
    expect([404, 412]).toContain((await commit([imported(stale)], { to: own })).status);
    expect(await dump()).toBe(before);
    const { status, body } = await commit([imported(item)], { to: own });
    const uid = `${uuid}::${OTHER_SYSTEM}::2`;
    expect([status, body.message, body.versions?.[0]]).toEqual([
      201,
      undefined,
      expect.objectContaining({
        _type: 'IMPORTED_VERSION',
        item: expect.objectContaining({
          uid: { _type: 'OBJECT_VERSION_ID', value: uid },
          commit_audit: otherAudit(2, '251', 'modification'),
          data: expect.objectContaining({ _type: type }),
        }),
      }),
    ]);
    expect((await request(app).get(place)).headers['etag']).toBe(`"${uid}"`);
    const put = (ifMatch: string): request.Test =>
      request(app).put(place).set('If-Match', `"${ifMatch}"`).send(data());
    expect((await put(`${uuid}::${systemId}::2`)).status).toBe(412);
    expect((await put(uid)).headers['etag']).toBe(`"${uuid}::${systemId}::3"`);
    const lines = await exported({ ehrIds: [own], since: null });
    expect(lines.filter((line) => line.includes('"IMPORTED_VERSION"'))).toHaveLength(1);
  });

  it('may be the first of a directory', async () => {
    const own = await givenEhr(app, statusOf(randomUUID()));
    const uuid = randomUUID();
    const item = otherVersion({ uuid, number: 1 }, { data: folder('root') });
    const { status, body } = await commit([imported(item)], { to: own });
    expect([status, body.message]).toEqual([201, undefined]);
    const { headers } = await request(app).get(`${V1}/ehr/${own}/directory`);
    expect(headers['etag']).toBe(`"${uuid}::${OTHER_SYSTEM}::1"`);
    const again = otherVersion({ uuid: randomUUID(), number: 1 }, { data: folder('second') });
    expect((await commit([imported(again)], { to: own })).status).toBe(409);
  });

  it('may be a deletion, of which nothing is read afterwards', async () => {
    const { uuid } = await givenImported();
    const deletion = withoutAttributes(otherVersion({ uuid, number: 3 }), ['data']);
    const item = {
      ...deletion,
      commit_audit: otherAudit(3, '523', 'deleted'),
      lifecycle_state: openehrTerm('523', 'deleted'),
    };
    expect((await commit([imported(item)])).status).toBe(201);
    expect((await request(app).get(`${V1}/ehr/${ehrId}/composition/${uuid}`)).status).toBe(204);
    expect((await versionAt(`${uuid}::${OTHER_SYSTEM}::3`)).body.item).toEqual(item);
  });

  it('is what IMPORTED_VERSION finds in AQL, ORIGINAL_VERSION does not, and VERSION does', async () => {
    const { uuid, items } = await givenImported();
    const own = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(aComposition());
    const ownUid = JSON.parse(own.headers['etag']!) as string;
    const uids = async (name: string): Promise<unknown[]> =>
      (
        await rows(
          `SELECT v/uid/value, v/_type FROM EHR e[ehr_id/value=$ehr] CONTAINS ${name} v CONTAINS COMPOSITION c`,
        )
      ).flat();
    const imports = await uids('IMPORTED_VERSION');
    expect(imports).toEqual(expect.arrayContaining([`${uuid}::${OTHER_SYSTEM}::2`, 'IMPORTED_VERSION']));
    expect(imports).not.toContain(ownUid);
    const originals = await uids('ORIGINAL_VERSION');
    expect(originals).toEqual(expect.arrayContaining([ownUid, 'ORIGINAL_VERSION']));
    expect(originals).not.toContain(`${uuid}::${OTHER_SYSTEM}::2`);
    expect(await uids('VERSION')).toEqual(expect.arrayContaining([...imports, ...originals]));
    const whole = await rows(
      `SELECT v, v/item/commit_audit/time_committed/value, v/item/uid/value, v/lifecycle_state/value FROM VERSION v[uid/value='${uuid}::${OTHER_SYSTEM}::2'] CONTAINS COMPOSITION c`,
    );
    expect(whole).toEqual([
      [
        (await versionAt(`${uuid}::${OTHER_SYSTEM}::2`)).body,
        items[1]!.commit_audit.time_committed.value,
        `${uuid}::${OTHER_SYSTEM}::2`,
        'complete',
      ],
    ]);
    const grouped = await rows(
      `SELECT v, COUNT(*) FROM VERSION v[uid/value='${uuid}::${OTHER_SYSTEM}::2'] CONTAINS COMPOSITION c`,
    );
    expect(grouped).toEqual([[whole[0]![0], 1]]);
  });

  it('travels in an export of all versions', async () => {
    await givenImported();
    await sealNewRecords();
    const before = await exported();
    const state = before.filter((line) => line.includes('"IMPORTED_VERSION"'));
    expect(state.length).toBeGreaterThan(1);
    await emptied();
    expect(refusals(await importedLines(before))).toEqual([]);
    expect(await exported()).toEqual(before);
  });

  it('goes through a merge and back', async () => {
    const { uuid } = await givenImported();
    const uid = `${uuid}::${OTHER_SYSTEM}::2`;
    const before = (await versionAt(uid)).body as Json;
    const target = await givenEhr(app, statusOf(randomUUID()));
    expect((await merge(app, ehrId, target, {})).status).toBe(200);
    const there = await request(app).get(`${V1}/ehr/${target}/versioned_composition/${uuid}/version/${uid}`);
    expect(there.body).toEqual(before);
    expect((await unmerge(app, ehrId, target)).status).toBe(200);
    expect((await versionAt(uid)).body).toEqual(before);
  });
});

describe('what of it is refused, and then nothing is written', () => {
  const uuid = randomUUID();
  const digest = `SHA-256/RFC8785:${'0'.repeat(64)}`;
  const item = otherVersion({ uuid, number: 1 });
  const unaudited = withoutAttributes(item, ['commit_audit']);
  it.each<[string, Json, number, string]>([
    ['no item', imported(item, { item: null }), 400, '/versions[0]/item'],
    ['another class as item', imported({ ...item, _type: 'COMPOSITION' }), 400, '/versions[0]/item'],
    ['an item without its audit', imported(unaudited), 400, '/versions[0]/item'],
    ['data beside the item', imported(item, { data: aComposition() }), 400, '/versions[0]'],
    [
      'a uid that is none',
      imported({ ...item, uid: { _type: 'OBJECT_VERSION_ID', value: 'x' } }),
      400,
      '/versions[0]/item/uid',
    ],
    [
      'content of another object',
      imported({
        ...item,
        data: { ...aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value: randomUUID() } },
      }),
      400,
      '/versions[0]/item/data/uid',
    ],
    ['a later version without the one before', imported(otherVersion({ uuid, number: 2 })), 404, uuid],
    [
      'a number that nothing leads to',
      imported({ ...otherVersion({ uuid, number: 3 }), preceding_version_uid: undefined }),
      400,
      'preceding_version_uid',
    ],
    [
      'a deletion with content',
      imported({ ...item, lifecycle_state: openehrTerm('523', 'deleted') }),
      400,
      'data',
    ],
    [
      'content that breaks a rule',
      imported({ ...item, data: { ...aComposition(), composer: null } }),
      400,
      'composer',
    ],
    ['a digest that is not its own', imported({ ...item, signature: digest }), 422, 'signature of the item'],
  ])('%s', async (_name, version, status, message) => {
    const before = await dump();
    const answer = await commit([version]);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
    expect(await dump()).toBe(before);
  });

  it('is not for who lacks the permission restore', async () => {
    const before = await dump();
    const refused = await commit([imported(item)], { as: { Authorization: bearer(['ADMIN'], 'ada') } });
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('restore')]);
    const nobody = await request(app)
      .post(`${V1}/ehr/${ehrId}/contribution`)
      .send({ versions: [imported(item)] });
    expect(nobody.status).toBe(403);
    expect(await dump()).toBe(before);
  });

  it('does not take an id that is here, nor come twice', async () => {
    const { uuid: taken } = await givenImported();
    const before = await dump();
    expect((await commit([imported(otherVersion({ uuid: taken, number: 1 }))])).status).toBe(412);
    expect((await commit([imported(otherVersion({ uuid: taken, number: 2 }))])).status).toBe(412);
    expect(await dump()).toBe(before);
  });
});
