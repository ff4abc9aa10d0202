import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { parseXml } from '../../../openehr/base/xml.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, folder, givenDirectory, givenMergeTemplates, merge, O } from '../../support/merge-http.js';
import { givenComposition, givenEhr, versionedObjectUidOf, V1, type Json } from '../../support/resources.js';
import { ADMIN, USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const get = (path: string): request.Test => request(app).get(`${V1}${path}`);

let source = '';
let target = '';
beforeEach(async () => {
  source = await givenEhr(app);
  target = await givenEhr(app);
});

describe('merges can be looked up', () => {
  let last = '';
  beforeEach(async () => {
    last = await givenEhr(app);
    await merge(app, source, target, { reversible: true });
    await merge(app, target, last, { reversible: false });
  });

  it('getMergeTarget follows the cascade', async () => {
    const plain = await admin(app, 'get', `/ehr/merge_target/${source}`);
    expect([plain.status, plain.type, plain.text]).toEqual([200, 'text/plain', last]);
    const json = await admin(app, 'get', `/ehr/merge_target/${source.toUpperCase()}`).set(
      'Accept',
      'application/json',
    );
    expect([json.status, json.body]).toEqual([200, last]);
    const unmerged = await admin(app, 'get', `/ehr/merge_target/${last}`).set('Accept', 'text/plain');
    expect([unmerged.status, unmerged.type, unmerged.text]).toEqual([
      404,
      'text/plain',
      `EHR ${last} was not merged`,
    ]);
    expect((await admin(app, 'get', `/ehr/merge_target/${randomUUID()}`)).status).toBe(404);
    expect((await admin(app, 'get', '/ehr/merge_target/1.2.3')).status).toBe(400);
  });

  const pairs = async (query: string): Promise<[number, string[]]> => {
    const { status, body } = await admin(app, 'get', `/ehr/merge_status?${query}`);
    const names: Record<string, string> = { [source]: 'A', [target]: 'B', [last]: 'C' };
    const list = Array.isArray(body) ? (body as Json[]) : [];
    return [status, list.map((one) => `${names[one.source_ehr]}${names[one.target_ehr]}`)];
  };

  it('getMergeStatusList: direct and cascaded', async () => {
    expect(await pairs(`source=${source}`)).toEqual([200, ['AB']]);
    expect(await pairs(`source=${source}&cascaded=true`)).toEqual([200, ['AB', 'BC']]);
    expect(await pairs(`target=${last}`)).toEqual([200, ['BC']]);
    expect(await pairs(`target=${last}&cascaded=true`)).toEqual([200, ['AB', 'BC']]);
    expect(await pairs(`source=${source}&target=${last}`)).toEqual([404, []]);
    expect(await pairs(`source=${source}&target=${last}&cascaded=true`)).toEqual([200, ['AB', 'BC']]);
    expect(await pairs(`source=${source}&target=${target}`)).toEqual([200, ['AB']]);
    expect(await pairs(`source=${source}&target=${target}&cascaded=true`)).toEqual([200, ['AB']]);
    expect(await pairs(`source=${last}&target=${source}&cascaded=true`)).toEqual([404, []]);
    expect(await pairs(`source=${randomUUID()}`)).toEqual([404, []]);
    expect((await pairs('source=x'))[0]).toBe(400);
    expect((await pairs('cascaded=maybe'))[0]).toBe(400);
    const all = await admin(app, 'get', '/ehr/merge_status');
    expect(all.status).toBe(200);
    const dates = (all.body as Json[]).map((one) => String(one.merge_date));
    expect(dates).toEqual(dates.toSorted());
    const xml = await admin(app, 'get', `/ehr/merge_status?source=${source}`).set(
      'Accept',
      'application/xml',
    );
    expect(xml.text).toContain('<MergeDetailsList><MergeDetailsDto>');
  });

  it('getMergeDetails: the direct merge only, with unmerge data when there is some', async () => {
    const details = (query: string): request.Test => admin(app, 'get', `/ehr/merge_details?${query}`);
    const direct = await details(`source=${source}&target=${target}`);
    expect([direct.status, Object.keys(direct.body as object)]).toEqual([
      200,
      ['outcome', 'source_ehr', 'target_ehr', 'merge_id', 'merge_date'],
    ]);
    expect((await details(`source=${source}&target=${last}`)).status).toBe(404);
    expect((await details(`source=${source}`)).status).toBe(400);
    expect((await details(`source=${source}&target=${target}&unmerge_data=1`)).status).toBe(400);
    const irreversible = await details(`source=${target}&target=${last}&unmerge_data=true`);
    expect([irreversible.status, irreversible.body.unmerge_data]).toEqual([200, undefined]);
    const reversible = await details(`source=${source}&target=${target}&unmerge_data=true`);
    expect(Object.keys(reversible.body.unmerge_data as object)).toEqual([
      'ehr_creation',
      'ehr_status',
      'contributions',
      'compositions',
      'deletedCompositions',
      'folders',
      'moved_item_tags',
      'deleted_item_tags',
    ]);
    const xml = await details(`source=${source}&target=${target}&unmerge_data=true`).set(
      'Accept',
      'application/xml',
    );
    expect(xml.text).toContain('<ehr_creation>');
    expect(parseXml(xml.text).name).toBe('MergeDetailsDto');
  });

  it('answers 401 and 403 before anything else', async () => {
    for (const path of [`/ehr/merge_target/${source}`, '/ehr/merge_status', '/ehr/merge_details']) {
      expect((await request(app).get(`${O}${path}`)).status).toBe(401);
      expect((await request(app).get(`${O}${path}`).set('Authorization', USER)).status).toBe(403);
    }
    for (const path of ['/ehr/unmerge', '/ehr/merge']) {
      expect((await request(app).post(`${O}${path}`)).status).toBe(401);
      expect((await request(app).post(`${O}${path}`).set('Authorization', USER)).status).toBe(403);
    }
    const off = request(testApp({ ...WITH_ADMIN, adminApiActive: false }));
    expect((await off.get(`${O}/ehr/merge_status`).set('Authorization', ADMIN)).status).toBe(404);
  });
});

describe('unmerge data', () => {
  it('holds the whole of what ended, in camel case', async () => {
    const first = await givenDirectory(app, source, folder('first'));
    await request(app).delete(`${V1}/ehr/${source}/directory`).set('If-Match', `"${first}"`);
    await givenDirectory(app, source, folder('second'));
    const composition = await givenComposition(app, source);
    const ehr = await get(`/ehr/${source}?include=contributions`);
    await merge(app, source, target);
    const { body } = await admin(
      app,
      'get',
      `/ehr/merge_details?source=${source}&target=${target}&unmerge_data=true`,
    );
    const data = body.unmerge_data as Json;
    expect(data.ehr_creation).toBe(ehr.body.time_created.value);
    expect(data.contributions.toSorted()).toEqual(
      ehr.body.contributions.map((one: Json) => one.id.value).toSorted(),
    );
    expect(data.compositions).toEqual([versionedObjectUidOf(composition)]);
    expect(data.ehr_status.versions).toEqual([
      {
        uid: ehr.body.ehr_status.id.value.split('::')[0],
        version: 1,
        sys_period_lower: ehr.body.time_created.value,
        contribution: expect.stringMatching(/^[0-9a-f-]{36}$/),
        audit_details: expect.stringMatching(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        ),
        data: expect.objectContaining({
          _type: 'EHR_STATUS',
          archetypeNodeId: 'openEHR-EHR-EHR_STATUS.generic.v1',
          isQueryable: true,
          isModifiable: true,
        }),
      },
    ]);
    expect(data.folders).toHaveLength(2);
    const [gone, live] = data.folders as Json[];
    expect(gone!.versions).toMatchObject([{ version: 1 }, { version: 2 }]);
    expect(gone!.versions[0].sys_period_upper).toBe(gone!.versions[1].sys_period_lower);
    expect(gone!.versions[1]).not.toHaveProperty('data');
    expect(gone!.versions[1]).not.toHaveProperty('sys_period_upper');
    expect(live!.versions[0].data.name.value).toBe('second');
  });
});
