import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { writeGrouped, type CommitWrites } from '../../change/commit/commit-group.js';
import { createComposition, updateComposition } from '../../change/composition/composition.js';
import { createEhr } from '../../change/ehr.js';
import { EVENTS, type CommitGroupEvent } from '../../database/events.js';
import { completedRequestInsert } from '../../models/idempotency.js';
import { containerInsert } from '../../models/versioned-object.js';
import { versionById, type VersionDoc } from '../../models/version.js';
import type { Write } from '../../models/access/write.js';
import { aContext, aMetadata, reader, storedEhr, storedTemplate } from '../support/change.js';
import { useDatabase } from '../support/database.js';

useDatabase();
const context = aContext();
const sizes: number[] = [];
const note = (event: unknown): void => void sizes.push((event as CommitGroupEvent).size);
beforeAll(() => storedTemplate());
beforeEach(() => {
  sizes.length = 0;
  subscribe(EVENTS.commitGroup, note);
});
afterEach(() => {
  unsubscribe(EVENTS.commitGroup, note);
});

const keyInsert = (id: string): Write =>
  completedRequestInsert({
    _id: id,
    body_hash: '',
    status: 201,
    result: { kind: 'TEST', uids: {} },
    expires_at: new Date(),
  });
const objectInsert = (id: string): Write =>
  containerInsert({
    _id: id,
    ehr_id: 'e',
    type: 'COMPOSITION',
    time_created: new Date(),
    latest_version: 1,
    latest_version_uid: `${id}::1`,
    latest_time_committed: new Date(),
    deleted: false,
  });
const writing = (...writes: Write[]): CommitWrites => ({ ehrId: 'e', writes, bytes: 100 });
const storedKeys = (prefix: string): Promise<number> =>
  mongoose.connection
    .collection('idempotency_keys')
    .countDocuments({ _id: { $regex: `^${prefix}` } as never });
const create = (ehrId: string): Promise<VersionDoc> =>
  createComposition(context, { ehrId, metadata: aMetadata() }, reader());

describe('commits that wait while another one is written', () => {
  it('go together, at most 64 of them, and the first waits for nobody', async () => {
    const all = Array.from({ length: 100 }, (_, index) =>
      writeGrouped(writing(keyInsert(`many-${index}`)), 1),
    );
    expect(await Promise.all(all)).toEqual(all.map(() => true));
    expect(sizes).toEqual([1, 64, 35]);
    expect(await storedKeys('many-')).toBe(100);
  });

  it('are at most 4 MiB together; a larger one goes by itself', async () => {
    const mebibytes = [0.1, 1, 2.5, 1, 5, 0.1, 0.1];
    const all = mebibytes.map((size, index) =>
      writeGrouped({ ...writing(keyInsert(`large-${index}`)), bytes: size * 1024 * 1024 }, 1),
    );
    await Promise.all(all);
    expect(sizes).toEqual([1, 2, 1, 1, 2]);
  });

  it('wait in one of several rows, that of their EHR', async () => {
    const ehrIds = ['00000000-0', '00000001-0', '00000000-0', '00000001-0', '00000001-0'];
    const all = ehrIds.map((ehrId, index) =>
      writeGrouped({ ehrId, writes: [keyInsert(`row-${index}`)], bytes: 1 }, 2),
    );
    await Promise.all(all);
    expect(sizes.sort()).toEqual([1, 1, 1, 2]);
  });
});

describe('a commit that cannot be written', () => {
  it('of whom an id is taken is told so, and the others are written', async () => {
    const taken = randomUUID();
    expect(await writeGrouped(writing(objectInsert(taken)), 1)).toBe(true);
    const others = Array.from({ length: 20 }, (_, index) => writing(keyInsert(`beside-${index}`)));
    const bad = writing(keyInsert('of-the-bad-one'), objectInsert(taken));
    const commits = [...others.slice(0, 10), bad, ...others.slice(10)];
    const done = await Promise.all(commits.map((commit) => writeGrouped(commit, 1)));
    expect(done).toEqual(commits.map((commit) => commit !== bad));
    expect(await storedKeys('beside-')).toBe(20);
    expect(await storedKeys('of-the-bad-one')).toBe(0);
  });

  it('does not touch the others, however many such there are', async () => {
    const taken = randomUUID();
    await writeGrouped(writing(objectInsert(taken)), 1);
    const commits = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? writing(objectInsert(taken)) : writing(keyInsert(`among-${index}`)),
    );
    const done = await Promise.all(commits.map((commit) => writeGrouped(commit, 1)));
    expect(done).toEqual(commits.map((_, index) => index % 2 === 1));
    expect(await storedKeys('among-')).toBe(20);
  });

  it('fails alone when the database refuses a document of it', async () => {
    const impossible = { ...keyInsert('impossible'), insert: { _id: ['no', 'array'] } } as unknown as Write;
    const commits = [writing(keyInsert('fine-1')), writing(keyInsert('fine-2')), writing(impossible)];
    commits.push(writing(keyInsert('fine-3')));
    const done = await Promise.allSettled(commits.map((commit) => writeGrouped(commit, 1)));
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await storedKeys('fine-')).toBe(3);
  });

  it('is written once when the same Idempotency-Key comes twice', async () => {
    const done = await Promise.allSettled([
      writeGrouped(writing(keyInsert('ahead')), 1),
      writeGrouped(writing(keyInsert('twice'), objectInsert('first of two')), 1),
      writeGrouped(writing(keyInsert('twice'), objectInsert('second of two')), 1),
    ]);
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const objects = mongoose.connection.collection('versioned_objects');
    expect(await objects.countDocuments({ _id: { $in: ['first of two', 'second of two'] } as never })).toBe(
      1,
    );
  });
});

describe('requests at the same time', () => {
  it('fail each for its own reason, and what is acknowledged is stored', async () => {
    const ehrIds = await Promise.all([storedEhr(context), storedEhr(context), storedEhr(context)]);
    const locked = await storedEhr(context, {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      name: { _type: 'DV_TEXT', value: 'EHR Status' },
      subject: { _type: 'PARTY_SELF' },
      is_queryable: true,
      is_modifiable: false,
    });
    sizes.length = 0;
    const good = Array.from({ length: 24 }, (_, index) => create(ehrIds[index % 3] ?? ''));
    const bad = [
      create(randomUUID()),
      create(locked),
      createEhr(context, { ehrId: ehrIds[0], status: null, metadata: aMetadata() }),
    ];
    const reasons = (await Promise.allSettled(bad)).map((one) => one.status === 'rejected' && one.reason);
    expect(reasons).toEqual([
      expect.objectContaining({ code: 'not-found' }),
      expect.objectContaining({ code: 'conflict' }),
      expect.objectContaining({ code: 'conflict' }),
    ]);
    for (const { _id: uid, ehr_id: ehrId } of await Promise.all(good))
      expect(await versionById(ehrId, 'COMPOSITION', uid)).not.toBeNull();
    expect(Math.max(...sizes)).toBeGreaterThan(1);
  });

  it('that update one object: one wins, the others are told the version that came', async () => {
    const ehrId = await storedEhr(context);
    const first = await create(ehrId);
    const updates = Array.from({ length: 16 }, () =>
      updateComposition(
        context,
        { ehrId, versionedObjectUid: first.object_id, ifMatch: first._id, metadata: aMetadata('251') },
        reader(),
      ),
    );
    const beside = Array.from({ length: 8 }, () => create(ehrId));
    const done = await Promise.allSettled(updates);
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of done) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'precondition-failed' });
    }
    expect(await Promise.all(beside)).toHaveLength(8);
  });
});
