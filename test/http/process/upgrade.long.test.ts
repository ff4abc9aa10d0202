import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { upgradePlan, upgradeStorage, type UpgradeProgress } from '../../../maintenance/upgrade.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { claimStorage, followLayout, saveUpgradePosition } from '../../../models/settings.js';
import { createLogger } from '../../../src/logger.js';
import { prepareStorage, logStorageState } from '../../../src/process/storage.js';
import { testApp } from '../../support/app.js';
import { runCommand } from '../../support/process/command-line.js';
import { testDatabaseName, testDatabaseUri, useOwnDatabase } from '../../support/database.js';
import { givenUpdate, rows, unmerge } from '../../support/merge-http.js';
import { loadRelease } from '../../support/release.js';
import { aComposition, dump, givenComposition, V1 } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

// What release 0.1.0 wrote: three EHRs, of which the second was merged into the first.
const [FIRST, MERGED, THIRD] = [1, 2, 3].map((each) => `0000000${each}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];

useOwnDatabase([]);
const app = testApp(WITH_ADMIN);
const settings = testSettings(WITH_ADMIN);

interface Stored {
  readonly _id: string;
  readonly ehr_id: string;
  readonly object_id: string;
  readonly type: string;
  readonly encoding?: string;
  readonly data: unknown;
}
const versions = () => mongoose.connection.collection<Stored>('versions');

beforeEach(() => loadRelease('0.1.0'));

/** How many records have an owner that is sealed. */
async function ownedRecords(): Promise<number> {
  const counts = ['versions', 'contributions'].map((name) =>
    mongoose.connection.collection(name).countDocuments(),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count);
}

/** The answer to GET of every version with content, by uid. */
async function contents(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { _id, ehr_id: ehrId, type } of await versions().find({ type: 'COMPOSITION' }).toArray()) {
    const answer = await request(app).get(`${V1}/ehr/${ehrId}/${type.toLowerCase()}/${_id}`);
    found[_id] = `${answer.status} ${answer.text}`;
  }
  return found;
}

/** How many versions are stored in each way. */
async function encodings(): Promise<Record<string, number>> {
  const counts: Record<string, number> = { text: 0, short: 0, deflate: 0, none: 0 };
  for (const { encoding, data } of await versions().find().toArray()) {
    const plain = typeof data !== 'string' ? 'none' : data.length < 1_024 ? 'short' : 'text';
    const kind = encoding ?? plain;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** The rows of a query that asks for no order, as texts. */
async function inAnyOrder(q: string, ehrId: string): Promise<string[]> {
  return (await rows(app, q, ehrId)).map((row) => JSON.stringify(row)).toSorted();
}

const COMPRESSED = { text: 0, short: 4, deflate: 9, none: 3 };

async function said(): Promise<string[]> {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _, done) => {
      lines.push((JSON.parse(chunk.toString()) as { msg: string }).msg);
      done();
    },
  });
  logStorageState(createLogger('info', sink), await prepareStorage(settings))();
  return lines;
}

describe('data of release 0.1.0', () => {
  it('are served as they are, and the server says what to do', async () => {
    expect(await said()).toEqual([expect.stringContaining('`everchart upgrade`')]);
    const before = await contents();
    expect(Object.values(before).filter((text) => text.startsWith('200'))).toHaveLength(9);
    const made = await givenComposition(app, THIRD, aComposition());
    // A server of the release before it, beside this one, reads text only.
    expect(await versions().findOne({ _id: made })).toMatchObject({ data: expect.stringContaining(made) });
    expect((await encodings())['deflate']).toBe(0);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('are told by a dry run, which writes nothing', async () => {
    const before = await dump();
    const env = { MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
    const { code, stdout } = await runCommand(['upgrade', '--dry-run'], env);
    const lines = stdout.trim().split('\n');
    expect([code, lines[0], lines.slice(-5)]).toEqual([
      0,
      'layout 1, this release has 2',
      [
        expect.stringMatching(/^9 VERSIONs to be compressed, 0\.0 MB of text$/),
        'what names the patients of EHRs is to be derived',
        'what AQL reads is current',
        'what policies of access ask is to be added',
        'nothing was written',
      ],
    ]);
    expect(lines).toContain('index to be dropped: audit target_1_time_1');
    expect(lines.filter((line) => line.startsWith('index to be made: ')).length).toBeGreaterThan(5);
    expect(await dump()).toBe(before);
  });

  it('read the same after an upgrade, by every way', async () => {
    const whole = 'SELECT c FROM EHR e CONTAINS COMPOSITION c';
    const ofVersions = 'SELECT v, v/data FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c';
    await prepareStorage(settings);
    const read = async () => [
      await contents(),
      await inAnyOrder(whole, FIRST),
      await inAnyOrder(whole.replace('c', 'DISTINCT c'), FIRST),
      await inAnyOrder(ofVersions, THIRD),
      (await request(app).get(`${V1}/ehr/${FIRST}/directory`)).text,
    ];
    const before = await read();
    await sealNewRecords();
    const outcome = await upgradeStorage(settings.aql.leafIndex, undefined, 0);
    expect(outcome).toEqual({
      attested: { resealed: [], unproven: [] },
      baseline: { owners: await ownedRecords(), ehrs: 3, states: 2 },
      compressed: 9,
      identified: 2,
      derived: 0,
      named: 13,
      droppedIndexes: [{ collection: 'audit', name: 'target_1_time_1' }],
    });
    expect(await encodings()).toEqual(COMPRESSED);
    expect(await read()).toEqual(before);
    expect((await verifyStorage()).violations).toEqual([]);
    expect(await said()).toEqual([]);
  });

  it('go on after an upgrade: update, unmerge, seal', async () => {
    await prepareStorage(settings);
    await upgradeStorage(settings.aql.leafIndex, undefined, 0);
    const [latest] = (await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', THIRD)) as [
      [string],
    ];
    const next = await givenUpdate(app, THIRD, latest[0], aComposition());
    expect((await versions().findOne({ _id: next }))?.encoding).toBe('deflate');
    expect((await unmerge(app, MERGED, FIRST)).status).toBe(200);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('are upgraded from where an upgrade was stopped; another one finds nothing more', async () => {
    await prepareStorage(settings);
    const ids = (await versions().find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
    await saveUpgradePosition(ids[6]!);
    const steps: number[] = [];
    const note = ({ step, done }: UpgradeProgress): void => {
      if (step === 'texts') steps.push(done);
    };
    const first = await upgradeStorage(settings.aql.leafIndex, note, 0);
    expect([first.compressed, steps]).toEqual([expect.any(Number), [first.compressed]]);
    expect(first.compressed).toBeLessThan(9);
    const second = await upgradeStorage(settings.aql.leafIndex, undefined, 0);
    expect(first.compressed + second.compressed).toBe(9);
    expect(await upgradePlan(settings.aql.leafIndex)).toMatchObject({
      layout: 2,
      indexesToMake: [],
      indexesToDrop: [],
      versions: 0,
      isAqlStale: false,
      lacksIdentities: false,
    });
    expect((await upgradeStorage(settings.aql.leafIndex, undefined, 0)).compressed).toBe(0);
  });

  it('are compressed by a running server once an upgrade has begun', async () => {
    await prepareStorage(settings);
    expect(await followLayout()).toBe(false);
    const other = mongoose.connection.collection<{ _id: string }>('settings');
    await other.updateOne({ _id: 'storage' }, { $set: { layout: 2 } });
    expect(await followLayout()).toBe(true);
    const made = await givenComposition(app, THIRD, aComposition());
    expect((await versions().findOne({ _id: made }))?.encoding).toBe('deflate');
  });

  it('of a later layout are refused', async () => {
    await prepareStorage(settings);
    const stored = mongoose.connection.collection<{ _id: string }>('settings');
    await stored.updateOne({ _id: 'storage' }, { $set: { layout: 3 } });
    await expect(claimStorage('local.cdr', 'all')).rejects.toThrow('layout 3');
  });

  it('are derived anew where what AQL reads is stale', async () => {
    await prepareStorage(settings);
    await mongoose.connection
      .collection<{ _id: string }>('settings')
      .updateOne({ _id: 'storage' }, { $set: { sv: 1 } });
    const { derived } = await upgradeStorage(settings.aql.leafIndex, undefined, 0);
    expect(derived).toBe(await mongoose.connection.collection('aql').countDocuments());
    const names = COLLECTION_LAYOUT.map(({ name }) => name);
    const present = (await mongoose.connection.listCollections()).map(({ name }) => name);
    expect(present).toEqual(expect.arrayContaining(names));
  });

  it('are upgraded and printed by the command', async () => {
    const env = { MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
    const ofThird = { ehr_id: THIRD, type: 'COMPOSITION' };
    const [first, second] = await versions().find(ofThird).sort({ data: 1, _id: 1 }).toArray();
    const upgraded = await runCommand(['upgrade'], env);
    expect([upgraded.code, upgraded.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^9 VERSIONs compressed, 2 EHRs identified, 0 documents derived, 1 indexes dropped in /,
      ),
    ]);
    const deletion = await runCommand(['cat', first!._id], env);
    expect([deletion.code, deletion.stderr]).toEqual([1, expect.stringContaining('is a deletion')]);
    const text = await runCommand(['cat', second!._id], env);
    expect([text.code, text.stdout]).toEqual([0, `${String(second!.data)}\n`]);
    const unknown = await runCommand(['cat', 'nothing::local.cdr::1'], env);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there is no VERSION')]);
  });
});
