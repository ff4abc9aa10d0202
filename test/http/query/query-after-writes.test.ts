import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenUpdate,
  merge,
  rows,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const O = 'OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]';
const SYS = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude';

/** The population, by the index of leaves: a condition on a fixed path. */
const READINGS = `SELECT e/ehr_id/value, ${SYS} FROM EHR e CONTAINS ${O} WHERE ${SYS} > 0 ORDER BY ${SYS}`;
const ALL_READINGS = `SELECT v/uid/value, ${SYS} FROM VERSION v[ALL_VERSIONS] CONTAINS ${O} ORDER BY ${SYS}`;
const EHRS = 'SELECT e/ehr_id/value FROM EHR e';
const EMPTY_EHRS = `SELECT e/ehr_id/value FROM EHR e NOT CONTAINS ${O}`;
const LISTED = 'SELECT e/compositions/id/value FROM EHR e';
const IN_FOLDERS = `SELECT f/name/value, ${SYS} FROM FOLDER f CONTAINS ${O}`;

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenTemplate(app, TEMPLATE));

let ehrId = '';
let uid = '';
beforeEach(async () => {
  ehrId = await givenEhr(app, statusOf(randomUUID()));
  uid = await givenComposition(app, ehrId, reading(120));
  await givenDirectory(app, ehrId, folder('Readings', [versionedObjectUidOf(uid)]));
});

/** Every derived document is as its VERSION says; and nothing is left for the next test. */
afterEach(async () => {
  expect((await verifyStorage()).violations).toEqual([]);
  for (const [id] of await rows(app, EHRS)) await admin(app, 'delete', `/ehr/${String(id)}`);
});

function reading(systolic: number): Json {
  const composition = aComposition(TEMPLATE);
  composition['content'][0].data.events[0].data.items[0].value.magnitude = systolic;
  return composition;
}

function givenDeleted(versionUid: string): request.Test {
  return request(app).delete(`${V1}/ehr/${ehrId}/composition/${versionUid}`).expect(204);
}

async function setQueryable(isQueryable: boolean): Promise<void> {
  const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
  await request(app)
    .put(`${V1}/ehr/${ehrId}/ehr_status`)
    .set('If-Match', `"${versionUidOf(status)}"`)
    .send({ ...(status.body as Json), is_queryable: isQueryable })
    .expect(200);
}

describe('AQL test group 84: a query right after', () => {
  it('the update of a composition finds the new version, and the old one among all versions', async () => {
    const second = await givenUpdate(app, ehrId, uid, reading(180));
    expect(await rows(app, READINGS)).toEqual([[ehrId, 180]]);
    expect(await rows(app, `SELECT ${SYS} FROM ${O} WHERE ${SYS} = 120`)).toEqual([]);
    expect(await rows(app, ALL_READINGS)).toEqual([
      [uid, 120],
      [second, 180],
    ]);
    expect(await rows(app, IN_FOLDERS)).toEqual([['Readings', 180]]);
    expect(await rows(app, LISTED)).toEqual([[versionedObjectUidOf(uid)]]);
  });

  it('an update that dropped the value finds it no more', async () => {
    const without = reading(0);
    without['content'][0].data.events[0].data.items.shift();
    await givenUpdate(app, ehrId, uid, without);
    expect(await rows(app, READINGS)).toEqual([]);
    expect(await rows(app, `SELECT ${SYS} FROM ${O}`)).toEqual([[null]]);
  });

  it('a refused update finds what was there before', async () => {
    const refused = reading(180);
    refused['content'][0].archetype_node_id = 'openEHR-EHR-OBSERVATION.unknown.v1';
    const response = await request(app)
      .put(`${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`)
      .set('If-Match', `"${uid}"`)
      .send(refused);
    expect(response.status).toBe(422);
    expect(await rows(app, READINGS)).toEqual([[ehrId, 120]]);
    expect(await rows(app, ALL_READINGS)).toEqual([[uid, 120]]);
  });

  it('the deletion of a composition finds it among all versions only', async () => {
    await givenDeleted(uid);
    expect(await rows(app, READINGS)).toEqual([]);
    expect(await rows(app, IN_FOLDERS)).toEqual([]);
    expect(await rows(app, ALL_READINGS)).toEqual([[uid, 120]]);
    expect(await rows(app, LISTED)).toEqual([[null]]);
    expect(await rows(app, EMPTY_EHRS)).toEqual([[ehrId]]);
  });

  it('the deletion of a directory finds no folder', async () => {
    const directory = await request(app).get(`${V1}/ehr/${ehrId}/directory`);
    await request(app)
      .delete(`${V1}/ehr/${ehrId}/directory`)
      .set('If-Match', `"${versionUidOf(directory)}"`)
      .expect(204);
    expect(await rows(app, IN_FOLDERS)).toEqual([]);
    expect(await rows(app, 'SELECT e/directory/name/value FROM EHR e')).toEqual([[null]]);
  });

  it('the deletion of an EHR finds nothing of it', async () => {
    const other = await givenEhr(app);
    await admin(app, 'delete', `/ehr/${ehrId}`).expect(204);
    for (const q of [READINGS, ALL_READINGS, IN_FOLDERS]) expect(await rows(app, q)).toEqual([]);
    await request(app).post(`${V1}/query/aql`).send({ q: READINGS, ehr_id: ehrId }).expect(404);
    expect(await rows(app, EHRS)).toEqual([[other]]);
  });

  it('a merge finds all in the target, and after the unmerge in both', async () => {
    const target = await givenEhr(app, statusOf(randomUUID()));
    const own = await givenComposition(app, target, reading(150));
    await merge(app, ehrId, target).expect(200);
    expect(await rows(app, READINGS)).toEqual([
      [target, 120],
      [target, 150],
    ]);
    expect(await rows(app, EHRS)).toEqual([[target]]);
    expect((await rows(app, LISTED)).flat().sort()).toEqual(
      [versionedObjectUidOf(uid), versionedObjectUidOf(own)].sort(),
    );
    await expect(rows(app, IN_FOLDERS, ehrId)).rejects.toThrow('AQL: 404');
    await unmerge(app, ehrId, target).expect(200);
    expect(await rows(app, READINGS)).toEqual([
      [ehrId, 120],
      [target, 150],
    ]);
    expect((await rows(app, EHRS)).flat().sort()).toEqual([ehrId, target].sort());
  });

  it('is_queryable was turned off finds nothing in the population, and all after it was turned on', async () => {
    await givenUpdate(app, ehrId, uid, reading(180));
    await setQueryable(false);
    for (const q of [READINGS, ALL_READINGS, IN_FOLDERS, EHRS, EMPTY_EHRS, LISTED])
      expect(await rows(app, q)).toEqual([]);
    expect(await rows(app, READINGS, ehrId)).toEqual([[ehrId, 180]]);
    expect(await rows(app, `${EHRS} WHERE e/ehr_id/value = '${ehrId}'`)).toEqual([[ehrId]]);
    await setQueryable(true);
    expect(await rows(app, READINGS)).toEqual([[ehrId, 180]]);
    expect(await rows(app, ALL_READINGS)).toHaveLength(2);
  });
});
