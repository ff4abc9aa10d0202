import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import type { VerifyProgress } from '../../../maintenance/verify-report.js';
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
  statusOf,
} from '../../support/merge-http.js';
import {
  aComposition,
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

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);

let ehrId = '';
let composition = '';
let second = '';
let merged = '';
beforeEach(async () => {
  for (const name of [
    'ehrs',
    'versions',
    'versioned_objects',
    'contributions',
    'aql',
    'item_tags',
    'merge_records',
    'merge_archive',
  ]) {
    await collection(name).deleteMany({});
  }
  ehrId = await givenEhr(app, statusOf(randomUUID()));
  composition = await givenComposition(app, ehrId);
  second = await givenUpdate(app, ehrId, composition, aComposition());
  await givenDirectory(app, ehrId, folder('root', [versionedObjectUidOf(composition)]));
  await givenTag(app, { ehrId, type: 'composition', uid: second }, 'key');
  merged = await givenEhr(app, statusOf(randomUUID()));
  await givenComposition(app, merged);
  await merge(app, merged, ehrId);
});

async function violations(): Promise<string[]> {
  const { violations: found } = await verifyStorage();
  return found.map(({ kind, message }) => `${kind}: ${message}`);
}

/** Does what is given while no EHR holds still. */
async function whileWritten<T>(work: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const ehrs = mongoose.connection.collection<{ write_seq: number }>('ehrs');
  const writing = (async () => {
    while (!done.signal.aborted) await ehrs.updateMany({}, { $inc: { write_seq: 1 } });
  })();
  try {
    return await work();
  } finally {
    done.abort();
    await writing;
  }
}

const UID_OR_TIME = /[0-9a-f-]{36}::local\.cdr::\d|"\d{4}-[\dT:.-]+Z"/g;

describe('verify', () => {
  it('finds nothing wrong with what the server wrote, and counts', async () => {
    const { status, body } = await admin(app, 'post', '/verify');
    expect(status).toBe(200);
    expect(body).toEqual({
      checked: {
        templates: 3,
        ehrs: 2,
        versioned_objects: 4,
        versions: 5,
        contributions: 6,
        aql: 5,
        item_tags: 1,
        merge_records: 1,
        merge_archive: 5,
      },
      violations: [],
      erased: [],
      unrecorded: [],
      accepted: [],
      acceptedVersions: 0,
      seal: null,
    });
  });

  it('finds nothing wrong with a zero that came with a sign', async () => {
    const negative = JSON.stringify(aComposition()).replace(/"magnitude":[\d.]+/, '"magnitude":-0.0');
    expect(negative).toContain('-0.0');
    const sent = request(app).post(`${V1}/ehr/${ehrId}/composition`);
    expect((await sent.set('Content-Type', 'application/json').send(negative)).status).toBe(201);
    expect(await violations()).toEqual([]);
  });

  it('needs an administrator', async () => {
    expect((await request(app).post(`${O}/verify`)).status).toBe(401);
    expect((await request(app).post(`${O}/verify`).set('Authorization', USER)).status).toBe(403);
  });

  it('runs once at a time', async () => {
    const answers = await Promise.all([admin(app, 'post', '/verify'), admin(app, 'post', '/verify')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ checked: {}, violations: [], error: 'Conflict' });
    expect((await admin(app, 'post', '/verify')).status).toBe(200);
  });

  it('does not run while another process is at it', async () => {
    const held = { _id: 'verify', holder: 'another process', expires_at: new Date(Date.now() + 50_000) };
    await collection('settings').insertOne(held);
    expect((await admin(app, 'post', '/verify')).status).toBe(409);
    await collection('settings').updateOne({ _id: 'verify' }, { $set: { expires_at: new Date(0) } });
    expect((await admin(app, 'post', '/verify')).status).toBe(200);
  });

  it('tells how far it is', async () => {
    const told: VerifyProgress[] = [];
    await verifyStorage((progress) => told.push(progress));
    expect(told).toEqual([
      { ehrs: 1, ofEhrs: 2 },
      { ehrs: 2, ofEhrs: 2 },
    ]);
  });

  it('is not misled by writers', async () => {
    const writing = (async () => {
      for (let n = 0; n < 15; n += 1) await givenComposition(app, ehrId);
    })();
    expect(await violations()).toEqual([]);
    await writing;
    expect(await violations()).toEqual([]);
  });
});

type Breach = [string, () => Promise<unknown>, string[]];
const update = (name: string, id: () => string, change: Json) => () =>
  collection(name).updateOne({ _id: id() }, change);
const versionedObjectUid = (): string => versionedObjectUidOf(composition);

describe('verify finds', () => {
  const shapes: Stored[] = [];
  const breaches: Breach[] = [
    [
      'a gap in a chain',
      async () => {
        await collection('versions').deleteOne({ _id: composition });
        await collection('aql').deleteOne({ _id: composition });
      },
      [
        'versioned_objects: time_created is not that of its versions: TIME instead of TIME',
        'versions: it has number 2 at place 1 of its chain',
        'versions: preceding_version_uid is not the version before',
        `contributions: it lists UID, which does not exist`,
      ],
    ],
    [
      'another head',
      update('versioned_objects', versionedObjectUid, { $set: { latest_version: 1 } }),
      [
        'versioned_objects: latest_version is not that of its versions: 1 instead of 2',
        'item_tags: the version it is about does not exist',
      ],
    ],
    [
      'a wrong time',
      update('versions', () => second, { $set: { time_committed: new Date(0) } }),
      [
        'versioned_objects: latest_time_committed is not that of its versions: TIME instead of TIME',
        'versions: it was not committed after the version before',
        'aql: the derived document is not what its version gives',
        'aql: the derived document is not what its version gives',
      ],
    ],
    [
      'changed content',
      update('versions', () => second, { $set: { data: '{"_type":"COMPOSITION"}' } }),
      [
        'versions: its content has another uid or type',
        'aql: the derived document is not what its version gives',
      ],
    ],
    [
      'broken content',
      update('versions', () => second, { $set: { data: '{' } }),
      ['versions: its content is no JSON'],
    ],
    [
      'a deletion with content',
      update('versions', () => second, { $set: { data: null } }),
      [
        'versioned_objects: deleted is not that of its versions: false instead of true',
        'versions: content and lifecycle_state do not agree on whether it is a deletion',
        'aql: there is no version with content for it',
      ],
    ],
    [
      'a missing CONTRIBUTION',
      () => collection('contributions').deleteOne({ 'versions.uid': second }),
      ['versions: its CONTRIBUTION does not exist in the EHR'],
    ],
    [
      'a CONTRIBUTION that does not list its version',
      () => collection('contributions').updateOne({ 'versions.uid': second }, { $set: { versions: [] } }),
      ['versions: its CONTRIBUTION does not list it'],
    ],
    [
      'a missing derived document',
      () => collection('aql').deleteOne({ _id: second }),
      ['aql: the derived document is missing'],
    ],
    [
      'a derived document that is not the latest',
      update('aql', () => second, { $set: { latest: false } }),
      ['aql: the derived document is not what its version gives'],
    ],
    [
      'missing leaves',
      update('aql', () => second, { $set: { lv: [{ k: 'x', v: 1 }] } }),
      ['aql: the derived document is not what its version gives'],
    ],
    [
      'a stray derived document',
      update('aql', () => second, { $set: { vo: randomUUID() } }),
      ['aql: the derived document is missing', 'aql: its container does not exist in the EHR'],
    ],
    [
      'a missing shape',
      async () => {
        shapes.push(...(await collection('aql_shapes').find().toArray()));
        await collection('aql_shapes').deleteMany({});
      },
      ['aql_shapes: queries do not know this shape'],
    ],
    [
      'a wrong flag',
      update('ehrs', () => ehrId, { $set: { is_modifiable: false } }),
      ['ehrs: is_modifiable is not that of its EHR_STATUS'],
    ],
    [
      'a wrong subject',
      update('ehrs', () => ehrId, { $unset: { subject: 1 } }),
      ['ehrs: subject is not that of its EHR_STATUS'],
    ],
    [
      'an unknown directory',
      update('ehrs', () => ehrId, { $unset: { directory_id: 1 } }),
      ['ehrs: directory_id is not its live directory'],
    ],
    [
      'a missing EHR_STATUS',
      () => collection('versioned_objects').deleteOne({ type: 'EHR_STATUS' }),
      [
        'ehrs: it has 0 EHR_STATUS containers',
        'versions: its container does not exist in the EHR',
        'aql: its container does not exist in the EHR',
      ],
    ],
    [
      'a tag without target',
      () => collection('item_tags').updateOne({}, { $set: { target: randomUUID() } }),
      ['item_tags: its target does not exist in the EHR'],
    ],
    [
      'a tag that GET does not show',
      async () => {
        for (const name of ['versions', 'versioned_objects'])
          await collection(name).updateMany({}, { $unset: { has_item_tags: 1 } });
      },
      ['item_tags: its target is not marked as tagged, so GET does not show it'],
    ],
    [
      'a version whose tags GET does not show',
      update('versions', () => second, { $unset: { has_item_tags: 1 } }),
      ['versions: has_item_tags is not that of its container'],
    ],
    [
      'documents of an unknown EHR',
      () => collection('item_tags').updateOne({}, { $set: { owner_id: randomUUID() } }),
      ['item_tags: it belongs to an EHR that does not exist'],
    ],
    [
      'documents of a merged EHR',
      () => collection('item_tags').updateOne({}, { $set: { owner_id: merged } }),
      ['item_tags: 1 documents belong to an EHR that was merged away'],
    ],
    [
      'a template that is not noted as used',
      () => collection('templates').updateMany({}, { $set: { used: false } }),
      [
        'versions: its template minimal_evaluation.en.v1 does not exist or is not noted as used',
        'versions: its template minimal_evaluation.en.v1 does not exist or is not noted as used',
        'versions: its template minimal_evaluation.en.v1 does not exist or is not noted as used',
      ],
    ],
    [
      'a merge record without tombstone',
      update('ehrs', () => merged, { $unset: { merge_id: 1 } }),
      [
        'ehrs: it was merged away but has no merge record',
        'merge_records: its source is not the tombstone of this merge',
      ],
    ],
    [
      'a tombstone without merge record',
      () => collection('merge_records').deleteMany({}),
      ['ehrs: it was merged away but has no merge record', 'merge_archive: its merge record does not exist'],
    ],
    [
      'a lost archive',
      () => collection('merge_archive').deleteMany({ kind: 'ehr' }),
      ['merge_records: its archive has 0 EHR documents'],
    ],
    [
      'an archive too many',
      () => collection('merge_records').updateMany({}, { $set: { reversible: false } }),
      ['merge_records: it is not reversible but has an archive'],
    ],
  ];

  it.each(breaches)('%s', async (name, breach, expected) => {
    await breach();
    for (const listed of [await violations(), await whileWritten(violations)]) {
      const found = listed.map((text) =>
        text.replaceAll(UID_OR_TIME, (one) => (one.includes('::') ? 'UID' : 'TIME')),
      );
      if (name === 'a missing shape') expect([...new Set(found)]).toEqual(expected);
      else expect(found.toSorted()).toEqual(expected.toSorted());
    }
    await collection('templates').updateMany({}, { $set: { used: true } });
    if (shapes.length > 0) await collection('aql_shapes').insertMany(shapes.splice(0));
  });
});
