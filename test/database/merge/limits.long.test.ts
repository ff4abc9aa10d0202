import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { connectMongoose } from '../../../database/connect.js';
import { startEmbedded, type EmbeddedDatabase } from '../../../packages/embedded-mongodb/src/spawn.js';
import { createCollections } from '../../../database/indexes.js';
import { inMergeTransaction } from '../../../merge/transaction.js';
import { moveAllInSteps, moveSomeInSteps } from '../../../models/cross-collection/move-in-steps.js';
import { moveDocuments, OWNED_COLLECTIONS, OWNER } from '../../../models/cross-collection/owned-documents.js';
import { COLLECTION_LAYOUT, COLLECTIONS } from '../../../models/access/layout.js';
import { testApp } from '../../support/app.js';
import { clinicalState } from '../../support/merge/clinical-state.js';
import { givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr, V1 } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const app = testApp(WITH_ADMIN);
let server: EmbeddedDatabase;
beforeAll(async () => {
  server = await startEmbedded({
    dir: null,
    limits: { undoBytes: 50_000, slotWaitMs: 200 },
    log: () => undefined,
  });
  await connectMongoose(server.uri, 'limits');
  await createCollections(COLLECTION_LAYOUT);
  await givenMergeTemplates(app);
});
afterAll(async () => {
  await mongoose.disconnect();
  await server.stop();
});

describe('a merge that is too large for one transaction', () => {
  it('is answered 500 with a message that says so, changes nothing, and can be rehearsed', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    for (let n = 0; n < 12; n += 1) await givenComposition(app, source);
    const before = await clinicalState([source, target]);
    const { status, body } = await merge(app, source, target);
    const message =
      'the EHR is too large to be merged in one transaction of this database, nothing was changed';
    expect([status, body]).toEqual([
      500,
      {
        source_ehr: source,
        target_ehr: target,
        outcome: { level: 'BASIC', summary: message },
        error: 'Internal Server Error',
        message,
        code: 'transaction-too-large',
        request_id: expect.any(String),
      },
    ]);
    expect(await clinicalState([source, target])).toEqual(before);
    const rehearsed = await merge(app, source, target, { dry_run: true });
    expect(rehearsed.body.outcome.summary).toContain('12 compositions moved');
    await givenComposition(app, source);
    const small = await givenEhr(app);
    expect((await merge(app, small, target)).status).toBe(200);
    expect((await unmerge(app, small, target)).status).toBe(200);
  });
});

describe('a commit that meets a merge under way in one transaction', () => {
  it('is 503 with Retry-After, to either EHR, and never 409 before the merge is done', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const commitTo = (ehrId: string): request.Test =>
      request(app).post(`${V1}/ehr/${ehrId}/composition`).send(aComposition());
    const sessions = mongoose.mongo.ClientSession.prototype;
    const commit = jest.spyOn(sessions, 'commitTransaction');
    let release: () => void = () => undefined;
    const held = new Promise<void>((reached) => {
      commit.mockImplementationOnce(async function (this: mongoose.mongo.ClientSession) {
        reached();
        await new Promise<void>((resolve) => (release = resolve));
        await this.commitTransaction();
      });
    });
    const merged = merge(app, source, target).then(({ status }) => status);
    await held;
    try {
      const refused = await Promise.all([source, target, source, target].map(commitTo));
      const told = refused.map(({ status, headers, body }) => [status, headers['retry-after'], body.code]);
      const later = [503, expect.stringMatching(/^[1-9]$/), 'unavailable'];
      expect(told).toEqual([later, later, later, later]);
    } finally {
      release();
    }
    expect(await merged).toBe(200);
    commit.mockRestore();
    expect((await commitTo(source)).status).toBe(409);
    expect((await commitTo(target)).status).toBe(201);
  });
});

/** What a server says when another transaction was faster. */
function writeConflict(): mongoose.mongo.MongoServerError {
  const error = new mongoose.mongo.MongoServerError({ message: 'write conflict', code: 112 });
  error.addErrorLabel('TransientTransactionError');
  return error;
}

describe('the transaction of a merge', () => {
  it('is tried anew MERGE_RETRIES times, then refused', async () => {
    let attempts = 0;
    const work = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(writeConflict());
    };
    await expect(inMergeTransaction(3, work)).rejects.toMatchObject({ code: 'conflict' });
    expect(attempts).toBe(4);
  });

  it.each([257, 313])('says that it is too large when the server does (%i)', async (code) => {
    const work = (): Promise<never> =>
      Promise.reject(new mongoose.mongo.MongoServerError({ message: 'too large', code }));
    await expect(inMergeTransaction(3, work)).rejects.toMatchObject({ code: 'transaction-too-large' });
  });

  it('succeeds when a retry does', async () => {
    let attempts = 0;
    const work = (): Promise<number> => {
      attempts += 1;
      return attempts < 3 ? Promise.reject(writeConflict()) : Promise.resolve(attempts);
    };
    expect(await inMergeTransaction(5, work)).toBe(3);
  });
});

describe('moving documents', () => {
  const move = { collection: COLLECTIONS.itemTags, from: 'a', to: 'b' } as const;
  const tags = () =>
    mongoose.connection.collection<{ _id: string; owner_id: string; key: string }>('item_tags');

  it.each([
    ['at once', false],
    ['one by one, as a sharded cluster needs it', true],
  ])('%s: all of an owner, or those named', async (_, isSharded) => {
    await tags().deleteMany({});
    const ids = ['1', '2', '3', '4'];
    await tags().insertMany(ids.map((id) => ({ _id: id, owner_id: id === '4' ? 'c' : 'a', key: id })));
    const named = { ...move, among: { field: '_id', ids: ['1', '4'] }, set: { value: 'x' } } as const;
    const run = (what: typeof named | typeof move): Promise<number> =>
      inMergeTransaction(0, (session) => moveDocuments(session, what, Promise.resolve(isSharded)));
    expect(await run(named)).toBe(1);
    expect(await tags().findOne({ _id: '1' })).toMatchObject({ owner_id: 'b', value: 'x' });
    expect(await run(move)).toBe(2);
    expect(await tags().countDocuments({ owner_id: 'b' })).toBe(3);
    expect(await tags().countDocuments({ owner_id: 'c' })).toBe(1);
  });
});

describe('moving documents in steps', () => {
  const JOB = 'job';
  const IDS = ['1', '2', '3', '4', '5'];
  const documents = (name: string): mongoose.mongo.Collection<{ _id: string; [field: string]: unknown }> =>
    mongoose.connection.collection(name);
  const ownersIn = async (name: keyof typeof OWNER): Promise<string[]> =>
    (await documents(name).find().sort({ _id: 1 }).toArray()).map((doc) => String(doc[OWNER[name]]));

  it.each([
    ['documents, a whole number of times', { documents: 5, bytes: 1_000_000 }],
    ['documents', { documents: 2, bytes: 1_000_000 }],
    ['bytes', { documents: 100, bytes: 1 }],
    ['nothing', { documents: 100, bytes: 1_000_000 }],
  ])('moves all, and back what is named, where a step is full of %s', async (_, size) => {
    for (const name of [...OWNED_COLLECTIONS, 'merge_jobs']) await documents(name).deleteMany({});
    await documents('merge_jobs').insertOne({ _id: JOB });
    const all = { target_type: 'COMPOSITION', type: 'COMPOSITION' };
    for (const name of OWNED_COLLECTIONS)
      await documents(name).insertMany(
        IDS.map((id) => ({
          _id: id,
          [OWNER[name]]: 'a',
          object_id: id,
          vo: id,
          target: id,
          key: id,
          ...all,
        })),
      );
    const searches = jest.spyOn(mongoose.mongo.Collection.prototype, 'aggregate');
    await moveAllInSteps({ from: 'a', to: 'b', isQueryable: false }, JOB, size);
    // A search for each step would pass the index entries of all that moved before it.
    expect(searches).toHaveBeenCalledTimes(OWNED_COLLECTIONS.length + 2);
    searches.mockRestore();
    for (const name of OWNED_COLLECTIONS) expect(await ownersIn(name)).toEqual(['b', 'b', 'b', 'b', 'b']);
    expect(await documents('aql').countDocuments({ q: false })).toBe(5);
    const named = IDS.slice(0, 4);
    const moved = { mergeId: 'nothing', except: new Set<string>(), joined: named, since: named };
    await moveSomeInSteps({ from: 'b', to: 'a', isQueryable: true }, moved, JOB, size);
    for (const name of OWNED_COLLECTIONS) expect(await ownersIn(name)).toEqual(['a', 'a', 'a', 'a', 'b']);
  });

  it('ends when another server has taken over', async () => {
    await documents('contributions').insertOne({ _id: 'c', ehr_id: 'x' });
    await expect(moveAllInSteps({ from: 'x', to: 'y', isQueryable: true }, 'gone')).rejects.toThrow(
      'taken over',
    );
    expect(await documents('contributions').findOne({ _id: 'c' })).toMatchObject({ ehr_id: 'x' });
  });
});
