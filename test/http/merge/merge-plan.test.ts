import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenTag,
  merge,
  rows,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  versionUidOf,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const TEMPLATE = 'persistent_minimal.en.v1';
const PERSISTENT = { composition_merge: 'PERSISTENT' };
const get = (path: string): request.Test => request(app).get(`${V1}${path}`);
const list = (name: string): Json => ({ ...aComposition(TEMPLATE), name: { _type: 'DV_TEXT', value: name } });

let patients = 0;
let source = '';
let target = '';
beforeEach(async () => {
  patients += 1;
  source = await givenEhr(app, statusOf(`s${patients}`));
  target = await givenEhr(app, statusOf(`t${patients}`));
});

async function givenDraft(ehrId: string, name: string): Promise<string> {
  const call = request(app).post(`${V1}/ehr/${ehrId}/composition`).send(list(name));
  const response = await call.set('openEHR-VERSION', 'lifecycle_state.code_string="553"');
  expect(response.status).toBe(201);
  return versionUidOf(response);
}

/** Names of the live lists of an EHR. */
async function lists(ehrId: string): Promise<string[]> {
  return (await rows(app, 'SELECT c/name/value FROM EHR e CONTAINS COMPOSITION c', ehrId))
    .flat()
    .sort() as string[];
}

async function subjectHolder(id: string): Promise<request.Response> {
  return get(`/ehr?subject_id=${id}&subject_namespace=hospital`);
}

describe('the plan of a merge', () => {
  it('tells all that the merge does, in the dry run as in the answer of the merge', async () => {
    const theirs = await givenComposition(app, target, list('theirs'));
    const mine = await givenComposition(app, source, list('mine'));
    const visit = versionedObjectUidOf(await givenComposition(app, source));
    const tag = await givenTag(
      app,
      { ehrId: source, type: 'composition', uid: versionedObjectUidOf(mine) },
      'k',
    );
    const root = await givenDirectory(app, source, folder('root', [visit], [folder('inner')]));
    const mode = { ...PERSISTENT, folder_merge: 'COPY' };
    const rehearsed = (await merge(app, source, target, { ...mode, dry_run: true })).body.plan as Json;
    const side = (name: string, uid: string): Json => ({
      side: name,
      versioned_object_uid: versionedObjectUidOf(uid),
      version_uid: uid,
      time_committed: expect.stringMatching(/^\d{4}-.*Z$/),
      content: { version_uid: uid, time_committed: expect.stringMatching(/^\d{4}-.*Z$/) },
      lifecycle_state: '532',
    });
    const [hospital] = [{ namespace: 'hospital' }];
    expect(rehearsed).toEqual({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      compositions: { moved: 1, ids: [visit] },
      pairs: [
        {
          template_id: TEMPLATE,
          choice: 'source',
          reason: 'later',
          winner: side('source', mine),
          loser: side('target', theirs),
        },
      ],
      not_paired: [],
      folders: { action: 'create', source: root, target: null, folders: 2, items: 1 },
      contributions: { moved: 4 },
      item_tags: { moved: 0, deleted: 1, deleted_ids: [tag] },
      subjects: {
        source: { ...hospital, id: `s${patients}` },
        target: { ...hospital, id: `t${patients}` },
        survivor: 'target',
        after: { ...hospital, id: `t${patients}` },
      },
      ehr_status: [
        { field: 'subject', source: expect.any(Object), target: expect.any(Object), survivor: 'target' },
      ],
      size: expect.objectContaining({ documents: expect.any(Number), fits: true, expected_seconds: 0.1 }),
    });
    const merged = await merge(app, source, target, mode);
    expect([merged.status, merged.body.plan]).toEqual([200, rehearsed]);
    expect(await lists(target)).toContain('mine');
  });

  it('changes its digest with the data, and is readable as XML', async () => {
    const digest = async (): Promise<string> =>
      String((await merge(app, source, target, { dry_run: true })).body.plan.digest);
    const first = await digest();
    expect(await digest()).toBe(first);
    await givenComposition(app, source);
    expect(await digest()).not.toBe(first);
    const xml = await merge(app, source, target, { dry_run: true }).set('Accept', 'application/xml');
    expect([xml.status, xml.text]).toEqual([200, expect.stringContaining('<plan><digest>')]);
  });
});

describe('the choice between two lists', () => {
  it('never lets a draft replace a complete list', async () => {
    await givenComposition(app, target, list('complete'));
    await givenDraft(source, 'draft');
    const { body } = await merge(app, source, target, PERSISTENT);
    expect(body.plan.pairs).toMatchObject([
      { choice: 'target', reason: 'complete', loser: { lifecycle_state: '553' } },
    ]);
    expect(await lists(target)).toEqual(['complete']);
  });

  it('nor on demand', async () => {
    await givenComposition(app, target, list('complete'));
    await givenDraft(source, 'draft');
    const refused = await merge(app, source, target, {
      ...PERSISTENT,
      resolutions: { compositions: { [TEMPLATE]: 'source' } },
    });
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
  });

  it.each([
    ['target', ['theirs']],
    ['source', ['mine']],
    ['both', ['mine', 'theirs']],
  ])("is the request's: %s", async (choice, left) => {
    await givenComposition(app, target, list('theirs'));
    const mine = await givenComposition(app, source, list('mine'));
    const compositions = { [versionedObjectUidOf(mine).toUpperCase()]: choice };
    const merged = await merge(app, source, target, { ...PERSISTENT, resolutions: { compositions } });
    expect([merged.status, merged.body.plan.pairs]).toMatchObject([200, [{ choice, reason: 'chosen' }]]);
    expect(await lists(target)).toEqual(left);
    expect((await unmerge(app, source, target)).status).toBe(200);
    expect([await lists(source), await lists(target)]).toEqual([['mine'], ['theirs']]);
  });

  it.each([
    ['a word that is none', PERSISTENT, { compositions: { [TEMPLATE]: 'newest' } }, 400],
    ['a member that is none', PERSISTENT, { folders: {} }, 400],
    ['an attribute that cannot be chosen', {}, { ehr_status: { name: 'source' } }, 400],
    ['both of one EHR_STATUS', {}, { ehr_status: { subject: 'both' } }, 400],
    ['of lists that stay as they are', {}, { compositions: { [TEMPLATE]: 'source' } }, 400],
    ['of what is no pair', PERSISTENT, { compositions: { [TEMPLATE]: 'source' } }, 409],
  ])('is refused: %s', async (_, mode, resolutions, status) => {
    const refused = await merge(app, source, target, { ...mode, resolutions });
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining('resolutions')]);
  });
});

describe('the choice for the EHR_STATUS', () => {
  it('gives the target the subject of the source; its own stays reserved; an unmerge gives both back', async () => {
    const resolutions = { ehr_status: { subject: 'source' } };
    const rehearsed = await merge(app, source, target, { resolutions, dry_run: true });
    expect(rehearsed.body.plan.subjects).toMatchObject({ survivor: 'source', after: { id: `s${patients}` } });
    expect((await merge(app, source, target, { resolutions })).status).toBe(200);
    expect((await subjectHolder(`s${patients}`)).body.ehr_id.value).toBe(target);
    const former = await subjectHolder(`t${patients}`);
    expect([former.status, former.headers.link]).toEqual([404, expect.stringContaining(target)]);
    expect(
      (
        await request(app)
          .post(`${V1}/ehr`)
          .send(statusOf(`t${patients}`))
      ).status,
    ).toBe(409);
    expect((await admin(app, 'post', '/verify')).body.violations).toEqual([]);

    expect((await unmerge(app, source, target, { dry_run: true })).status).toBe(200);
    expect((await unmerge(app, source, target)).status).toBe(200);
    expect((await subjectHolder(`s${patients}`)).body.ehr_id.value).toBe(source);
    expect((await subjectHolder(`t${patients}`)).body.ehr_id.value).toBe(target);
    const status = await get(`/ehr/${target}/ehr_status`);
    expect(status.body.uid.value).toMatch(/::3$/);
    expect((await admin(app, 'post', '/verify')).body.violations).toEqual([]);
  });

  it('is kept apart from what others changed since: an unmerge leaves that', async () => {
    const resolutions = { ehr_status: { subject: 'source', is_modifiable: 'source' } };
    await merge(app, source, target, { resolutions });
    const status = await get(`/ehr/${target}/ehr_status`);
    const changed = { ...status.body, is_queryable: false } as Json;
    const put = request(app)
      .put(`${V1}/ehr/${target}/ehr_status`)
      .set('If-Match', String(status.headers.etag));
    expect((await put.send(changed)).status).toBe(200);
    expect((await unmerge(app, source, target)).status).toBe(200);
    const { body } = await get(`/ehr/${target}/ehr_status`);
    expect([body.is_queryable, body.subject.external_ref.id.value]).toEqual([false, `t${patients}`]);
  });

  it('may lock the target with the merge', async () => {
    const locked = await givenEhr(app, { _type: 'EHR_STATUS', is_modifiable: false });
    await givenComposition(app, target, list('theirs'));
    const resolutions = { ehr_status: { is_modifiable: 'source' } };
    const merged = await merge(app, locked, target, { ...PERSISTENT, folder_merge: 'COPY', resolutions });
    expect(merged.status).toBe(200);
    expect((await request(app).post(`${V1}/ehr/${target}/composition`).send(aComposition())).status).toBe(
      409,
    );
  });
});
