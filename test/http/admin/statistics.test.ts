import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { ADMIN, USER, WITH_ADMIN } from '../../support/tokens.js';

const app = testApp(WITH_ADMIN);
const statistics = (query = '', authorization = ADMIN): request.Test =>
  request(app).get(`/rest/admin/statistics${query}`).set('Authorization', authorization);

useDatabase();

it('counts and lists what was committed, in a time and in an EHR', async () => {
  await givenTemplate(app);
  const [one, other] = [await givenEhr(app), await givenEhr(app)];
  const uids: string[] = [];
  const times: string[] = [];
  for (const ehrId of [one, one, other]) {
    const uid = await givenComposition(app, ehrId);
    const { headers } = await request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}`);
    expect(headers['last-modified']).toBeDefined();
    uids.push(uid);
  }
  await request(app).delete(`${V1}/ehr/${other}/composition/${uids[2]!}`);
  const of = async (query: string): Promise<Json> => {
    const answer = await statistics(query);
    expect(answer.status).toBe(200);
    return answer.body as Json;
  };
  expect(await of(`?ehr_id=${one}`)).toEqual({
    counts: { contributions: 3, versioned_compositions: 2, versions: 2 },
  });
  expect((await of(`?ehr_id=${other}`)).counts).toEqual({
    contributions: 3,
    versioned_compositions: 1,
    versions: 2,
  });
  const { list } = await of(`?ehr_id=${one}&list=versions`);
  expect((list as Json[]).map(({ uid, ehr_id }) => [uid, ehr_id])).toEqual([
    [uids[0], one],
    [uids[1], one],
  ]);
  times.push(...(list as Json[]).map(({ time }) => String(time)));
  expect(times.toSorted()).toEqual(times);
  const later = encodeURIComponent(times[1]!);
  expect((await of(`?ehr_id=${one}&from=${later}`)).counts.versions).toBe(1);
  expect((await of(`?ehr_id=${one}&to=${encodeURIComponent(times[0]!)}`)).counts.versions).toBe(1);
  expect((await of(`?ehr_id=${one}&list=versions&offset=1&fetch=1`)).list).toHaveLength(1);
  expect((await of('?from=2999-01-01T00:00:00Z')).counts).toEqual({
    contributions: 0,
    versioned_compositions: 0,
    versions: 0,
  });
  expect((await of('')).counts.contributions).toBeGreaterThanOrEqual(6);
});

it('refuses what is malformed, unknown EHRs and who may not', async () => {
  expect((await statistics('?list=ehrs')).status).toBe(400);
  expect((await statistics('?from=yesterday')).status).toBe(400);
  expect((await statistics(`?ehr_id=${randomUUID()}`)).status).toBe(404);
  expect((await statistics('', USER)).status).toBe(403);
  const xml = await statistics('?list=contributions&fetch=1').set('Accept', 'application/xml');
  expect([xml.status, xml.text]).toEqual([
    200,
    expect.stringMatching(/<StatisticsDto>[\s\S]*<contributions>/),
  ]);
});
