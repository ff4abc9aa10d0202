import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { CommitClock } from '../../../change/commit/commit-clock.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { folder, givenDirectory, givenUpdate } from '../../support/merge-http.js';
import { givenJointUpdate, nextUid } from '../../support/merge/joint-update.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  type Json,
} from '../../support/resources.js';

useDatabase();
const app = testApp();
const server = useServer(app);
beforeAll(() => givenTemplate(app));

const WRITERS = 8;
const READERS = 6;
const ANSWERS = { small: 25, full: 20_000 };
/** Answers of the same EHRs; then come others, so that a query does not take ever longer. */
const ROUND = 500;
const QUERIES = [
  'SELECT c/uid/value FROM COMPOSITION c ORDER BY c/uid/value',
  'SELECT COUNT(*) FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c',
  'SELECT e/ehr_id/value, COUNT(*) FROM EHR e CONTAINS COMPOSITION c ORDER BY e/ehr_id/value',
  'SELECT v/uid/value, v/commit_audit/change_type/value FROM EHR e CONTAINS VERSION v CONTAINS COMPOSITION c ORDER BY v/uid/value',
  'SELECT s/uid/value FROM EHR e CONTAINS EHR_STATUS s ORDER BY s/uid/value',
  'SELECT f/uid/value, f/name/value FROM EHR e CONTAINS FOLDER f ORDER BY f/name/value',
];

/** The same of some EHRs. */
function queriesOf(ehrIds: readonly string[]): string[] {
  const among = `WHERE e/ehr_id/value MATCHES {${ehrIds.map((ehrId) => `'${ehrId}'`).join()}}`;
  return QUERIES.map((q) => q.replace('FROM COMPOSITION c', 'FROM EHR e CONTAINS COMPOSITION c')).map((q) =>
    q.includes(' ORDER BY ') ? q.replace(' ORDER BY ', ` ${among} ORDER BY `) : `${q} ${among}`,
  );
}

async function answer(q: string, asOf?: string): Promise<Json> {
  const response = await fetch(`${server.url}${V1}/query/aql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ q, as_of: asOf }),
  });
  const { rows, meta, message } = (await response.json()) as Json;
  return { status: response.status, rows, message, certain: meta?._certain_until };
}

/** Changes another version of what an EHR has one of: its EHR_STATUS or directory. */
async function changeOne(ehrId: string, resource: 'ehr_status' | 'directory', content: Json): Promise<void> {
  const path = `${V1}/ehr/${ehrId}/${resource}`;
  const now = await request(app).get(path).expect(200);
  const changed = { ...(now.body as Json), ...content };
  await request(app).put(path).set('If-Match', String(now.headers.etag)).send(changed).expect(200);
}

async function write(random: Random, ehrId: string, isGoingOn: () => boolean): Promise<void> {
  const uids = [await givenComposition(app, ehrId)];
  await givenDirectory(app, ehrId, folder(`${ehrId} 0`));
  for (let turn = 1; isGoingOn(); turn += 1) {
    const at = random.below(uids.length);
    const dice = random.next();
    if (dice < 0.2) uids.push(await givenComposition(app, ehrId));
    else if (dice < 0.3 && uids.length > 1) {
      const [gone = ''] = uids.splice(at, 1);
      await request(app).delete(`${V1}/ehr/${ehrId}/composition/${gone}`).expect(204);
    } else if (dice < 0.4) {
      await givenJointUpdate(app, ehrId, uids);
      uids.splice(0, Infinity, ...uids.map(nextUid));
    } else if (dice < 0.5)
      await changeOne(ehrId, 'ehr_status', { name: { _type: 'DV_TEXT', value: `${turn}` } });
    else if (dice < 0.6)
      await changeOne(ehrId, 'directory', { name: { _type: 'DV_TEXT', value: `${ehrId} ${turn}` } });
    else uids[at] = await givenUpdate(app, ehrId, uids[at]!, aComposition());
  }
}

/** Asks beside writers, then everything once more: what is wrong. */
async function tried(seed: number, answers: number): Promise<unknown[]> {
  const ehrIds = await Promise.all(Array.from({ length: WRITERS }, () => givenEhr(app)));
  const queries = answers < ROUND ? QUERIES : queriesOf(ehrIds);
  const given: { q: string; asOf: string; rows: unknown }[] = [];
  const isGoingOn = (): boolean => given.length < answers;
  const read = async (random: Random): Promise<void> => {
    while (isGoingOn()) {
      const q = random.pick(queries);
      const asOf = new Date(Date.now() + random.whole(-150, 100)).toISOString();
      const { status, rows } = await answer(q, asOf);
      expect(status).toBe(200);
      given.push({ q, asOf, rows });
      const { certain } = await answer(q);
      const { rows: then } = await answer(q, String(certain));
      given.push({ q, asOf: String(certain), rows: then });
    }
  };
  await Promise.all([
    ...ehrIds.map((ehrId, n) => write(new Random(seed + n), ehrId, isGoingOn)),
    ...Array.from({ length: READERS }, (_, n) => read(new Random(seed + 100 + n))),
  ]);
  const wrong: unknown[] = [];
  for (const { q, asOf, rows } of given) {
    const again = await answer(q, asOf);
    if (JSON.stringify(again.rows) !== JSON.stringify(rows)) wrong.push({ q, asOf, rows, again: again.rows });
  }
  return wrong;
}

it('an answer as of a moment is the same for ever', async () => {
  const seed = firstSeed();
  const answers = draws(ANSWERS);
  for (let begun = 0; begun < answers; begun += ROUND) {
    const wrong = await tried(seed + begun, Math.min(answers - begun, ROUND));
    const found = { seed, begun, wrong: wrong.slice(0, 3), count: wrong.length };
    expect(found).toEqual({ seed, begun, wrong: [], count: 0 });
  }
}, 7_200_000);

describe('a moment to come', () => {
  const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

  it('is waited for when it is near', async () => {
    const asOf = inMs(300);
    expect((await answer(QUERIES[0]!, asOf)).status).toBe(200);
    expect(Date.now()).toBeGreaterThan(Date.parse(asOf));
  });

  it('is waited for up to 5 s, and refused when it is further away', async () => {
    expect((await answer(QUERIES[0]!, inMs(4_000))).status).toBe(200);
    const { status, message } = await answer(QUERIES[0]!, inMs(60_000));
    expect([status, message]).toEqual([400, 'as_of must be no more than 5 s in the future']);
    const get = request(app)
      .get(`${V1}/query/aql`)
      .query({ q: QUERIES[0]!, as_of: inMs(60_000) });
    expect((await get).status).toBe(400);
  });
});

describe('the clock of commits', () => {
  it('gives up with 503 on a commit that does not end', async () => {
    const clock = new CommitClock();
    const never = new Promise<void>(() => undefined);
    void clock.write(new Date(Date.now() - 10), () => never);
    await expect(clock.reached(new Date())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('gives no commit a time as of which somebody was answered', async () => {
    const clock = new CommitClock();
    const moment = new Date(Date.now() + 50);
    await clock.reached(moment);
    expect(clock.now().getTime()).toBeGreaterThan(moment.getTime());
  });
});
