import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, givenTag, merge, O, unmerge } from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

/** `MERGE_RUNS=200` for a long look. */
const RUNS = Math.ceil(Number(process.env['MERGE_RUNS'] ?? 8) / 4);

useDatabase();
const app = testApp(WITH_ADMIN);
const server = useServer(app);
beforeAll(() => givenMergeTemplates(app));

const rounds = Array.from({ length: RUNS }, (_, round) => round + 1);

async function expectSound(): Promise<void> {
  expect((await verifyStorage()).violations).toEqual([]);
}

/** Statuses of calls made at the same time. */
async function atOnce(...calls: readonly request.Test[]): Promise<number[]> {
  const answers = await Promise.all(calls);
  return answers.map(({ status }) => status);
}

async function post(path: string, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Authorization: ADMIN };
  return fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Commits compositions until told to stop; gives the uids acknowledged, and asserts that refusals are 409. */
async function writeTo(ehrId: string, running: { on: boolean }): Promise<string[]> {
  const acknowledged: string[] = [];
  while (running.on) {
    const response = await post(`${V1}/ehr/${ehrId}/composition`, aComposition());
    await response.text();
    if (response.status === 201) acknowledged.push(String(response.headers.get('etag')).replaceAll('"', ''));
    else expect(response.status).toBe(409);
  }
  return acknowledged;
}

/** Updates a composition in whichever of the EHRs it is; gives the uids acknowledged. */
async function updateIn(
  ehrIds: readonly string[],
  versionUid: string,
  running: { on: boolean },
): Promise<string[]> {
  const acknowledged = [versionUid];
  while (running.on) {
    for (const ehrId of ehrIds) {
      const uid = acknowledged.at(-1)!;
      const response = await fetch(`${server.url}${V1}/ehr/${ehrId}/composition/${uid.split('::')[0]!}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json', 'If-Match': `"${uid}"` },
        body: JSON.stringify(aComposition()),
      });
      await response.text();
      if (response.status === 200)
        acknowledged.push(String(response.headers.get('etag')).replaceAll('"', ''));
      else expect([404, 409]).toContain(response.status);
    }
  }
  return acknowledged;
}

/** Item tags on a composition of the EHR until it is merged away. */
async function tagIn(ehrId: string, uid: string, running: { on: boolean }): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; running.on; n += 1) {
    const path = `/rest/experimental/tags/ehr/${ehrId}/composition/${uid}/item_tag`;
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify([{ key: `k${n}`, value: 'v' }]);
    const response = await fetch(`${server.url}${path}`, { method: 'PUT', headers, body });
    const answer = (await response.json()) as string[];
    if (response.status === 200) ids.push(...answer);
    else expect([404, 409]).toContain(response.status);
  }
  return ids;
}

describe('while two EHRs are merged', () => {
  it.each(rounds)('writers lose nothing (round %i)', async (round) => {
    const source = await givenEhr(app);
    const target = await givenEhr(app);
    const tagged = await givenComposition(app, source);
    const running = { on: true };
    const writers = [source, target, source, target].map((ehrId) => writeTo(ehrId, running));
    const taggers = [source, target].map((ehrId) => tagIn(ehrId, tagged.split('::')[0]!, running));
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
    const further = round % 2 === 0 ? { composition_merge: 'PERSISTENT' } : {};
    const merged = await merge(app, source, target, further);
    await new Promise((resolve) => setTimeout(resolve, 100));
    running.on = false;
    const acknowledged = (await Promise.all(writers)).flat();
    const tags = (await Promise.all(taggers)).flat();
    expect(merged.status).toBe(200);
    const stored = mongoose.connection.collection<Json & { _id: string }>('versions');
    const found = await stored.find({ _id: { $in: acknowledged } }).toArray();
    expect(found.map(({ _id }) => _id).toSorted()).toEqual(acknowledged.toSorted());
    expect(new Set(found.map((version) => String(version['ehr_id'])))).toEqual(new Set([target]));
    const derived = mongoose.connection.collection<{ _id: string; ehr: string }>('aql');
    expect(await derived.countDocuments({ _id: { $in: acknowledged }, ehr: target })).toBe(
      acknowledged.length,
    );
    const kept = mongoose.connection.collection<{ _id: string; owner_id: string }>('item_tags');
    expect(await kept.countDocuments({ _id: { $in: tags }, owner_id: target })).toBe(tags.length);
    await expectSound();
  });

  it.each(rounds)('writers to moved compositions lose nothing when it is taken back (round %i)', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const uids = [await givenComposition(app, source), await givenComposition(app, source)];
    await merge(app, source, target);
    const running = { on: true };
    const own = writeTo(target, running);
    const writers = uids.map((uid) => updateIn([target, source], uid, running));
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
    const undone = await unmerge(app, source, target);
    await new Promise((resolve) => setTimeout(resolve, 100));
    running.on = false;
    expect(undone.status).toBe(200);
    const stored = mongoose.connection.collection<{ _id: string; ehr_id: string }>('versions');
    const back = (await Promise.all(writers)).flat();
    expect(await stored.countDocuments({ _id: { $in: back }, ehr_id: source })).toBe(back.length);
    const stayed = await own;
    expect(await stored.countDocuments({ _id: { $in: stayed }, ehr_id: target })).toBe(stayed.length);
    await expectSound();
  });

  it.each(rounds)('every answer of AQL counts the same over both (round %i)', async () => {
    const source = await givenEhr(app);
    const target = await givenEhr(app);
    for (let n = 0; n < 6; n += 1) await givenComposition(app, n % 2 === 0 ? source : target);
    const running = { on: true };
    const both = `e/ehr_id/value matches {'${source}', '${target}'}`;
    const queries = [
      `SELECT COUNT(c/uid/value) FROM EHR e CONTAINS COMPOSITION c WHERE ${both}`,
      `SELECT COUNT(c/uid/value) FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c WHERE ${both}`,
    ];
    const readers = queries.map(async (q) => {
      const seen = new Map<string, number>();
      while (running.on) {
        const response = await post(`${V1}/query/aql`, { q });
        const { rows } = (await response.json()) as { rows: unknown[][] };
        const answer = JSON.stringify([response.status, rows]);
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }
      return seen;
    });
    for (let n = 0; n < 4; n += 1) {
      expect((await merge(app, source, target, { folder_merge: 'COPY' })).status).toBe(200);
      expect((await unmerge(app, source, target)).status).toBe(200);
    }
    running.on = false;
    for (const seen of await Promise.all(readers)) expect([...seen.keys()]).toEqual(['[200,[[6]]]']);
  });

  it.each(rounds)('the other way round, or into another: one of them wins (round %i)', async () => {
    const [a, b, c] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    for (const ehrId of [a, b, c]) await givenComposition(app, ehrId);
    expect((await atOnce(merge(app, a, b), merge(app, b, a))).toSorted()).toEqual([200, 409]);
    const [d, e, f] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    expect((await atOnce(merge(app, d, e), merge(app, d, f))).toSorted()).toEqual([200, 409]);
    const [g, h, i] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const chain = await atOnce(merge(app, g, h), merge(app, h, i));
    expect(chain.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(chain.every((status) => status === 200 || status === 409)).toBe(true);
    const sources = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    expect(await atOnce(...sources.map((ehrId) => merge(app, ehrId, c)))).toEqual([200, 200, 200]);
    expect((await atOnce(...sources.map((ehrId) => unmerge(app, ehrId, c)))).toSorted()).toEqual([
      200, 200, 200,
    ]);
    const again = await atOnce(merge(app, sources[0]!, c), merge(app, sources[0]!, c));
    expect(again.toSorted()).toEqual([200, 409]);
    expect((await atOnce(unmerge(app, sources[0]!, c), unmerge(app, sources[0]!, c))).toSorted()).toEqual([
      200, 404,
    ]);
    await expectSound();
  });

  it.each(rounds)('one of them is deleted (round %i)', async () => {
    for (const victim of ['source', 'target'] as const) {
      const ehrs = { source: await givenEhr(app), target: await givenEhr(app) };
      for (const ehrId of Object.values(ehrs)) await givenComposition(app, ehrId);
      const [merged, deleted] = await atOnce(
        merge(app, ehrs.source, ehrs.target),
        admin(app, 'delete', `/ehr/${ehrs[victim]}?cascade=true`),
      );
      // The source cannot be deleted once it is merged, the target can.
      const outcomes = victim === 'source' ? ['200 404', '404 204'] : ['200 204', '404 204'];
      expect(outcomes).toContain(`${merged} ${deleted}`);
      if (victim === 'target') {
        const state = await request(app).get(`${V1}/ehr/${ehrs.source}`);
        expect(state.status).toBe(merged === 200 ? 404 : 200);
        const lookup = request(app).get(`${O}/ehr/merge_target/${ehrs.source}`).set('Authorization', ADMIN);
        expect((await lookup).status).toBe(404);
      }
    }
    await expectSound();
  });
});

describe('reads beside merges and unmerges', () => {
  it('answer what the EHR held before or after, never half of it', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const mine: string[] = [];
    for (let n = 0; n < 6; n += 1) mine.push(await givenComposition(app, source));
    const uid = mine[0]!.split('::')[0]!;
    await givenTag(app, { ehrId: source, type: 'composition', uid }, 'kept');
    const running = { on: true };
    const paths = [
      `${V1}/ehr/${source}?include=compositions,contributions`,
      `${V1}/ehr/${source}/tags`,
      `${V1}/ehr/${source}/composition/${uid}`,
      `${V1}/ehr/${source}/ehr_status`,
    ];
    const readers = paths.map(async (path) => {
      const seen = new Set<string>();
      while (running.on) {
        const response = await fetch(`${server.url}${path}`);
        const body = (await response.json()) as Json;
        const lists = [body.compositions, body.contributions].map((list) => (list as [] | undefined)?.length);
        const found = Array.isArray(body) ? body.length : lists.join('/');
        seen.add(
          response.status === 200 ? `200 ${found}` : `${response.status} ${response.headers.has('Link')}`,
        );
      }
      return [...seen].toSorted();
    });
    for (let cycle = 0; cycle < 8; cycle += 1) {
      expect((await merge(app, source, target)).status).toBe(200);
      expect((await unmerge(app, source, target)).status).toBe(200);
    }
    running.on = false;
    const [ehr, tags, composition, status] = await Promise.all(readers);
    expect(new Set([...ehr!, '200 6/7', '404 true'])).toEqual(new Set(['200 6/7', '404 true']));
    expect(new Set([...tags!, '200 1', '404 true'])).toEqual(new Set(['200 1', '404 true']));
    expect(new Set([...composition!, ...status!, '200 /', '404 true'])).toEqual(
      new Set(['200 /', '404 true']),
    );
  });
});
