import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { resumeMerges } from '../../../merge/steps.js';
import { JOB_KNOWN_MS } from '../../../models/access/merge-job.js';
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
  unmerge,
} from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, mergeStepsFrom: 5 });
beforeAll(() => givenMergeTemplates(app));

const COMPOSITIONS = 8;
let source = '';
let target = '';
let mine: string[] = [];
let theirs = '';
beforeEach(async () => {
  await resumeMerges();
  [source, target] = [await givenEhr(app), await givenEhr(app)];
  mine = [];
  for (let count = 0; count < COMPOSITIONS; count += 1)
    mine.push(await givenComposition(app, source, aComposition('minimal_evaluation.en.v1')));
  mine.push(await givenUpdate(app, source, mine[0]!, aComposition('minimal_evaluation.en.v1')));
  theirs = await givenComposition(app, target, aComposition('minimal_observation.en.v1'));
  await givenTag(app, { ehrId: source, type: 'composition', uid: mine[1]!.split('::')[0]! }, 'k');
  await givenDirectory(app, source, folder('own'));
  await givenDirectory(app, target, folder('ward', [mine[2]!.split('::')[0]!, theirs.split('::')[0]!]));
});

const collection = (name: string): mongoose.mongo.Collection => mongoose.connection.collection(name);

async function expectNoJobs(): Promise<void> {
  expect(await collection('merge_jobs').countDocuments()).toBe(0);
  expect(await collection('ehrs').countDocuments({ merging: { $exists: true } })).toBe(0);
  expect((await verifyStorage()).violations).toEqual([]);
}

/** What a server killed with SIGKILL leaves: both EHRs held, and of each collection every other document still the source's. */
async function givenHalfMoved(kind: 'merge' | 'unmerge'): Promise<void> {
  const job = { source_ehr: source, target_ehr: target, phase: 'moving', started_at: new Date(), kind };
  const id = randomUUID();
  await collection('merge_jobs').insertOne({ _id: id as never, ...job });
  await collection('ehrs').updateMany({ _id: { $in: [source, target] } } as object, {
    $set: { merging: id },
  });
  const uids = new Set(mine.map((uid) => uid.split('::')[0]!));
  for (const [name, owner, object] of [
    ['versioned_objects', 'ehr_id', '_id'],
    ['versions', 'ehr_id', 'object_id'],
    ['aql', 'ehr', 'vo'],
    ['item_tags', 'owner_id', 'target'],
  ] as const) {
    const found = await collection(name)
      .find({ [owner]: target, [object]: { $in: [...uids] } })
      .toArray();
    const half = found.filter((_, index) => index % 2 === 0).map(({ _id }) => _id);
    expect(half.length).toBeGreaterThan(0);
    await collection(name).updateMany({ _id: { $in: half } }, { $set: { [owner]: source } });
  }
  const contributions = await collection('contributions').find({ ehr_id: target }).toArray();
  const moved = contributions.filter((one) => mine.includes(String((one.versions as Json[])[0]!.uid)));
  const half = moved.filter((_, index) => index % 2 === 0).map(({ _id }) => _id);
  await collection('contributions').updateMany({ _id: { $in: half } }, { $set: { ehr_id: source } });
  // As long as a server waits before it moves anything.
  await setTimeout(JOB_KNOWN_MS);
}

async function setQueryable(ehrId: string, isQueryable: boolean): Promise<void> {
  const path = `${V1}/ehr/${ehrId}/ehr_status`;
  const { body, headers } = await request(app).get(path);
  const changed = await request(app)
    .put(path)
    .set('If-Match', headers.etag!)
    .send({ ...body, is_queryable: isQueryable });
  expect(changed.status).toBeLessThan(300);
}

const QUERIES = [
  'SELECT c/uid/value, e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value',
  'SELECT COUNT(DISTINCT e/ehr_id/value), COUNT(c/uid/value) FROM EHR e CONTAINS COMPOSITION c',
  'SELECT e/ehr_id/value, COUNT(*) FROM EHR e CONTAINS COMPOSITION c ORDER BY e/ehr_id/value',
  'SELECT v/uid/value, e/ehr_id/value FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c ORDER BY v/uid/value',
  'SELECT e/ehr_id/value, s/uid/value FROM EHR e CONTAINS (EHR_STATUS s AND COMPOSITION c) ORDER BY c/uid/value',
  'SELECT e/ehr_id/value FROM EHR e CONTAINS (COMPOSITION c[openEHR-EHR-COMPOSITION.minimal.v1] OR FOLDER f)',
  'SELECT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c ORDER BY e/ehr_id/value',
  'SELECT f/name/value, c/uid/value FROM EHR e CONTAINS FOLDER f CONTAINS COMPOSITION c ORDER BY c/uid/value',
  'SELECT e/compositions, e/contributions, e/folders FROM EHR e ORDER BY e/ehr_id/value',
  'SELECT c FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value LIMIT 3',
];

const LISTS = [
  '?include=compositions,contributions',
  '?include=versions',
  '/ehr_status',
  '/directory',
  '/extract',
];
/** When an EXTRACT was made is another time each time. */
const TODAY = { time_created: null };

/** Answers of everything that reads the two EHRs. */
async function answers(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const q of QUERIES) {
    found.push([q, await rows(app, q)]);
    found.push([q, await rows(app, q, target)]);
  }
  for (const q of [`SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value = '${target}'`])
    found.push(await rows(app, `${q} ORDER BY c/uid/value`));
  const tags = `${V1}/ehr/${target}/tags`;
  const paths = [...mine, theirs].flatMap((uid) => {
    const id = uid.split('::')[0]!;
    return [
      `composition/${uid}`,
      `composition/${id}`,
      `versioned_composition/${id}`,
      `versioned_composition/${id}/revision_history`,
      `versioned_composition/${id}/version`,
      `versioned_composition/${id}/version/${uid}`,
    ];
  });
  for (const ehrId of [source, target])
    for (const path of ['', ...LISTS, ...paths.map((one) => `/${one}`)]) {
      const { status, body, headers } = await request(app).get(`${V1}/ehr/${ehrId}${path}`);
      found.push([path, status, { ...body, ...TODAY, request_id: '' }, headers.link?.replace(/:\d+/, '')]);
    }
  const listed = await request(app).get(`${V1}/ehr/${target}?include=contributions`);
  for (const { id } of listed.body.contributions as Json[]) {
    const { status, body } = await request(app).get(`${V1}/ehr/${target}/contribution/${String(id.value)}`);
    found.push([status, body]);
  }
  found.push((await request(app).get(tags)).body);
  return found;
}

describe('a merge in steps', () => {
  it('is told by the dry run, and ends as one in a transaction does', async () => {
    const [few, other] = [await givenEhr(app), await givenEhr(app)];
    expect((await merge(app, few, other, { dry_run: true })).body.way).toBe('transaction');
    expect((await merge(app, source, target, { dry_run: true })).body.way).toBe('steps');
    const merged = await merge(app, source, target);
    expect([merged.status, merged.body.way, merged.body.outcome.summary]).toEqual([
      200,
      'steps',
      '8 compositions moved, 0 joined, 0 folder copied, 11 contributions moved, 1 item tags moved, 0 item tags deleted',
    ]);
    await expectNoJobs();
    const undone = await unmerge(app, source, target);
    expect([undone.status, undone.body.way]).toEqual([200, 'steps']);
    expect((await request(app).get(`${V1}/ehr/${source}/composition/${mine[0]!}`)).status).toBe(200);
  });

  it('is read as done from the moment it is decided, wherever its documents are', async () => {
    await merge(app, source, target);
    const done = await answers();
    await givenHalfMoved('merge');
    expect(await answers()).toEqual(done);
    await resumeMerges();
    await expectNoJobs();
    expect(await answers()).toEqual(done);
  });

  it.each([
    ['source', false],
    ['target', true],
  ])(
    'shows to queries what the target shows, at once, when the %s is not queryable',
    async (hidden, before) => {
      await setQueryable(hidden === 'source' ? source : target, false);
      await merge(app, source, target);
      const done = await answers();
      await givenHalfMoved('merge');
      await collection('aql').updateMany({ ehr: source }, { $set: { q: before } });
      expect(await answers()).toEqual(done);
      await resumeMerges();
      await expectNoJobs();
      expect(await answers()).toEqual(done);
    },
  );

  it('lets nobody write to its EHRs meanwhile', async () => {
    await merge(app, source, target);
    await givenHalfMoved('merge');
    const id = mine[1]!.split('::')[0]!;
    const writes = [
      request(app).post(`${V1}/ehr/${target}/composition`).send(aComposition()),
      request(app)
        .put(`${V1}/ehr/${target}/composition/${id}`)
        .set('If-Match', `"${mine[1]!}"`)
        .send(aComposition('minimal_evaluation.en.v1')),
      request(app)
        .put(`/rest/experimental/tags/ehr/${target}/composition/${id}/item_tag`)
        .send([{ key: 'x' }]),
      admin(app, 'delete', `/ehr/${target}?cascade=true`),
      admin(app, 'delete', `/ehr/${target}/composition/${id}`),
      unmerge(app, source, target),
      merge(app, target, await givenEhr(app)),
      merge(app, await givenEhr(app), target),
    ];
    for (const write of writes) {
      const { status, headers, body } = await write;
      expect([status, headers['retry-after'], body.message]).toEqual([
        503,
        '1',
        `EHR ${body.message.includes(source) ? source : target} is being merged`,
      ]);
    }
    expect((await request(app).post(`${V1}/ehr/${source}/composition`).send(aComposition())).status).toBe(
      409,
    );
    await resumeMerges();
    expect((await request(app).post(`${V1}/ehr/${target}/composition`).send(aComposition())).status).toBe(
      201,
    );
  });

  it('is undone when it was not decided', async () => {
    const before = await answers();
    const id = randomUUID();
    const job = { kind: 'merge', source_ehr: source, target_ehr: target, phase: 'planning' };
    await collection('merge_jobs').insertOne({ _id: id as never, ...job });
    await collection('ehrs').updateMany({ _id: { $in: [source, target] } } as object, {
      $set: { merging: id },
    });
    await collection('merge_archive').insertOne({
      _id: `${id}:moved:tag:0` as never,
      merge_id: id,
      kind: 'moved',
      body: { of: 'tag', ids: [] },
    });
    expect(await answers()).toEqual(before);
    const write = await request(app).post(`${V1}/ehr/${source}/composition`).send(aComposition());
    expect([write.status, write.headers['retry-after']]).toEqual([503, '1']);
    await resumeMerges();
    await expectNoJobs();
    expect(await collection('merge_archive').countDocuments({ merge_id: id })).toBe(0);
    expect(await answers()).toEqual(before);
    expect((await merge(app, source, target)).status).toBe(200);
  });

  it('is taken back at another time when that was not decided', async () => {
    await merge(app, source, target);
    const done = await answers();
    await givenHalfMoved('unmerge');
    expect(await answers()).toEqual(done);
    await resumeMerges();
    await expectNoJobs();
    expect(await answers()).toEqual(done);
    expect((await unmerge(app, source, target)).status).toBe(200);
  });

  it('shows a state that existed to readers and a queue of writers beside it', async () => {
    let isOn = true;
    const seen = new Set<string>();
    const reader = async (): Promise<void> => {
      while (isOn) {
        const counted = await rows(app, `SELECT e/ehr_id/value, COUNT(*) FROM EHR e CONTAINS COMPOSITION c`);
        const of = (ehrId: string): unknown => counted.find(([id]) => id === ehrId)?.[1] ?? 0;
        seen.add(`AQL ${String(of(source))} ${String(of(target))}`);
        const { body } = await request(app).get(`${V1}/ehr/${target}?include=compositions`);
        seen.add(`GET ${(body.compositions as Json[]).length}`);
      }
    };
    const statuses = new Set<number>();
    const acknowledged: string[] = [];
    const other = await givenEhr(app);
    const writer = async (ehrId: string): Promise<void> => {
      while (isOn) {
        const { status } = await request(app)
          .put(`${V1}/ehr/${ehrId}/ehr_status`)
          .set('If-Match', '*')
          .send({});
        statuses.add(status);
        const answer = await request(app).post(`${V1}/ehr/${other}/composition`).send(aComposition());
        acknowledged.push(String(answer.status));
      }
    };
    const running = [reader(), writer(target)];
    for (let round = 0; round < 2; round += 1) {
      expect((await merge(app, source, target)).status).toBe(200);
      expect((await unmerge(app, source, target)).status).toBe(200);
    }
    isOn = false;
    await Promise.all(running);
    expect([...seen].toSorted()).toEqual(['AQL 0 9', 'AQL 8 1', 'GET 1', 'GET 9']);
    expect(new Set(acknowledged)).toEqual(new Set(['201']));
    await expectNoJobs();
  });
});
