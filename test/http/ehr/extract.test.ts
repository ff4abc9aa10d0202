import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { eraseVersionedObject } from '../../../maintenance/erase.js';
import { extractText } from '../../../maintenance/extract/write.js';
import { bodyFromXml } from '../../../openehr/format/extract-xml.js';
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

  it('is the same in XML, where classes are named and an EHR is made of it too', async () => {
    const { status, text, type } = await extract().set('Accept', 'application/xml');
    expect([status, type]).toEqual([200, 'application/xml']);
    const json = (await extract()).body as Json;
    const read: Json = bodyFromXml(text, 'EXTRACT');
    expect(itemsOf(read)).toEqual(itemsOf(json));
    expect(read['chapters'][0]['extract_id_key']).toBe(ehrId);
    expect(read['system_id']).toEqual(json['system_id']);
    const latest = await extract('?versions=latest').set('Accept', 'application/xml');
    expect(itemsOf(bodyFromXml(latest.text, 'EXTRACT')).every(({ versions }) => versions.length === 1)).toBe(
      true,
    );
  });

  it('is not there without its EHR', async () => {
    const unknown = `${V1}/ehr/7d44b88c-4199-4bad-97dc-d78268e01398/extract`;
    expect((await request(app).get(unknown)).status).toBe(404);
  });
});

describe('a large EXTRACT', () => {
  /** Characters of the content of one version. */
  const LARGE = 300_000;
  const VERSIONS = 45;
  let large = '';

  beforeAll(async () => {
    large = await givenEhr(app, statusOf('p2'));
    const composition = (number: number): Json => {
      const made = aComposition();
      made['name']['value'] = `${number} ${'x'.repeat(LARGE)}`;
      return made;
    };
    let version = await givenComposition(app, large, composition(0));
    for (let number = 1; number < VERSIONS; number += 1)
      version = await givenUpdate(app, large, version, composition(number));
  });

  it('is sent whole as it is read, and read a version at a time', async () => {
    const { status, body, headers } = await request(app).get(`${V1}/ehr/${large}/extract`);
    expect([status, headers['content-length']]).toEqual([200, undefined]);
    expect(itemsOf(body).map(({ versions }) => versions.length)).toEqual(
      expect.arrayContaining([1, VERSIONS]),
    );
    const lengths: number[] = [];
    for await (const text of extractText(large, 'all', { format: 'JSON', now: new Date() }))
      lengths.push(text.length);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    expect(total).toBeGreaterThan(LARGE * VERSIONS);
    expect(Math.max(...lengths)).toBeLessThan(LARGE * 2);
  });

  it('does not end when something of it goes meanwhile', async () => {
    const texts = extractText(large, 'all', { format: 'JSON', now: new Date() });
    await texts.next();
    await texts.next();
    const [uid = ''] = itemsOf((await request(app).get(`${V1}/ehr/${large}/extract?versions=latest`)).body)
      .filter(({ _type }) => _type === 'X_VERSIONED_COMPOSITION')
      .map(({ versions }) => versions[0]!['uid']['value'] as string);
    await eraseVersionedObject({
      ehrId: large,
      type: 'COMPOSITION',
      versionedObjectUid: versionedObjectUidOf(uid),
    });
    await expect(
      (async () => {
        for await (const text of texts) expect(text).not.toBe('');
      })(),
    ).rejects.toThrow('while it was read');
  });
});
