import { randomUUID } from 'node:crypto';
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
  givenUpdate,
  merge,
  O,
  rows,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  V1,
  type Json,
} from '../../support/resources.js';
import { USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const get = (path: string): request.Test => request(app).get(`${V1}${path}`);
const persistent = (): Json => aComposition('persistent_minimal.en.v1');

let source = '';
let target = '';
beforeEach(async () => {
  source = await givenEhr(app);
  target = await givenEhr(app);
});

/** Whatever the audit wrote does not count. */
async function stored(): Promise<string> {
  return JSON.stringify({ ...(JSON.parse(await dump()) as Json), audit: [] });
}

/** Merge errors repeat MergeDetailsDto. */
function errorOf(message: unknown, error: string): Json {
  return {
    source_ehr: source,
    target_ehr: target,
    outcome: { level: 'BASIC', summary: message },
    error,
    message,
    code: expect.any(String),
    request_id: expect.any(String),
  };
}

describe('mergeEhrs is refused', () => {
  it.each([
    ['without a token', undefined, 401],
    ['without the admin role', USER, 403],
  ])('%s', async (_, token, status) => {
    const call = request(app).post(`${O}/ehr/merge`);
    const response = await (token === undefined ? call : call.set('Authorization', token)).send('nonsense');
    expect([response.status, response.body.outcome.level]).toEqual([status, 'BASIC']);
  });

  it.each([
    ['no body', undefined],
    ['no object', '[]'],
    ['broken JSON', '{'],
    ['an unknown field', { purge: true }],
    ['an unknown value', { folder_merge: 'MOVE' }],
    ['a value in other letters', { composition_merge: 'persistent' }],
    ['a text for a boolean', { dry_run: 'true' }],
    ['an id that is no UUID', { source_ehr: '1.2.3' }],
    ['a missing id', { target_ehr: undefined }],
    ['no reversible', { reversible: undefined }],
    [
      'detail_level FOLDER_COPY with folder_merge BASIC',
      { detail_level: 'FOLDER_COPY', folder_merge: 'BASIC' },
    ],
    ['detail_level BASIC with folder_merge COPY', { detail_level: 'BASIC', folder_merge: 'COPY' }],
  ])('for a bad body: %s', async (_, part) => {
    const body =
      typeof part === 'object' ? { source_ehr: source, target_ehr: target, reversible: true, ...part } : part;
    const call = admin(app, 'post', '/ehr/merge').set('Content-Type', 'application/json');
    const before = await stored();
    expect((await call.send(body)).status).toBe(400);
    expect(await stored()).toBe(before);
  });

  it('for another media type', async () => {
    const call = admin(app, 'post', '/ehr/merge').set('Content-Type', 'application/xml').send('<a/>');
    expect((await call).status).toBe(415);
    expect((await merge(app, source, target).set('Accept', 'image/png')).status).toBe(406);
  });

  it('for the same EHR twice, in whatever letter case', async () => {
    expect((await merge(app, source, source)).status).toBe(400);
    expect((await merge(app, source, source.toUpperCase())).status).toBe(400);
  });

  it('when one never existed or was deleted', async () => {
    const unknown = randomUUID();
    const response = await merge(app, unknown, target);
    const message = `EHR with id ${unknown} does not exist`;
    expect([response.status, response.body]).toEqual([
      404,
      { ...errorOf(message, 'Not Found'), source_ehr: unknown },
    ]);
    await admin(app, 'delete', `/ehr/${target}`);
    expect((await merge(app, source, target)).status).toBe(404);
    expect((await merge(app, source, target, { dry_run: true })).status).toBe(404);
  });

  it('when the source or the target was merged away', async () => {
    const third = await givenEhr(app);
    await merge(app, source, target);
    const again = await merge(app, source, target);
    expect([again.status, again.body]).toEqual([
      409,
      errorOf(`EHR ${source} was already merged into ${target}`, 'Conflict'),
    ]);
    const back = await merge(app, target, source);
    expect([back.status, back.body.message]).toEqual([409, `EHR ${source} was merged into ${target}`]);
    await merge(app, target, third);
    expect((await merge(app, await givenEhr(app), source)).body.message).toBe(
      `EHR ${source} was merged into ${third}`,
    );
    expect((await merge(app, source, third)).body.message).toBe(
      `EHR ${source} was already merged into ${third}`,
    );
  });

  it('when the target is not modifiable; the flags of the source do not matter', async () => {
    const locked = await givenEhr(app, { _type: 'EHR_STATUS', is_modifiable: false, is_queryable: false });
    const response = await merge(app, source, locked);
    expect([response.status, response.body.error]).toEqual([409, 'Conflict']);
    const versionUid = await givenComposition(app, source);
    expect((await merge(app, locked, source)).status).toBe(200);
    expect(
      await rows(
        app,
        `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE c/uid/value='${versionUid}'`,
      ),
    ).toHaveLength(1);
  });
});

describe('a merge', () => {
  it('moves compositions with their history, contributions and tags, and makes no CONTRIBUTION', async () => {
    const first = await givenComposition(app, source);
    const second = await givenUpdate(app, source, first, aComposition());
    const gone = await givenComposition(app, source, aComposition('minimal_observation.en.v1'));
    await request(app).delete(`${V1}/ehr/${source}/composition/${gone}`);
    const tag = await givenTag(
      app,
      { ehrId: source, type: 'composition', uid: versionedObjectUidOf(first) },
      'mine',
    );
    const versions = `/composition/${first}`;
    const before = await get(`/ehr/${source}${versions}`);
    const contributions = await get(`/ehr/${source}?include=contributions`);
    const mine = contributions.body.contributions as Json[];

    const { status, body } = await merge(app, source, target);
    expect(status).toBe(200);
    expect(body).toEqual({
      outcome: {
        level: 'BASIC',
        summary:
          '2 compositions moved, 0 joined, 0 folder copied, 5 contributions moved, 1 item tags moved, 0 item tags deleted',
      },
      source_ehr: source,
      target_ehr: target,
      merge_id: expect.any(String),
      way: 'transaction',
      merge_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      plan: expect.objectContaining({ contributions: { moved: 5 } }),
    });
    const after = await get(`/ehr/${target}${versions}`);
    expect([after.status, after.text]).toEqual([200, before.text]);
    const container = await get(`/ehr/${target}/versioned_composition/${versionedObjectUidOf(first)}`);
    expect(container.body.owner_id.id.value).toBe(target);
    const history = await get(
      `/ehr/${target}/versioned_composition/${versionedObjectUidOf(first)}/revision_history`,
    );
    expect(history.body.items.map((item: Json) => item.version_id.value)).toEqual([first, second]);
    expect((await get(`/ehr/${target}/composition/${versionedObjectUidOf(gone)}`)).status).toBe(204);
    const merged = await get(`/ehr/${target}?include=contributions`);
    expect(merged.body.contributions).toHaveLength(mine.length + 1);
    for (const { id } of mine) {
      expect((await get(`/ehr/${target}/contribution/${id.value}`)).status).toBe(200);
    }
    const tags = await request(app).get(
      `/rest/experimental/tags/ehr/${target}/composition/${versionedObjectUidOf(first)}/item_tag`,
    );
    expect(tags.body).toMatchObject([{ id: tag, owner_id: target, key: 'mine' }]);
    expect(
      (
        await get(
          `/ehr/${target}/composition/${versionedObjectUidOf(first)}?version_at_time=${before.headers['last-modified'] ? '2000-01-01T00:00:00Z' : ''}`,
        )
      ).status,
    ).toBe(404);
  });

  it('answers as XML, too', async () => {
    const response = await merge(app, source, target).set('Accept', 'application/xml');
    expect(response.text).toContain(
      '<MergeDetailsDto><outcome><level>BASIC</level><summary>0 compositions moved',
    );
    const refused = await merge(app, source, target).set('Accept', 'application/xml');
    expect(refused.text).toContain(`<MergeDetailsDto><source_ehr>${source}</source_ehr>`);
    expect(refused.text).toContain('<outcome><level>BASIC</level><summary>EHR');
  });

  it('is audited with both EHRs', async () => {
    const merged = await merge(app, source, target).set('X-Request-Id', 'of-the-client');
    const { body } = await admin(app, 'get', `/audit?ehr_id=${source}&user=root-admin`);
    expect(body).toMatchObject([
      {
        user: 'root-admin',
        operation: 'mergeEhrs',
        ehr_id: source,
        target,
        status: 200,
        request_id: merged.headers['x-request-id'] as string,
      },
    ]);
  });

  it('unlisted and without effect when it is a dry run, but refused as a real one', async () => {
    await givenComposition(app, source, persistent());
    await givenComposition(app, target, persistent());
    await givenDirectory(app, source, folder('root'));
    const before = await stored();
    const modes = { folder_merge: 'COPY', composition_merge: 'PERSISTENT', dry_run: true };
    const { status, body } = await merge(app, source, target, modes);
    expect([status, body]).toEqual([
      200,
      {
        outcome: {
          level: 'FOLDER_COPY',
          summary:
            'DRY RUN: 0 compositions moved, 1 joined, 1 folder copied, 3 contributions moved, 0 item tags moved, 0 item tags deleted',
        },
        source_ehr: source,
        target_ehr: target,
        way: 'transaction',
        plan: expect.objectContaining({ contributions: { moved: 3 } }),
      },
    ]);
    expect(await stored()).toBe(before);
    expect((await admin(app, 'get', `/ehr/merge_status?source=${source}`)).status).toBe(404);
    await merge(app, source, target);
    expect((await merge(app, source, target, modes)).status).toBe(409);
  });
});

describe('the directories', () => {
  it('BASIC: that of the source ends, that of the target stays as it is', async () => {
    const mine = await givenDirectory(app, source, folder('mine'));
    const theirs = await givenDirectory(app, target, folder('theirs'));
    await merge(app, source, target);
    const directory = await get(`/ehr/${target}/directory`);
    expect([directory.headers.etag, directory.body.folders]).toEqual([`"${theirs}"`, undefined]);
    expect((await get(`/ehr/${target}/directory/${mine}`)).status).toBe(404);
    expect(await rows(app, `SELECT f/name/value FROM EHR e CONTAINS FOLDER f`, target)).toEqual([['theirs']]);
  });

  it('COPY: the tree goes into that of the target, under a name of its own', async () => {
    const composition = versionedObjectUidOf(await givenComposition(app, source));
    const root = { ...folder('mine', [composition], [folder('inner')]), details: undefined };
    await givenDirectory(app, source, root);
    const theirs = await givenDirectory(app, target, folder('theirs', [], [folder('first')]));
    const { body } = await merge(app, source, target, { folder_merge: 'COPY' });
    expect(body.outcome.level).toBe('FOLDER_COPY');
    const directory = await get(`/ehr/${target}/directory`);
    expect(directory.headers.etag).toBe(`"${theirs.replace(/1$/, '2')}"`);
    expect(directory.body.name.value).toBe('theirs');
    expect(directory.body.folders).toMatchObject([
      { name: { value: 'first' } },
      {
        _type: 'FOLDER',
        uid: { _type: 'HIER_OBJECT_ID' },
        name: { value: `Merged EHR ${source}` },
        archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
        items: [{ id: { value: composition } }],
        folders: [{ name: { value: 'inner' } }],
      },
    ]);
    const version = await get(`/ehr/${target}/contribution/${await newestContribution(target)}`);
    expect(version.body.audit).toMatchObject({
      change_type: { defining_code: { code_string: '251' } },
      description: { value: `Merge of EHR ${source} into ${target}` },
      committer: { name: 'root-admin' },
    });
    expect(version.body.versions).toHaveLength(1);
  });

  it('COPY without a directory in the target: the tree becomes one', async () => {
    await givenDirectory(app, source, folder('mine', [], [folder('inner')]));
    const { body } = await merge(app, source, target, { detail_level: 'FOLDER_COPY' });
    expect(body.outcome.level).toBe('FOLDER_COPY');
    const directory = await get(`/ehr/${target}/directory`);
    expect([directory.body.name.value, directory.body.folders]).toMatchObject([
      'mine',
      [{ name: { value: 'inner' } }],
    ]);
    expect(directory.headers.etag).toMatch(/::1"$/);
    const update = await request(app)
      .put(`${V1}/ehr/${target}/directory`)
      .set('If-Match', String(directory.headers.etag))
      .send(folder('mine'));
    expect(update.status).toBe(200);
  });

  it('COPY without a directory in the source: nothing is copied', async () => {
    const versionUid = await givenDirectory(app, source, folder('mine'));
    await request(app).delete(`${V1}/ehr/${source}/directory`).set('If-Match', `"${versionUid}"`);
    const { body } = await merge(app, source, target, { folder_merge: 'COPY' });
    expect([body.outcome.level, body.outcome.summary]).toEqual([
      'BASIC',
      '0 compositions moved, 0 joined, 0 folder copied, 3 contributions moved, 0 item tags moved, 0 item tags deleted',
    ]);
  });

  it('COPY twice gives distinct names', async () => {
    await givenDirectory(app, source, folder('mine'));
    await givenDirectory(app, target, folder('theirs', [], [folder(`Merged EHR ${source}`)]));
    await merge(app, source, target, { folder_merge: 'COPY' });
    const { body } = await get(`/ehr/${target}/directory`);
    expect(body.folders.map((one: Json) => one.name.value)).toEqual([
      `Merged EHR ${source}`,
      `Merged EHR ${source} (2)`,
    ]);
  });
});

describe('persistent compositions', () => {
  it('BASIC: both stay', async () => {
    await givenComposition(app, source, persistent());
    await givenComposition(app, target, persistent());
    await merge(app, source, target);
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', target)).toHaveLength(2);
  });

  it.each([
    ['the source', true],
    ['the target', false],
  ])('PERSISTENT: are joined, the later content goes on (that of %s)', async (_, isSourceLater) => {
    const named = (name: string): Json => ({ ...persistent(), name: { _type: 'DV_TEXT', value: name } });
    const order = isSourceLater ? [target, source] : [source, target];
    const uids: Record<string, string> = {};
    for (const ehrId of order) uids[ehrId] = await givenComposition(app, ehrId, persistent());
    for (const ehrId of order) {
      uids[ehrId] = await givenUpdate(app, ehrId, uids[ehrId]!, named('Persistent minimal'));
    }
    const loser = await givenTag(
      app,
      { ehrId: source, type: 'composition', uid: versionedObjectUidOf(uids[source]!) },
      'lost',
    );
    const content = await get(`/ehr/${order[1]}/composition/${uids[order[1]!]}`);
    const { body } = await merge(app, source, target, { composition_merge: 'PERSISTENT' });
    expect(body.outcome.summary).toContain('0 compositions moved, 1 joined,');
    expect(body.outcome.summary).toContain('0 item tags moved, 1 item tags deleted');
    const survivor = versionedObjectUidOf(uids[target]!);
    const version = await get(`/ehr/${target}/versioned_composition/${survivor}/version`);
    expect(version.body).toMatchObject({
      commit_audit: { change_type: { defining_code: { code_string: '251' } } },
      other_input_version_uids: [{ value: uids[source] }],
      preceding_version_uid: { value: uids[target] },
    });
    expect({ ...version.body.data, uid: null }).toEqual({ ...content.body, uid: null });
    const ended = versionedObjectUidOf(uids[source]!);
    expect((await get(`/ehr/${target}/composition/${ended}`)).status).toBe(204);
    expect((await get(`/ehr/${target}/composition/${uids[source]!}`)).status).toBe(200);
    const deletion = await get(`/ehr/${target}/versioned_composition/${ended}/version`);
    expect(deletion.body.commit_audit.change_type.defining_code.code_string).toBe('523');
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', target)).toEqual([
      [`${survivor}::local.cdr::3`],
    ]);
    const details = await admin(
      app,
      'get',
      `/ehr/merge_details?source=${source}&target=${target}&unmerge_data=true`,
    );
    expect(details.body.unmerge_data.deleted_item_tags).toMatchObject([{ id: loser, key: 'lost' }]);
    expect(details.body.unmerge_data.deletedCompositions[0].versions).toHaveLength(2);
    expect(details.body.unmerge_data.compositions).toEqual([]);
  });

  it('PERSISTENT: folder items follow the joined ones', async () => {
    const mine = await givenComposition(app, source, persistent());
    const theirs = await givenComposition(app, target, persistent());
    await givenDirectory(app, source, folder('mine', [versionedObjectUidOf(mine), mine]));
    await merge(app, source, target, { composition_merge: 'PERSISTENT', folder_merge: 'COPY' });
    const { body } = await get(`/ehr/${target}/directory`);
    expect(body.items.map((item: Json) => item.id)).toEqual([
      { _type: 'HIER_OBJECT_ID', value: versionedObjectUidOf(theirs) },
      { _type: 'HIER_OBJECT_ID', value: versionedObjectUidOf(theirs) },
    ]);
  });

  it('PERSISTENT: without exactly one on each side they just move, and the summary says so', async () => {
    await givenComposition(app, source, persistent());
    await givenComposition(app, source, persistent());
    await givenComposition(app, target, persistent());
    const { body } = await merge(app, source, target, { composition_merge: 'PERSISTENT' });
    expect(body.outcome.summary).toBe(
      '2 compositions moved, 0 joined, 0 folder copied, 3 contributions moved, 0 item tags moved, 0 item tags deleted, not joined: persistent_minimal.en.v1 (2 in the source, 1 in the target)',
    );
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', target)).toHaveLength(3);
  });
});

async function newestContribution(ehrId: string): Promise<string> {
  const { body } = await get(`/ehr/${ehrId}?include=contributions`);
  return String((body.contributions as Json[]).at(-1)!.id.value);
}

describe('subject and EHR_STATUS', () => {
  it('the subject stays reserved for the target, which keeps its own EHR_STATUS', async () => {
    const subjectId = randomUUID();
    source = await givenEhr(app, statusOf(subjectId));
    const before = await get(`/ehr/${target}/ehr_status`);
    const bySubject = `/ehr?subject_id=${subjectId}&subject_namespace=hospital`;
    expect((await get(bySubject)).status).toBe(200);
    const statusTag = await givenTag(
      app,
      {
        ehrId: source,
        type: 'ehr_status',
        uid: versionedObjectUidOf((await get(`/ehr/${source}/ehr_status`)).body.uid.value),
      },
      's',
    );
    const merged = await merge(app, source, target);
    expect(merged.body.outcome.summary).toContain('1 item tags deleted');
    expect((await get(`/ehr/${target}/ehr_status`)).text).toBe(before.text);
    const found = await get(bySubject);
    expect([found.status, found.headers.link]).toEqual([
      404,
      expect.stringContaining(`/ehr/${target}>; rel="successor-version"`),
    ]);
    const other = await request(app).post(`${V1}/ehr`).send(statusOf(subjectId));
    expect([other.status, other.body.message]).toEqual([409, expect.stringContaining(target)]);
    const third = await givenEhr(app);
    const thirdTake = await request(app)
      .put(`${V1}/ehr/${third}/ehr_status`)
      .set('If-Match', String((await get(`/ehr/${third}/ehr_status`)).headers.etag))
      .send(statusOf(subjectId));
    expect(thirdTake.status).toBe(409);
    const take = await request(app)
      .put(`${V1}/ehr/${target}/ehr_status`)
      .set('If-Match', String(before.headers.etag))
      .send(statusOf(subjectId));
    expect(take.status).toBe(200);
    expect((await get(bySubject)).body.ehr_id.value).toBe(target);
    const details = await admin(
      app,
      'get',
      `/ehr/merge_details?source=${source}&target=${target}&unmerge_data=true`,
    );
    expect(details.body.unmerge_data.deleted_item_tags).toMatchObject([{ id: statusTag }]);
    const refused = await unmerge(app, source, target);
    expect([refused.status, refused.body.reasons]).toEqual([409, [expect.stringContaining('subject')]]);
  });
});
