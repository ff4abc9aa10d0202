import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { openehrTerm } from '../../support/imported-version.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { folder, givenDirectory, givenTag, statusOf } from '../../support/merge-http.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/* What is written on top of an EHR that was made by another system and restored here. */

useDatabase();
const there = testApp({ systemId: 'old.system' });
const app = testApp(WITH_ADMIN);
let ehrId = '';
/** Object ids. */
let ids: Readonly<Record<Kind, string>> = { composition: '', ehr_status: '', directory: '' };

type Kind = 'composition' | 'ehr_status' | 'directory';
const KINDS: readonly Kind[] = ['composition', 'ehr_status', 'directory'];
const TYPES = { composition: 'COMPOSITION', ehr_status: 'EHR_STATUS', directory: 'FOLDER' } as const;

/** An EHR with one version of each, of the other system. */
beforeEach(async () => {
  await emptied('old.system');
  await givenTemplate(there);
  ehrId = await givenEhr(there, statusOf('p1'));
  const [directory = ''] = (await givenDirectory(there, ehrId, folder('root'))).split('::');
  const [composition = ''] = (await givenComposition(there, ehrId)).split('::');
  const { headers } = await request(there).get(`${V1}/ehr/${ehrId}/ehr_status`);
  const [ehr_status = ''] = (JSON.parse(headers.etag!) as string).split('::');
  ids = { composition, ehr_status, directory };
  const lines = await exported();
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
});

/** The store is sound, and travels as it is. */
afterEach(async () => {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
  const lines = await exported();
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
  expect(await exported()).toEqual(lines);
});

const uidOf = (kind: Kind, version: number, system = 'old.system'): string =>
  `${ids[kind]}::${system}::${version}`;
const contentOf = (kind: Kind): Json =>
  ({ composition: aComposition, ehr_status: () => statusOf('p2'), directory: () => folder('next') })[kind]();
/** Where the object of a kind is written; only that of a COMPOSITION names it. */
const place = (kind: Kind, tail = kind === 'composition' ? `/${ids.composition}` : ''): string =>
  `${V1}/ehr/${ehrId}/${kind}${tail}`;

function put(kind: Kind, ifMatch: string): request.Test {
  return request(app).put(place(kind)).set('If-Match', `"${ifMatch}"`).send(contentOf(kind));
}

const NAMES = { '251': 'modification', '523': 'deleted' } as const;

function commit(kind: Kind, code: keyof typeof NAMES, precedingUid: string): request.Test {
  const audit = {
    _type: 'AUDIT_DETAILS',
    change_type: openehrTerm(code, NAMES[code]),
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
  };
  const version = {
    _type: 'ORIGINAL_VERSION',
    preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: precedingUid },
    lifecycle_state: code === '523' ? openehrTerm('523', 'deleted') : openehrTerm('532', 'complete'),
    commit_audit: audit,
    ...(code === '251' && { data: contentOf(kind) }),
  };
  return request(app)
    .post(`${V1}/ehr/${ehrId}/contribution`)
    .set('Prefer', 'return=representation')
    .send({ _type: 'CONTRIBUTION', versions: [version], audit });
}

describe('a version of another system', () => {
  it.each(KINDS)('is followed by one of this system where If-Match names it: %s', async (kind) => {
    const before = await dump();
    for (const stale of [uidOf(kind, 1, 'local.cdr'), uidOf(kind, 2), uidOf(kind, 2, 'local.cdr')]) {
      const refused = await put(kind, stale);
      expect([stale, refused.status, refused.headers.etag]).toEqual([stale, 412, `"${uidOf(kind, 1)}"`]);
    }
    expect(await dump()).toBe(before);
    const { status, headers } = await put(kind, uidOf(kind, 1));
    expect([status, headers.etag]).toEqual([200, `"${uidOf(kind, 2, 'local.cdr')}"`]);
    expect((await put(kind, uidOf(kind, 1))).status).toBe(412);
    const old = await request(app).get(place(kind, `/${uidOf(kind, 1)}`));
    expect([old.status, old.headers.etag]).toEqual([200, `"${uidOf(kind, 1)}"`]);
    expect((await request(app).get(place(kind, `/${uidOf(kind, 1, 'local.cdr')}`))).status).toBe(404);
    expect((await put(kind, uidOf(kind, 2, 'local.cdr'))).headers.etag).toBe(
      `"${uidOf(kind, 3, 'local.cdr')}"`,
    );
  });

  it.each(KINDS)('is followed by one of a CONTRIBUTION that names it: %s', async (kind) => {
    const before = await dump();
    expect([404, 409, 412]).toContain((await commit(kind, '251', uidOf(kind, 1, 'local.cdr'))).status);
    expect(await dump()).toBe(before);
    const { status, body } = await commit(kind, '251', uidOf(kind, 1));
    expect([status, body.message, body.versions?.[0]]).toEqual([
      201,
      undefined,
      expect.objectContaining({ id: expect.objectContaining({ value: uidOf(kind, 2, 'local.cdr') }) }),
    ]);
    expect(body.versions[0].type).toBe(TYPES[kind]);
  });

  it.each(['composition', 'directory'] as const)('is deleted by its own uid: %s', async (kind) => {
    const remove = (uid: string): request.Test =>
      kind === 'composition'
        ? request(app).delete(place(kind, `/${uid}`))
        : request(app).delete(place(kind)).set('If-Match', `"${uid}"`);
    expect([404, 412]).toContain((await remove(uidOf(kind, 1, 'local.cdr'))).status);
    const { status, headers } = await remove(uidOf(kind, 1));
    expect([status, headers.etag]).toEqual([204, `"${uidOf(kind, 2, 'local.cdr')}"`]);
    expect((await request(app).get(place(kind))).status).toBe(204);
  });

  it.each(['composition', 'directory'] as const)('is deleted by a CONTRIBUTION: %s', async (kind) => {
    const before = await dump();
    expect([404, 409, 412]).toContain((await commit(kind, '523', uidOf(kind, 1, 'local.cdr'))).status);
    expect(await dump()).toBe(before);
    expect((await commit(kind, '523', uidOf(kind, 1))).status).toBe(201);
    expect((await request(app).get(place(kind))).status).toBe(204);
  });

  it.each(['composition', 'ehr_status'] as const)('is tagged when it is followed: %s', async (kind) => {
    expect((await put(kind, uidOf(kind, 1))).status).toBe(200);
    for (const uid of [uidOf(kind, 1), uidOf(kind, 2, 'local.cdr')])
      await givenTag(app, { ehrId, type: kind, uid }, 'k');
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}/tags`);
    expect((body as Json[]).map(({ target }) => target.value as string)).toEqual([
      uidOf(kind, 1),
      uidOf(kind, 2, 'local.cdr'),
    ]);
  });

  it('of an EHR_STATUS is in the history with those that follow it', async () => {
    await put('ehr_status', uidOf('ehr_status', 1));
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}/versioned_ehr_status/revision_history`);
    expect((body as { items: Json[] }).items.map(({ version_id }) => version_id.value as string)).toEqual([
      uidOf('ehr_status', 1),
      uidOf('ehr_status', 2, 'local.cdr'),
    ]);
    const found = await request(app).get(`${V1}/ehr?subject_id=p2&subject_namespace=hospital`);
    expect((found.body as Json)['ehr_id'].value).toBe(ehrId);
  });
});
