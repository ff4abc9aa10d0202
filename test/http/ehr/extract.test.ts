import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { folder, givenDirectory, givenUpdate, statusOf } from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';

useDatabase();
const app = testApp();
let ehrId = '';
let uid = '';
let deleted = '';

/** An EHR with a COMPOSITION in two versions, one that was deleted, and a directory. */
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app, statusOf('p1'));
  uid = await givenUpdate(app, ehrId, await givenComposition(app, ehrId), aComposition());
  deleted = await givenComposition(app, ehrId);
  await request(app).delete(`${V1}/ehr/${ehrId}/composition/${deleted}`);
  await givenDirectory(app, ehrId, folder('root'));
});

const extract = (query = ''): request.Test => request(app).get(`${V1}/ehr/${ehrId}/extract${query}`);

interface Item {
  readonly item: { readonly _type: string; readonly total_version_count: number; readonly versions: Json[] };
}

/** The objects of an EXTRACT. */
function itemsOf(body: unknown): Item['item'][] {
  const { chapters } = body as { chapters: { items: Item[] }[] };
  return chapters.flatMap(({ items }) => items.map(({ item }) => item));
}

describe('an EXTRACT', () => {
  it('has every version of every object as it is read by itself', async () => {
    const { status, body } = await extract();
    expect([status, body]).toEqual([200, expect.objectContaining({ _type: 'EXTRACT', sequence_nr: 1 })]);
    const items = itemsOf(body);
    expect(items.map(({ _type, versions }) => [_type, versions.length]).sort()).toEqual([
      ['X_VERSIONED_COMPOSITION', 2],
      ['X_VERSIONED_COMPOSITION', 2],
      ['X_VERSIONED_EHR_STATUS', 1],
      ['X_VERSIONED_FOLDER', 1],
    ]);
    const container = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}`;
    const { body: version } = await request(app).get(`${container}/version/${uid}`);
    expect(items.flatMap(({ versions }) => versions)).toContainEqual(version);
  });

  it('has the latest version of each object where that is asked for, and says how many there are', async () => {
    const items = itemsOf((await extract('?versions=latest')).body);
    expect(items.every(({ versions }) => versions.length === 1)).toBe(true);
    expect(items.filter(({ total_version_count: count }) => count === 2)).toHaveLength(2);
    expect((await extract('?versions=some')).status).toBe(400);
  });

  it('is JSON, for the classes of an EXTRACT have no other form here', async () => {
    expect((await extract().set('Accept', 'application/xml')).status).toBe(406);
  });

  it('is not there without its EHR', async () => {
    const unknown = `${V1}/ehr/7d44b88c-4199-4bad-97dc-d78268e01398/extract`;
    expect((await request(app).get(unknown)).status).toBe(404);
  });
});
