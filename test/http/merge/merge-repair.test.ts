import { beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { changeContext } from '../../../change/commit/context.js';
import { repairMerges } from '../../../merge/repair.js';
import type { MergeHistoryDoc } from '../../../models/merge/history.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates, givenUpdate, merge, unmerge } from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
} from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const listOf = (name: string): object => ({
  ...aComposition('persistent_minimal.en.v1'),
  composer: { _type: 'PARTY_IDENTIFIED', name },
});
const context = { change: changeContext(testSettings()), retries: 3, stepsFrom: 1_000 };

async function repairs(apply: boolean): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { ehrId, latest, from } of repairMerges(context, apply))
    found.push([ehrId, latest._id, from?._id]);
  return found;
}

it("finds a list with another patient's content that an unmerge of an older release wrote, and writes what is right", async () => {
  const [target, source] = [await givenEhr(app), await givenEhr(app)];
  const right = await givenComposition(app, target, listOf('right'));
  const list = versionedObjectUidOf(right);
  await givenComposition(app, source, listOf('another patient'));
  await merge(app, source, target, { composition_merge: 'PERSISTENT' });
  expect((await unmerge(app, source, target)).status).toBe(200);
  expect(await repairs(false)).toEqual([]);
  const wrong = await givenUpdate(app, target, `${list}::local.cdr::3`, listOf('another patient'));
  const { contribution_uid: uid } = (await mongoose.connection
    .collection<{ _id: string; contribution_uid: string }>('versions')
    .findOne({ _id: wrong }))!;
  // As if the unmerge had written it.
  await mongoose.connection
    .collection<MergeHistoryDoc>('merge_history')
    .updateOne({ source_ehr: source }, { $push: { 'undone.contribution_uids': uid } });

  expect(await repairs(false)).toEqual([[target, wrong, right]]);
  const shown = () => request(app).get(`${V1}/ehr/${target}/composition/${list}`);
  expect((await shown()).body.composer.name).toBe('another patient');
  expect(await repairs(true)).toEqual([[target, wrong, right]]);
  expect((await shown()).body.composer.name).toBe('right');
  expect(await repairs(true)).toEqual([]);
});
