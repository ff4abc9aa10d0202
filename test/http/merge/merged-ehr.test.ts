import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  merge,
  rows,
  statusOf,
} from '../../support/merge-http.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

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

describe('the source after the merge', () => {
  let composition = '';
  let status = '';
  beforeEach(async () => {
    composition = await givenComposition(app, source);
    status = String((await get(`/ehr/${source}/ehr_status`)).body.uid.value);
    await givenDirectory(app, source, folder('root'));
    const third = await givenEhr(app);
    await merge(app, source, third);
    await merge(app, third, target);
  });

  it('answers every read with 404 and the way to the final EHR', async () => {
    const object = versionedObjectUidOf(composition);
    const paths = [
      '',
      '?include=compositions',
      '/ehr_status',
      `/ehr_status/${status}`,
      '/versioned_ehr_status',
      '/versioned_ehr_status/revision_history',
      '/versioned_ehr_status/version',
      `/versioned_ehr_status/version/${status}`,
      `/composition/${composition}`,
      `/composition/${object}`,
      `/versioned_composition/${object}`,
      `/versioned_composition/${object}/revision_history`,
      `/versioned_composition/${object}/version`,
      `/versioned_composition/${object}/version/${composition}`,
      '/directory',
      `/contribution/${randomUUID()}`,
      '/tags',
      `/composition/${object}/tags`,
    ];
    for (const path of paths) {
      const response = await get(`/ehr/${source}${path}`);
      expect([path, response.status, response.headers.link, response.body.message]).toEqual([
        path,
        404,
        expect.stringMatching(
          new RegExp(`^<http.*/rest/openehr/v1/ehr/${target}>; rel="successor-version"$`),
        ),
        `EHR ${source} was merged into ${target}`,
      ]);
    }
    const own = await request(app).get(
      `/rest/experimental/tags/ehr/${source}/composition/${object}/item_tag`,
    );
    expect([own.status, own.headers.link]).toEqual([404, expect.stringContaining(target)]);
    const head = await request(app).head(`${V1}/ehr/${source}`);
    expect([head.status, head.headers.link]).toEqual([404, expect.stringContaining(target)]);
  });

  it('answers every write with 409 and the final EHR', async () => {
    const object = versionedObjectUidOf(composition);
    const audit = { change_type: { value: 'creation' } };
    const contribution = { versions: [{ data: aComposition(), commit_audit: audit }] };
    const calls: [string, request.Test][] = [
      ['POST composition', request(app).post(`${V1}/ehr/${source}/composition`).send(aComposition())],
      [
        'PUT composition',
        request(app)
          .put(`${V1}/ehr/${source}/composition/${object}`)
          .set('If-Match', `"${composition}"`)
          .send(aComposition()),
      ],
      ['DELETE composition', request(app).delete(`${V1}/ehr/${source}/composition/${composition}`)],
      ['POST directory', request(app).post(`${V1}/ehr/${source}/directory`).send(folder('x'))],
      [
        'PUT directory',
        request(app).put(`${V1}/ehr/${source}/directory`).set('If-Match', status).send(folder('x')),
      ],
      ['DELETE directory', request(app).delete(`${V1}/ehr/${source}/directory`).set('If-Match', status)],
      [
        'PUT ehr_status',
        request(app).put(`${V1}/ehr/${source}/ehr_status`).set('If-Match', status).send(statusOf('x')),
      ],
      ['POST contribution', request(app).post(`${V1}/ehr/${source}/contribution`).send(contribution)],
      [
        'PUT tags',
        request(app)
          .put(`${V1}/ehr/${source}/composition/${object}/tags`)
          .send([{ key: 'a' }]),
      ],
      ['DELETE tags', request(app).delete(`${V1}/ehr/${source}/composition/${object}/tags/a`)],
      [
        'PUT item_tag',
        request(app)
          .put(`/rest/experimental/tags/ehr/${source}/composition/${object}/item_tag`)
          .send([{ key: 'a', value: 'b' }]),
      ],
      ['PUT ehr', request(app).put(`${V1}/ehr/${source}`)],
      [
        'PUT status tags',
        request(app)
          .put(`${V1}/ehr/${source}/ehr_status/${versionedObjectUidOf(status)}/tags`)
          .send([{ key: 'a' }]),
      ],
      [
        'malformed',
        request(app)
          .post(`${V1}/ehr/${source}/composition`)
          .set('Content-Type', 'application/json')
          .send('{'),
      ],
    ];
    const link = new RegExp(`/rest/openehr/v1/ehr/${target}>; rel="successor-version"$`);
    for (const [name, call] of calls) {
      const response = await call;
      expect([name, response.status, response.headers.link, response.body.message]).toEqual([
        name,
        409,
        expect.stringMatching(link),
        expect.stringContaining(target),
      ]);
    }
  });

  it('is unknown to administration, which is told the way to the final EHR', async () => {
    for (const call of [
      admin(app, 'delete', `/ehr/${source}`),
      admin(app, 'put', `/ehr/${source}`),
      admin(app, 'put', `/ehr/${source}/contribution/${randomUUID()}`),
      admin(app, 'delete', `/ehr/${source}/composition/${composition}`),
      admin(app, 'delete', `/ehr/${source}/directory/${status}`),
    ]) {
      const { status: answered, headers } = await call;
      expect([answered, headers.link]).toEqual([404, expect.stringContaining(target)]);
    }
  });

  it('has no rows in AQL; its data has those of the target', async () => {
    expect(await rows(app, `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = '${source}'`)).toEqual(
      [],
    );
    expect(
      await rows(app, `SELECT c/uid/value FROM EHR e[ehr_id/value='${source}'] CONTAINS COMPOSITION c`),
    ).toEqual([]);
    const found = await rows(
      app,
      `SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c WHERE c/uid/value='${composition}'`,
    );
    expect(found).toEqual([[target]]);
    const ehrs = (await rows(app, 'SELECT e/ehr_id/value FROM EHR e')).flat();
    expect([ehrs.includes(source), ehrs.includes(target)]).toEqual([false, true]);
  });

  it('as the ehr_id of a query is 404 with the way to the final EHR, wherever it stands', async () => {
    const q = 'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c';
    const aql = `${V1}/query/aql`;
    for (const call of [
      request(app).get(aql).query({ q, ehr_id: source }),
      request(app).get(aql).query({ q, ehr_id: source.toUpperCase() }).set('Accept', 'text/csv'),
      request(app).get(aql).query({ q }).set('openEHR-EHR-id', source),
      request(app).post(aql).send({ q, ehr_id: source }),
      request(app).post(aql).send({ q }).set('openEHR-EHR-id', source),
      request(app).post(`${aql}/explain`).send({ q, ehr_id: source }),
    ]) {
      const { status, headers, body } = await call;
      expect([status, headers.link, body.message]).toEqual([
        404,
        expect.stringMatching(new RegExp(`/rest/openehr/v1/ehr/${target}>; rel="successor-version"$`)),
        expect.stringContaining(target),
      ]);
    }
    expect((await request(app).post(aql).send({ q, ehr_id: target })).body.rows).toEqual([[1]]);
    const nobody = await request(app).post(aql).send({ q, ehr_id: randomUUID() });
    expect([nobody.status, nobody.headers.link]).toEqual([404, undefined]);
  });

  it('a POST that is sent again with its Idempotency-Key answers the version where it is now', async () => {
    const [early, late] = [await givenEhr(app), await givenEhr(app)];
    const post = (): request.Test =>
      request(app).post(`${V1}/ehr/${early}/composition`).set('Idempotency-Key', 'one').send(aComposition());
    const first = await post();
    await merge(app, early, late);
    const again = await post();
    expect([again.status, again.headers.etag]).toEqual([201, first.headers.etag]);
    expect(new URL(String(again.headers.location)).pathname).toBe(
      new URL(String(first.headers.location)).pathname.replace(early, late),
    );
  });

  it('goes, with its reservation, when the final EHR is deleted', async () => {
    expect((await admin(app, 'get', `/ehr/merge_target/${source}`)).text).toBe(target);
    const refused = await admin(app, 'delete', `/ehr/${target}`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(source)]);
    expect((await admin(app, 'delete', `/ehr/${target}?cascade=true`)).status).toBe(204);
    expect((await admin(app, 'get', `/ehr/merge_target/${source}`)).status).toBe(404);
    expect((await admin(app, 'get', `/ehr/merge_status?source=${source}`)).status).toBe(404);
    expect((await request(app).put(`${V1}/ehr/${source}`)).status).toBe(201);
    const left = JSON.parse(await dump()) as Record<string, Json[]>;
    expect(left['merge_archive']!.filter((doc) => JSON.stringify(doc).includes(source))).toEqual([]);
  });
});
