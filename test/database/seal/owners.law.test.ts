import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import {
  admin,
  givenMergeTemplates,
  givenUpdate,
  merge,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr, versionedObjectUidOf } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(async () => {
  await collection('settings').updateOne(
    { _id: 'storage' },
    { $set: { system_id: 'local.cdr' } },
    { upsert: true },
  );
  await sealBaseline();
  await givenMergeTemplates(app);
});

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);

const SIZES = { small: 1, full: 300 };
/** In one script. */
const STEPS = 12;

/** A generator of numbers from a seed: the same script for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const violations = async () =>
  (await verifyStorage()).violations.map(({ kind, id, message }) => `${kind} ${id} ${message}`);

type Draw = ReturnType<typeof chance>;

async function liveCompositions(ehrIds: readonly string[]): Promise<Stored[]> {
  const filter = { ehr_id: { $in: [...ehrIds] }, type: 'COMPOSITION', deleted: false } as object;
  return collection('versioned_objects').find(filter).sort({ _id: 1 }).toArray();
}

async function unmergeOne(draw: Draw): Promise<string> {
  const records = await collection('merge_records').find({}).sort({ _id: 1 }).toArray();
  const record = records[draw(Math.max(1, records.length))];
  if (record === undefined) return 'no merge';
  const back = await unmerge(app, String(record['source_ehr']), String(record['target_ehr']));
  return `unmerge ${back.status}`;
}

async function create(ehrId: string): Promise<string> {
  const ehr = await collection('ehrs').findOne({ _id: ehrId });
  if (ehr?.['state'] === 'active') await givenComposition(app, ehrId);
  return 'create';
}

/** One step of a script; those that are refused change nothing. */
async function step(ehrIds: readonly string[], draw: Draw): Promise<string> {
  const one = ehrIds[draw(ehrIds.length)] ?? '';
  const other = ehrIds[draw(ehrIds.length)] ?? '';
  const live = await liveCompositions(ehrIds);
  const object = live[draw(Math.max(1, live.length))];
  switch (draw(7)) {
    case 0:
      return `merge ${(await merge(app, one, other, { reversible: true, folder_merge: 'COPY' })).status}`;
    case 1:
    case 2:
      return unmergeOne(draw);
    case 3: {
      if (object === undefined) return 'nothing to move';
      const path = `/ehr/${String(object['ehr_id'])}/composition/${object._id}/move`;
      return `move ${(await admin(app, 'post', path).send({ target_ehr: other })).status}`;
    }
    case 4:
      await sealNewRecords();
      return 'seal';
    case 5:
      if (object === undefined) return 'nothing to change';
      await givenUpdate(app, String(object['ehr_id']), String(object['latest_version_uid']), aComposition());
      return 'update';
    default:
      return create(one);
  }
}

/** Gives an object with all that belongs to it to another EHR, as somebody with the database could. */
async function steal(object: Stored, ehrId: string): Promise<void> {
  const contributions = { 'versions.uid': { $regex: `^${object._id}` } };
  await collection('versions').updateMany({ object_id: object._id }, { $set: { ehr_id: ehrId } });
  await collection('versioned_objects').updateOne({ _id: object._id }, { $set: { ehr_id: ehrId } });
  await collection('contributions').updateMany(contributions, { $set: { ehr_id: ehrId } });
  await collection('aql').updateMany({ vo: object._id }, { $set: { ehr: ehrId } });
  await collection('item_tags').updateMany({ target: object._id }, { $set: { owner_id: ehrId } });
}

describe('whatever merges, unmerges and moves there were', () => {
  it.each(seeds(SIZES))(
    'verify finds no fault, and finds an object that was given to another patient (seed %i)',
    async (seed) => {
      for (const name of ['ehrs', 'versions', 'versioned_objects', 'contributions', 'aql', 'item_tags'])
        await collection(name).deleteMany({});
      for (const name of [
        'merge_records',
        'merge_history',
        'merge_archive',
        'audit',
        'removals',
        'seal_blocks',
      ])
        await collection(name).deleteMany({});
      await sealBaseline();
      const draw = chance(seed);
      const ehrIds: string[] = [];
      for (let n = 0; n < 4; n += 1) {
        ehrIds.push(await givenEhr(app, statusOf(randomUUID())));
        await givenComposition(app, ehrIds[n] ?? '');
      }
      const script: string[] = [];
      for (let n = 0; n < STEPS; n += 1) {
        script.push(await step(ehrIds, draw));
        if (n % 4 === 3) expect([script, await violations()]).toEqual([script, []]);
      }
      await sealNewRecords();
      expect([script, await violations()]).toEqual([script, []]);
      const live = await liveCompositions(ehrIds);
      const active = await collection('ehrs').find({ state: 'active' }).sort({ _id: 1 }).toArray();
      const object = live[draw(Math.max(1, live.length))];
      const others = active.filter(({ _id }) => _id !== object?.['ehr_id']);
      const other = others[draw(Math.max(1, others.length))];
      if (object === undefined || other === undefined) return;
      await steal(object, other._id);
      const uid = versionedObjectUidOf(String(object['latest_version_uid']));
      expect((await violations()).filter((text) => text.startsWith(`changed ${uid}::`))).not.toEqual([]);
    },
  );
});
