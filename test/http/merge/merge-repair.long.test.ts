import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { changeContext } from '../../../change/commit/context.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { repairMerges, type Repairing } from '../../../merge/repair.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import {
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenUpdate,
  merge,
  statusOf,
  unmerge,
  writtenByUnmerge,
} from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';
import { runCommand } from '../../support/process/command-line.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const listOf = (name: string): object => ({
  ...aComposition('persistent_minimal.en.v1'),
  composer: { _type: 'PARTY_IDENTIFIED', name },
});
const detailsOf = (who: string): Json => ({
  _type: 'ITEM_TREE',
  archetype_node_id: 'at0000',
  name: { _type: 'DV_TEXT', value: who },
});
const context = { change: changeContext(testSettings()), retries: 3, stepsFrom: 1_000 };

async function repairs(write: Repairing): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { ehrId, latest, from } of repairMerges(context, write))
    found.push([ehrId, latest._id, from?._id]);
  return found;
}

/** What `everchart merge repair` prints, line by line. */
async function repairCommand(...options: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runCommand(['merge', 'repair', ...options], {
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
    LOG_LEVEL: 'warn',
  });
  expect([code, stderr.replace(/^database: .*\n/, '')]).toEqual([0, '']);
  return stdout.trimEnd().split('\n');
}

/** What an integrity check says of an EHR. */
async function violations(ehrId: string): Promise<unknown[]> {
  const found = (await verifyStorage()).violations.filter(
    ({ id, message }) => id === ehrId || message.includes(ehrId),
  );
  return found.map(({ kind, id, message }) => [kind, id, message]);
}

const wrongly = (type: string, ehrId: string, right: string): string =>
  `the ${type} of EHR ${ehrId} holds what a merge left that was taken back; right is ${right}`;
const REPLAYED = 'what persons and the merges that stand give it';

it("finds a list with another patient's content that an unmerge of an older release wrote, and writes what is right", async () => {
  const [target, source] = [await givenEhr(app), await givenEhr(app)];
  const right = await givenComposition(app, target, listOf('right'));
  const list = versionedObjectUidOf(right);
  await givenComposition(app, source, listOf('another patient'));
  await merge(app, source, target, { composition_merge: 'PERSISTENT' });
  expect((await unmerge(app, source, target)).status).toBe(200);
  expect(await repairs('none')).toEqual([]);
  const wrong = await givenUpdate(app, target, `${list}::local.cdr::3`, listOf('another patient'));
  await writtenByUnmerge(source, wrong);

  expect(await repairs('none')).toEqual([[target, wrong, right]]);
  expect(await violations(target)).toContainEqual([
    'versions',
    wrong,
    wrongly('COMPOSITION', target, `the content of ${right}`),
  ]);
  const shown = () => request(app).get(`${V1}/ehr/${target}/composition/${list}`);
  expect((await shown()).body.composer.name).toBe('another patient');
  expect(await repairs('certain')).toEqual([[target, wrong, right]]);
  expect((await shown()).body.composer.name).toBe('right');
  expect(await repairs('certain')).toEqual([]);
});

it('finds an EHR_STATUS and a directory with what another patient left, and writes what is right', async () => {
  const own = { other_details: detailsOf('own') };
  const target = await givenEhr(app, statusOf(randomUUID(), own));
  const source = await givenEhr(app, statusOf(randomUUID(), { other_details: detailsOf('another patient') }));
  await givenDirectory(app, target, folder('own'));
  await givenDirectory(app, source, folder('another patient'));
  const resolutions = { ehr_status: { other_details: 'source' } };
  await merge(app, source, target, { folder_merge: 'COPY', resolutions });
  const merged = await request(app).get(`${V1}/ehr/${target}/directory`);
  expect((await unmerge(app, source, target)).status).toBe(200);
  expect(await repairs('none')).toEqual([]);

  const put = async (path: string, change: (now: Json) => object): Promise<string> => {
    const now = await request(app).get(`${V1}/ehr/${target}/${path}`);
    const answer = request(app).put(`${V1}/ehr/${target}/${path}`).set('If-Match', String(now.headers.etag));
    const { headers, status, text } = await answer.send(change(now.body as Json));
    expect([status < 300, status < 300 ? '' : text]).toEqual([true, '']);
    return String(headers.etag).replaceAll('"', '');
  };
  const status = await put('ehr_status', (now) => ({ ...now, other_details: detailsOf('another patient') }));
  const directory = await put('directory', (now) => ({ ...now, folders: (merged.body as Json).folders }));
  await writtenByUnmerge(source, status);
  await writtenByUnmerge(source, directory);

  const lines = [
    `EHR ${target}  EHR_STATUS  ${status}  right: ${REPLAYED}`,
    `EHR ${target}  FOLDER  ${directory}  right: ${REPLAYED}`,
  ];
  expect(await repairCommand()).toEqual([...lines, '2 objects to be repaired with --apply']);
  const told = await violations(target);
  expect(told).toContainEqual(['versions', status, wrongly('EHR_STATUS', target, REPLAYED)]);
  expect(told).toContainEqual(['versions', directory, wrongly('FOLDER', target, REPLAYED)]);
  expect(await repairCommand('--apply')).toEqual([...lines, '2 objects repaired']);
  expect((await request(app).get(`${V1}/ehr/${target}/ehr_status`)).body.other_details.name.value).toBe(
    'own',
  );
  const root = (await request(app).get(`${V1}/ehr/${target}/directory`)).body as Json;
  expect([root.name.value, root.folders ?? []]).toEqual(['own', []]);
  expect(await violations(target)).toEqual([]);
  expect(await repairCommand('--apply')).toEqual(['0 objects repaired']);
});

it('only notes a list of an older release that did not record whose content was chosen', async () => {
  const [target, source] = [await givenEhr(app), await givenEhr(app)];
  const first = await givenComposition(app, target, listOf('chosen'));
  const later = await givenComposition(app, source, listOf('later'));
  const list = versionedObjectUidOf(first);
  const resolutions = { compositions: { [list]: 'target' } };
  expect((await merge(app, source, target, { composition_merge: 'PERSISTENT', resolutions })).status).toBe(
    200,
  );
  const merges = mongoose.connection.collection('merge_records');
  expect(await repairs('none')).toEqual([]);
  await merges.updateOne({ source_ehr: source }, { $unset: { 'joined.0.choice': 1 } });

  const made = `${list}::local.cdr::2`;
  const { violations: found, unrecorded } = await verifyStorage();
  expect(found.filter(({ message }) => message.includes(target) || message.includes(list))).toEqual([]);
  expect(unrecorded).toEqual([
    {
      id: made,
      message: `the COMPOSITION of EHR ${target} was joined by an older release, which did not record whose content was chosen; by the rule it would hold the content of ${later}`,
    },
  ]);
  expect(await repairs('none')).toEqual([[target, made, later]]);
  expect(await repairs('certain')).toEqual([]);
  const shown = () => request(app).get(`${V1}/ehr/${target}/composition/${list}`);
  expect((await shown()).body.composer.name).toBe('chosen');
  // By the rule of this release it is wrong.
  await merges.updateOne({ source_ehr: source }, { $set: { 'joined.0.by_rule': true } });
  expect(await violations(target)).toMatchObject([['versions', made, expect.stringContaining(later)]]);
  await merges.updateOne({ source_ehr: source }, { $unset: { 'joined.0.by_rule': 1 } });
  expect(await repairs('all')).toEqual([[target, made, later]]);
  expect((await shown()).body.composer.name).toBe('later');
});
