import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
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
  rows,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import {
  clinicalState,
  expectRestored,
  recordState,
  type RecordState,
} from '../../support/merge/clinical-state.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const get = (path: string): request.Test => request(app).get(`${V1}${path}`);
const persistent = (): Json => aComposition('persistent_minimal.en.v1');
const BOTH = { folder_merge: 'COPY', composition_merge: 'PERSISTENT' };

let source = '';
let target = '';
/** With EHRs: what is verified is what the case itself did. */
const RECORDS = ['ehrs', 'versions', 'versioned_objects', 'contributions', 'aql', 'item_tags'];
const OF_MERGES = ['merge_records', 'merge_archive'];
beforeEach(async () => {
  for (const name of [...RECORDS, ...OF_MERGES]) await mongoose.connection.collection(name).deleteMany({});
  source = await givenEhr(app, statusOf(randomUUID()));
  target = await givenEhr(app);
});

const state = (...further: string[]): Promise<Record<string, string>> =>
  clinicalState([source, target, ...further]);

const record = (...further: string[]): Promise<RecordState> => recordState([source, target, ...further]);

async function expectAsBefore(before: RecordState, ...further: string[]): Promise<void> {
  await expectRestored(before, [source, target, ...further]);
  expect((await verifyStorage()).violations).toEqual([]);
}

/** Something of everything on both sides. */
async function givenRecords(): Promise<{
  readonly mine: string;
  readonly theirs: string;
  readonly moved: string;
}> {
  const moved = await givenUpdate(app, source, await givenComposition(app, source), aComposition());
  const gone = await givenComposition(app, source);
  await request(app).delete(`${V1}/ehr/${source}/composition/${gone}`);
  const mine = await givenComposition(app, source, persistent());
  const theirs = await givenComposition(app, target, persistent());
  const tag = { ehrId: source, type: 'composition' } as const;
  await givenTag(app, { ...tag, uid: versionedObjectUidOf(moved) }, 'moved');
  await givenTag(app, { ...tag, uid: moved }, 'of-version');
  await givenTag(app, { ...tag, uid: versionedObjectUidOf(mine) }, 'dropped');
  const status = String((await get(`/ehr/${source}/ehr_status`)).body.uid.value);
  await givenTag(app, { ehrId: source, type: 'ehr_status', uid: versionedObjectUidOf(status) }, 'dropped');
  await givenDirectory(
    app,
    source,
    folder('mine', [versionedObjectUidOf(moved), versionedObjectUidOf(mine)], [folder('inner')]),
  );
  return { mine, theirs, moved };
}

async function refusal(): Promise<string[]> {
  const dry = await unmerge(app, source, target, { dry_run: true });
  const real = await unmerge(app, source, target);
  expect([dry.status, real.status]).toEqual([409, 409]);
  expect({ ...dry.body, request_id: '' }).toEqual({ ...real.body, request_id: '' });
  const { reasons, message } = real.body as { reasons: string[]; message: string };
  expect(message).toBe(reasons.join('; '));
  expect(real.body).toMatchObject({
    source_ehr: source,
    target_ehr: target,
    outcome: { level: 'BASIC', summary: message },
    error: 'Conflict',
  });
  return reasons;
}

describe('unmerge is refused', () => {
  it.each([
    ['no body', undefined],
    ['an unknown field', { reversible: true }],
    ['a text for a boolean', { dry_run: 'no' }],
    ['an id that is no UUID', { source_ehr: 'x' }],
    ['a missing id', { target_ehr: undefined }],
  ])('for a bad body: %s', async (_, part) => {
    const body = part === undefined ? undefined : { source_ehr: source, target_ehr: target, ...part };
    expect((await admin(app, 'post', '/ehr/unmerge').send(body)).status).toBe(400);
  });

  it('for one EHR twice', async () => {
    expect((await unmerge(app, source, source)).status).toBe(400);
  });

  it('without a direct merge', async () => {
    expect((await unmerge(app, source, target)).status).toBe(404);
    expect((await unmerge(app, randomUUID(), target)).status).toBe(404);
    const last = await givenEhr(app);
    await merge(app, source, target);
    await merge(app, target, last);
    const response = await unmerge(app, source, last);
    expect([response.status, response.body.message]).toEqual([
      404,
      `EHR ${source} was not merged into ${last}`,
    ]);
  });

  it('when the merge was not reversible', async () => {
    await merge(app, source, target, { reversible: false });
    expect(await refusal()).toEqual(['the merge was not reversible']);
  });

  it('when the target was merged away itself', async () => {
    const last = await givenEhr(app);
    await merge(app, source, target);
    await merge(app, target, last);
    expect(await refusal()).toEqual([`EHR ${target} was merged into ${last}: take that merge back first`]);
    expect((await unmerge(app, target, last)).status).toBe(200);
    expect((await unmerge(app, source, target)).status).toBe(200);
  });

  it.each(['target', 'source'])('when the joined composition of the %s was changed since', async (side) => {
    const { mine, theirs } = await givenRecords();
    await merge(app, source, target, BOTH);
    const changed = versionedObjectUidOf(side === 'source' ? mine : theirs);
    await givenUpdate(app, target, `${changed}::local.cdr::2`, persistent());
    expect(await refusal()).toEqual([`the joined composition ${changed} was changed since`]);
  });

  it('when a version the merge made was tagged since, not for a joined composition that was erased', async () => {
    const { mine, theirs } = await givenRecords();
    await merge(app, source, target, BOTH);
    await givenTag(
      app,
      { ehrId: target, type: 'composition', uid: `${versionedObjectUidOf(theirs)}::local.cdr::2` },
      'new',
    );
    await admin(app, 'delete', `/ehr/${target}/composition/${versionedObjectUidOf(mine)}`);
    expect(await refusal()).toEqual([
      `the version ${versionedObjectUidOf(theirs)}::local.cdr::2 of the joined composition ${versionedObjectUidOf(theirs)} has item tags`,
    ]);
  });

  it('when the directory that the merge made was changed since', async () => {
    await givenRecords();
    await merge(app, source, target, BOTH);
    const directory = await get(`/ehr/${target}/directory`);
    const update = request(app)
      .put(`${V1}/ehr/${target}/directory`)
      .set('If-Match', String(directory.headers.etag));
    expect((await update.send(folder('other'))).status).toBe(200);
    expect(await refusal()).toEqual(['the directory that the merge created was changed since']);
  });

  it('with all reasons at once', async () => {
    const { moved, theirs } = await givenRecords();
    const subject = (await get(`/ehr/${source}/ehr_status`)).body.subject as Json;
    await merge(app, source, target, BOTH);
    const audit = { change_type: { value: 'modification' } };
    const version = (uid: string, data: Json): Json => ({
      preceding_version_uid: { value: uid },
      commit_audit: audit,
      data,
    });
    const both = await request(app)
      .post(`${V1}/ehr/${target}/contribution`)
      .send({
        versions: [
          version(moved, aComposition()),
          version(`${versionedObjectUidOf(theirs)}::local.cdr::2`, persistent()),
        ],
      });
    expect([both.status, both.text]).toEqual([201, '']);
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      subject,
      is_queryable: true,
      is_modifiable: false,
    };
    const taken = request(app)
      .put(`${V1}/ehr/${target}/ehr_status`)
      .set('If-Match', String((await get(`/ehr/${target}/ehr_status`)).headers.etag));
    expect((await taken.send(status)).status).toBe(200);
    expect(await refusal()).toEqual([
      `the joined composition ${versionedObjectUidOf(theirs)} was changed since`,
      expect.stringMatching(/^CONTRIBUTION .*, made since, holds versions of moved objects and of others$/),
      `the subject of the source is now used by EHR ${target}: give that one another subject first`,
      `EHR with id ${target} does not allow modification: change its EHR_STATUS first`,
    ]);
  });
});

describe('unmerge', () => {
  it.each([
    ['BASIC', {}],
    ['COPY', { folder_merge: 'COPY' }],
    ['PERSISTENT', { composition_merge: 'PERSISTENT' }],
    ['COPY and PERSISTENT', BOTH],
  ])('puts both EHRs back to what they were: %s', async (_, modes) => {
    await givenRecords();
    await givenDirectory(app, target, folder('theirs'));
    const before = await record();
    const merged = await merge(app, source, target, modes);
    expect(merged.status).toBe(200);
    const between = await state();
    const dry = await unmerge(app, source, target, { dry_run: true });
    expect(dry.body.outcome.summary).toMatch(/^DRY RUN: \d compositions moved back/);
    expect(await state()).toEqual(between);
    const { status, body } = await unmerge(app, source, target);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...merged.body,
      plan: undefined,
      merge_id: undefined,
      outcome: { ...merged.body.outcome, summary: body.outcome.summary },
    });
    expect(`DRY RUN: ${String(body.outcome.summary)}`).toBe(dry.body.outcome.summary);
    await expectAsBefore(before);
    expect((await admin(app, 'get', `/ehr/merge_target/${source}`)).status).toBe(404);
    expect((await admin(app, 'get', `/ehr/merge_details?source=${source}&target=${target}`)).status).toBe(
      404,
    );
    expect((await merge(app, source, target, modes)).status).toBe(200);
    const audit = await admin(app, 'get', `/audit?ehr_id=${source}`);
    expect(
      (audit.body as Json[])
        .map(({ operation }) => String(operation))
        .filter((name) => /merge$|mergeEhrs/.test(name)),
    ).toEqual(['mergeEhrs', 'unmerge', 'unmerge', 'mergeEhrs']);
  });

  it('puts a directory away that the merge had made', async () => {
    await givenRecords();
    const before = await record();
    await merge(app, source, target, BOTH);
    const made = await get(`/ehr/${target}/directory`);
    const uid = String(made.body.uid.value);
    await unmerge(app, source, target);
    await expectAsBefore(before);
    expect((await get(`/ehr/${target}/directory`)).status).toBe(204);
    expect((await get(`/ehr/${target}/directory/${uid}`)).body).toEqual(made.body);
    await givenDirectory(app, target, folder('new'));
  });

  it('keeps what was written since, and sends back what was written to moved compositions only', async () => {
    const { moved } = await givenRecords();
    await merge(app, source, target, BOTH);
    const since = await givenUpdate(app, target, moved, aComposition());
    const own = await givenComposition(app, target);
    const tag = await givenTag(
      app,
      { ehrId: target, type: 'composition', uid: versionedObjectUidOf(moved) },
      'since',
    );
    const ownTag = await givenTag(
      app,
      { ehrId: target, type: 'composition', uid: versionedObjectUidOf(own) },
      'since',
    );
    const { body } = await unmerge(app, source, target);
    expect(body.outcome.summary).toBe(
      '2 compositions moved back, 1 separated, 1 folder removed, 8 contributions moved back, 3 item tags moved back, 2 item tags restored',
    );
    expect((await get(`/ehr/${source}/composition/${since}`)).status).toBe(200);
    expect((await get(`/ehr/${target}/composition/${since}`)).status).toBe(404);
    expect((await get(`/ehr/${target}/composition/${own}`)).status).toBe(200);
    const version = await get(
      `/ehr/${source}/versioned_composition/${versionedObjectUidOf(since)}/version/${since}`,
    );
    const contribution = String(version.body.contribution.id.value);
    expect((await get(`/ehr/${source}/contribution/${contribution}`)).status).toBe(200);
    const tags = async (ehrId: string, uid: string): Promise<string[]> => {
      const found = await request(app).get(
        `/rest/experimental/tags/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}/item_tag`,
      );
      return (found.body as Json[]).map(({ id }) => String(id));
    };
    expect(await tags(source, moved)).toContain(tag);
    expect(await tags(target, own)).toEqual([ownTag]);
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', source)).toHaveLength(2);
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', target)).toHaveLength(2);
  });

  it('leaves out what an administrator erased since, and says so', async () => {
    const { moved } = await givenRecords();
    await merge(app, source, target);
    await admin(app, 'delete', `/ehr/${target}/composition/${versionedObjectUidOf(moved)}`);
    const { status, body } = await unmerge(app, source, target);
    expect(status).toBe(200);
    expect(body.outcome.summary).toContain('2 compositions moved back');
    expect(body.outcome.summary).toContain(
      `left out: composition ${versionedObjectUidOf(moved)}, erased since`,
    );
  });

  it('keeps the versions of a directory that went on, and takes the copied FOLDER out of it', async () => {
    await givenRecords();
    await givenDirectory(app, target, folder('theirs'));
    await merge(app, source, target, BOTH);
    const merged = await get(`/ehr/${target}/directory`);
    const changed = { ...merged.body, folders: [folder('since'), ...(merged.body.folders as Json[])] };
    const update = request(app)
      .put(`${V1}/ehr/${target}/directory`)
      .set('If-Match', String(merged.headers.etag));
    expect((await update.send(changed)).status).toBe(200);
    expect((await unmerge(app, source, target, { dry_run: true })).status).toBe(200);
    const { status } = await unmerge(app, source, target);
    expect(status).toBe(200);
    const directory = await get(`/ehr/${target}/directory`);
    expect(directory.headers.etag).toMatch(/::4"$/);
    expect(directory.body.folders.map((one: Json) => one.name.value)).toEqual(['since']);
    const version = await get(`/ehr/${target}/directory/${String(merged.headers.etag).replaceAll('"', '')}`);
    expect(version.status).toBe(200);
    expect(version.body.folders).toHaveLength(1);
    expect((await merge(app, source, target, BOTH)).status).toBe(200);
  });

  it('knows the copied FOLDER without uids, and keeps at the root what others put into it', async () => {
    await givenRecords();
    await givenDirectory(app, target, folder('theirs'));
    await merge(app, source, target, BOTH);
    const own = versionedObjectUidOf(await givenComposition(app, target));
    const merged = await get(`/ehr/${target}/directory`);
    const [copy] = merged.body.folders as Json[];
    const bare = {
      ...folder(String(copy!.name.value), [own]),
      items: [...copy!.items, ...folder('x', [own]).items],
    };
    const changed = { ...folder('theirs'), folders: [{ ...bare, folders: [folder('since')] }] };
    const update = request(app)
      .put(`${V1}/ehr/${target}/directory`)
      .set('If-Match', String(merged.headers.etag));
    expect((await update.send(changed)).status).toBe(200);
    const { body } = await unmerge(app, source, target);
    expect(body.outcome.summary).toContain('1 folder removed');
    expect(body.outcome.summary).toContain('kept at the root of the directory: FOLDER since');
    expect(body.outcome.summary).toContain(`kept at the root of the directory: item ${own}`);
    const directory = (await get(`/ehr/${target}/directory`)).body as Json;
    expect(directory.folders.map((one: Json) => one.name.value)).toEqual(['since']);
    expect(directory.items.map((one: Json) => one.id.value)).toEqual([own]);
  });

  it('shows and records why, and who asked for it, of the merge and of the unmerge', async () => {
    const why = (reason: string): object => ({ reason, requested_by: 'registry' });
    expect((await merge(app, source, target, why('x'.repeat(501)))).status).toBe(400);
    const merged = await merge(app, source, target, why('registered twice'));
    expect(merged.body).toMatchObject(why('registered twice'));
    const details = await admin(app, 'get', `/ehr/merge_details?source=${source}&target=${target}`);
    expect(details.body).toMatchObject(why('registered twice'));
    await unmerge(app, source, target, { ...why('two people'), on_conflict: 'take_back' });
    const list = await admin(app, 'get', `/ehr/merge_status?undone=true&source=${source}`);
    expect(list.body).toMatchObject([{ ...why('registered twice'), undone: why('two people') }]);
    const audit = await admin(app, 'get', `/audit?ehr_id=${source}`);
    const told = (audit.body as Json[]).filter(({ reason }) => reason !== undefined);
    expect(told.map(({ operation, reason, options }) => [operation, reason, options.requested_by])).toEqual([
      ['unmerge', 'two people', 'registry'],
      ['mergeEhrs', 'registered twice', 'registry'],
    ]);
    expect(told[0]!.options.on_conflict).toBe('take_back');
  });

  it('undoes a chain in reverse order', async () => {
    await givenRecords();
    const last = await givenEhr(app);
    await givenComposition(app, last, persistent());
    await givenDirectory(app, last, folder('last'));
    const first = await record(last);
    await merge(app, source, target, BOTH);
    const second = await record(last);
    await merge(app, target, last, BOTH);
    expect((await unmerge(app, target, last)).status).toBe(200);
    await expectAsBefore(second, last);
    expect((await unmerge(app, source, target)).status).toBe(200);
    await expectAsBefore(first, last);
  });

  it('restores the flags: an EHR that is not queryable is none again', async () => {
    const hidden = await givenEhr(app, { _type: 'EHR_STATUS', is_queryable: false, is_modifiable: false });
    await merge(app, source, target);
    await unmerge(app, source, target);
    const before = await record(hidden);
    await merge(app, hidden, target);
    await unmerge(app, hidden, target);
    await expectAsBefore(before, hidden);
  });

  it('is refused when the last EHR of a chain took the subject of the first', async () => {
    const subject = (await get(`/ehr/${source}/ehr_status`)).body.subject as Json;
    const last = await givenEhr(app);
    await merge(app, source, target);
    await merge(app, target, last);
    const take = async (subjects: Json): Promise<number> => {
      const { etag } = (await get(`/ehr/${last}/ehr_status`)).headers;
      const status = { ...statusOf('x'), subject: subjects };
      const answer = request(app).put(`${V1}/ehr/${last}/ehr_status`).set('If-Match', String(etag));
      return (await answer.send(status)).status;
    };
    expect(await take(subject)).toBe(200);
    const refused = await unmerge(app, target, last);
    expect([refused.status, refused.body.reasons]).toEqual([
      409,
      [
        `the subject of EHR ${source}, whose data go back with it, is now used by EHR ${last}: give that one another subject first`,
      ],
    ]);
    expect(refused.body.obstacles).toMatchObject([{ code: 'subject_in_use', object_ids: [] }]);
    expect(await take({ _type: 'PARTY_SELF' })).toBe(200);
    expect((await unmerge(app, target, last)).status).toBe(200);
    expect((await unmerge(app, source, target)).status).toBe(200);
    expect((await get(`/ehr/${source}/ehr_status`)).body.subject).toEqual(subject);
  });

  it('changes no locked source by way of its target: what was changed there stays', async () => {
    const uid = await givenComposition(app, source);
    const other = await givenComposition(app, source);
    const status = await get(`/ehr/${source}/ehr_status`);
    const lock = request(app)
      .put(`${V1}/ehr/${source}/ehr_status`)
      .set('If-Match', String(status.headers.etag));
    expect((await lock.send({ ...status.body, is_modifiable: false })).status).toBe(200);
    await merge(app, source, target);
    await givenUpdate(app, target, uid, aComposition());
    for (const on_conflict of [undefined, 'take_back']) {
      const refused = await unmerge(app, source, target, { on_conflict });
      expect([refused.status, refused.body.obstacles]).toMatchObject([
        409,
        [{ code: 'source_not_modifiable', object_ids: [versionedObjectUidOf(uid)] }],
      ]);
    }
    expect((await unmerge(app, source, target, { on_conflict: 'keep_in_target' })).status).toBe(200);
    expect((await get(`/ehr/${target}/composition/${versionedObjectUidOf(uid)}`)).status).toBe(200);
    expect((await get(`/ehr/${source}/composition/${other}`)).status).toBe(200);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('goes on after everyday edits, as on_conflict says', async () => {
    const { mine, theirs, moved } = await givenRecords();
    await merge(app, source, target, BOTH);
    const [s, t] = [versionedObjectUidOf(mine), versionedObjectUidOf(theirs)];
    const edited = { ...persistent(), composer: { _type: 'PARTY_IDENTIFIED', name: 'edited' } };
    await givenUpdate(app, target, `${t}::local.cdr::2`, edited);
    const commit_audit = { change_type: { value: 'creation' } };
    const filed = await request(app)
      .post(`${V1}/ehr/${target}/contribution`)
      .send({
        versions: [
          { data: aComposition(), commit_audit },
          {
            data: aComposition(),
            commit_audit: { change_type: { value: 'modification' } },
            preceding_version_uid: { value: moved },
          },
        ],
      });
    const contribution = String(filed.headers.etag).replaceAll('"', '');
    const { body } = await unmerge(app, source, target);
    const choices = ['keep_in_target', 'take_back'];
    expect(body.obstacles).toEqual([
      { code: 'joined_changed', message: body.reasons[0], object_ids: [t], choices },
      {
        code: 'contribution_mixed',
        message: body.reasons[1],
        object_ids: [versionedObjectUidOf(moved)],
        contribution_uid: contribution,
        choices,
      },
    ]);
    expect((await unmerge(app, source, target, { on_conflict: 'maybe' })).status).toBe(400);
    const half = await unmerge(app, source, target, { on_conflict: { [t]: 'take_back' } });
    expect([half.status, half.body.obstacles.length]).toEqual([409, 1]);
    const stray = await unmerge(app, source, target, { on_conflict: { [t]: 'take_back', [s]: 'take_back' } });
    expect([stray.status, stray.body.message]).toEqual([
      400,
      `on_conflict names what is no obstacle: ${s}; obstacles are of ${t}, ${contribution}, ${versionedObjectUidOf(moved)}`,
    ]);
    const on_conflict = { [t]: 'take_back', [contribution]: 'keep_in_target' };
    const done = await unmerge(app, source, target, { on_conflict });
    expect([done.status, done.body.message]).toEqual([200, undefined]);
    expect((await get(`/ehr/${source}/composition/${s}`)).body.composer.name).toBe('edited');
    expect((await get(`/ehr/${target}/composition/${t}`)).headers.etag).toMatch(/::4"$/);
    expect((await get(`/ehr/${target}/composition/${versionedObjectUidOf(moved)}`)).status).toBe(200);
    expect((await verifyStorage()).violations).toEqual([]);
    const list = await admin(app, 'get', `/ehr/merge_status?undone=true&source=${source}`);
    expect(list.body).toMatchObject([{ source_ehr: source, undone: { committer: 'root-admin' } }]);
    expect((await admin(app, 'get', `/ehr/merge_status?source=${source}`)).status).toBe(404);
  });
});
