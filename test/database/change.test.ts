import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { commit, writeContribution } from '../../change/commit/commit.js';
import {
  createComposition,
  deleteComposition,
  newComposition,
  updateComposition,
} from '../../change/composition/composition.js';
import { requireObjectVersionId } from '../../openehr/base/object-version-id.js';
import { updateEhrStatus } from '../../change/ehr-status.js';
import { inTransaction } from '../../database/transaction.js';
import { claimStorage } from '../../models/settings.js';
import type { VersionDoc } from '../../models/version.js';
import {
  aContext,
  aMetadata,
  readComposition,
  reader,
  storedEhr,
  storedTemplate,
} from '../support/change.js';
import { useDatabase } from '../support/database.js';
import { dump } from '../support/resources.js';

useDatabase();
const context = aContext();
let ehrId = '';
beforeAll(async () => {
  await storedTemplate();
  ehrId = await storedEhr(context);
});

const create = (): Promise<VersionDoc> =>
  createComposition(context, { ehrId, metadata: aMetadata() }, reader());
const update = (version: VersionDoc, using = context): Promise<VersionDoc> =>
  updateComposition(
    using,
    { ehrId, versionedObjectUid: version.object_id, ifMatch: version._id, metadata: aMetadata('251') },
    reader(),
  );

function codeOf(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === 'fulfilled') return 'done';
  const reason: unknown = outcome.reason;
  return reason instanceof CdrError ? reason.code : String(reason);
}

async function chain(versionedObjectUid: string): Promise<VersionDoc[]> {
  return mongoose.connection
    .collection<VersionDoc>('versions')
    .find({ object_id: versionedObjectUid })
    .sort({ version: 1 })
    .toArray();
}

describe('64 parallel updates with one If-Match', () => {
  it('make one version, whatever the interleaving', async () => {
    const first = await create();
    let latest = first;
    for (let round = 0; round < 3; round += 1) {
      const version = latest;
      const outcomes = await Promise.allSettled(Array.from({ length: 64 }, () => update(version)));
      const codes = outcomes.map(codeOf);
      expect(codes.filter((code) => code === 'done')).toHaveLength(1);
      expect(codes.filter((code) => code === 'precondition-failed')).toHaveLength(63);
      latest = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))[0]!;
      const refused = outcomes.find((outcome) => outcome.status === 'rejected');
      expect((refused?.reason as CdrError).details.latestVersionUid).toBe(latest._id);
    }
    expect((await chain(first.object_id)).map((version) => version.version)).toEqual([1, 2, 3, 4]);
  });

  it('and 16 parallel deletions delete once', async () => {
    const version = await create();
    const change = {
      ehrId,
      metadata: aMetadata('523', '523'),
      versionId: requireObjectVersionId(version._id),
      versionUid: version._id,
    };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 16 }, () => deleteComposition(context, change)),
    );
    const codes = outcomes.map(codeOf);
    expect(codes.filter((code) => code === 'done')).toHaveLength(1);
    expect(codes.filter((code) => code === 'conflict' || code === 'invalid')).toHaveLength(15);
    expect(codes).toContain('conflict');
    expect(await chain(version.object_id)).toHaveLength(2);
  });
});

describe('parallel changes of one EHR', () => {
  it('all go through when they do not touch the same container', async () => {
    const made = await Promise.all(Array.from({ length: 32 }, create));
    expect(new Set(made.map((version) => version.object_id)).size).toBe(32);
    const updated = await Promise.all(made.map((version) => update(version)));
    expect(updated.map((version) => version.version)).toEqual(Array<number>(32).fill(2));
  });

  it('keep exactly one latest derived document for each container', async () => {
    const latest = await mongoose.connection
      .collection('aql')
      .aggregate<{ _id: string; n: number }>([
        { $match: { latest: true } },
        { $group: { _id: '$vo', n: { $sum: 1 } } },
        { $match: { n: { $ne: 1 } } },
      ])
      .toArray();
    expect(latest).toEqual([]);
  });
});

describe('times in a container', () => {
  it('strictly increase even when the clock steps back or stands still', async () => {
    const clock = [5000, 5000, 1000, 4999, 9000].map((ms) => new Date(Date.UTC(2030, 0, 1) + ms));
    let tick = 0;
    const odd = aContext(() => clock[Math.min(tick++, clock.length - 1)]!);
    let version = await createComposition(odd, { ehrId, metadata: aMetadata() }, reader());
    const times = [version.time_committed.getTime()];
    for (let i = 0; i < 4; i += 1) {
      version = await update(version, odd);
      times.push(version.time_committed.getTime());
    }
    expect(times.every((time, index) => index === 0 || time > times[index - 1]!)).toBe(true);
    const stored = await chain(version.object_id);
    expect(stored.map((one) => one.time_committed.getTime())).toEqual(times);
    const docs = await mongoose.connection
      .collection('aql')
      .find({ vo: version.object_id })
      .sort({ v: 1 })
      .toArray();
    expect(docs.map((doc) => (doc['to'] as Date | undefined)?.getTime())).toEqual([
      ...times.slice(1),
      undefined,
    ]);
  });
});

describe('a transaction that has to be repeated', () => {
  it('never makes a version twice', async () => {
    let runs = 0;
    const before = await mongoose.connection.collection('versions').countDocuments();
    const version = await createComposition(
      context,
      {
        ehrId,
        metadata: aMetadata(),
        inSameTransaction: () => {
          runs += 1;
          if (runs > 2) return Promise.resolve();
          const error = new mongoose.mongo.MongoServerError({ message: 'write conflict', code: 112 });
          error.addErrorLabel('TransientTransactionError');
          return Promise.reject(error);
        },
      },
      reader(),
    );
    expect(runs).toBe(3);
    expect(await chain(version.object_id)).toHaveLength(1);
    expect(await mongoose.connection.collection('versions').countDocuments()).toBe(before + 1);
  });

  it('is found done when only the answer of its commit was lost', async () => {
    const { connection } = mongoose;
    const once = connection.transaction.bind(connection);
    let runs = 0;
    // As if the driver had not heard that the first commit went through.
    connection.transaction = (async (...given: Parameters<typeof once>) => {
      runs += 1;
      if (runs === 1) await once(...given);
      return once(...given);
    }) as typeof connection.transaction;
    try {
      const version = await create();
      expect(runs).toBe(1);
      expect(await chain(version.object_id)).toHaveLength(1);
      const next = await update(version);
      expect(next.version).toBe(2);
    } finally {
      connection.transaction = once;
    }
  });

  it('gives up with a conflict when others are always faster', async () => {
    const before = await dump();
    const ehrs = mongoose.connection.collection<{ _id: string }>('ehrs');
    let flag = true;
    const { connection } = mongoose;
    const once = connection.transaction.bind(connection);
    connection.transaction = (async (...given: Parameters<typeof once>) => {
      flag = !flag;
      await ehrs.updateOne({ _id: ehrId }, { $set: { is_queryable: flag } });
      return once(...given);
    }) as typeof connection.transaction;
    try {
      await expect(create()).rejects.toMatchObject({ code: 'conflict' });
    } finally {
      connection.transaction = once;
      await ehrs.updateOne({ _id: ehrId }, { $set: { is_queryable: true } });
    }
    expect(await dump()).toBe(before);
  });

  it('leaves nothing behind when it fails for good', async () => {
    const before = await dump();
    const failing = createComposition(
      context,
      { ehrId, metadata: aMetadata(), inSameTransaction: () => Promise.reject(new Error('no')) },
      reader(),
    );
    await expect(failing).rejects.toThrow('no');
    expect(await dump()).toBe(before);
  });
});

describe('writeContribution', () => {
  it('writes within the transaction of its caller, all or nothing', async () => {
    const entry = await newComposition(context, aMetadata(), readComposition());
    const request = { ehrId, contributionUid: randomUUID(), audit: entry.audit, entries: [entry] };
    const before = await dump();
    const aborted = inTransaction(async (session) => {
      await writeContribution(session, context, request);
      throw new Error('changed my mind');
    });
    await expect(aborted).rejects.toThrow('changed my mind');
    expect(await dump()).toBe(before);
    const done = await inTransaction((session) => writeContribution(session, context, request));
    expect(await chain(done.versions[0]!.doc!.object_id)).toHaveLength(1);
  });
});

describe('a commit whose guess is wrong', () => {
  it('is planned again with what is so', async () => {
    const hidden = await storedEhr(context, { _type: 'EHR_STATUS', is_queryable: false });
    const version = await createComposition(context, { ehrId: hidden, metadata: aMetadata() }, reader());
    const doc = await mongoose.connection
      .collection<{ _id: string; q: boolean }>('aql')
      .findOne({ _id: version._id });
    expect(doc?.q).toBe(false);
  });

  it('is done although a derived document is missing', async () => {
    const version = await create();
    await mongoose.connection.collection<{ _id: string }>('aql').deleteOne({ _id: version._id });
    expect((await update(version)).version).toBe(2);
  });

  it('is refused for an EHR that was merged away or is being deleted', async () => {
    const target = await storedEhr(context);
    const source = await storedEhr(context);
    const ehrs = mongoose.connection.collection<{ _id: string }>('ehrs');
    await ehrs.updateOne({ _id: source }, { $set: { state: 'merged', merged_into: target } });
    const into = (id: string): Promise<VersionDoc> =>
      createComposition(context, { ehrId: id, metadata: aMetadata() }, reader());
    await expect(into(source)).rejects.toMatchObject({
      code: 'conflict',
      message: `EHR ${source} was merged into ${target}`,
    });
    await ehrs.updateOne({ _id: source }, { $set: { state: 'deleting' } });
    await expect(into(source)).rejects.toMatchObject({ code: 'not-found' });
  });

  it('commits nothing for an unknown EHR', async () => {
    const entry = await newComposition(context, aMetadata(), readComposition());
    const before = await dump();
    const request = {
      ehrId: randomUUID(),
      contributionUid: randomUUID(),
      audit: entry.audit,
      entries: [entry],
    };
    await expect(commit(context, request)).rejects.toMatchObject({ code: 'not-found' });
    expect(await dump()).toBe(before);
  });
});

describe('the subject of a merged EHR', () => {
  const status = {
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    is_queryable: true,
    is_modifiable: true,
    subject: {
      _type: 'PARTY_SELF',
      external_ref: {
        _type: 'PARTY_REF',
        id: { _type: 'GENERIC_ID', value: 'merged-1', scheme: 'id' },
        namespace: 'pmi',
        type: 'PERSON',
      },
    },
  };

  it('is reserved for the EHR it was merged into', async () => {
    const source = await storedEhr(context, status);
    const target = await storedEhr(context);
    const other = await storedEhr(context);
    const ehrs = mongoose.connection.collection<{ _id: string; subject?: object }>('ehrs');
    await ehrs.updateOne({ _id: source }, { $set: { state: 'merged', merged_into: target } });
    const take = (id: string): Promise<VersionDoc> =>
      updateEhrStatus(context, { ehrId: id, ifMatch: null, metadata: aMetadata('251') }, status);
    await expect(take(other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(target) as unknown,
    });
    await expect(storedEhr(context, status)).rejects.toMatchObject({ code: 'conflict' });
    await take(target);
    expect((await ehrs.findOne({ _id: source }))?.subject).toBeUndefined();
    expect((await ehrs.findOne({ _id: target }))?.subject).toEqual({ namespace: 'pmi', id: 'merged-1' });
  });
});

describe('the system id', () => {
  it('may change until something is committed, then it is fixed', async () => {
    const contributions = mongoose.connection.collection('contributions');
    const committed = await contributions.find({}).toArray();
    await contributions.deleteMany({});
    expect(await claimStorage('first.cdr', 'numeric')).toMatchObject({ system_id: 'first.cdr' });
    expect(await claimStorage('local.cdr', 'all')).toMatchObject({
      system_id: 'local.cdr',
      leaf_index: 'all',
    });
    await contributions.insertMany(committed);
    expect(await claimStorage('local.cdr', 'all')).toMatchObject({ system_id: 'local.cdr', layout: 2 });
    expect(await claimStorage('local.cdr', 'none')).toMatchObject({ leaf_index: 'none' });
    // Documents without leaves may have been written meanwhile: only a reindex makes the index whole again.
    expect(await claimStorage('local.cdr', 'all')).toMatchObject({ leaf_index: 'none' });
    await expect(claimStorage('other.cdr', 'all')).rejects.toThrow('local.cdr');
  });
});
