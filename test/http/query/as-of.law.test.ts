import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { CommitClock } from '../../../change/commit/commit-clock.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { givenUpdate } from '../../support/merge-http.js';
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
const QUERIES = [
  'SELECT c/uid/value FROM COMPOSITION c ORDER BY c/uid/value',
  'SELECT COUNT(*) FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c',
  'SELECT e/ehr_id/value, COUNT(*) FROM EHR e CONTAINS COMPOSITION c ORDER BY e/ehr_id/value',
];

async function answer(q: string, asOf?: string): Promise<Json> {
  const response = await fetch(`${server.url}${V1}/query/aql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ q, as_of: asOf }),
  });
  const { rows, meta, message } = (await response.json()) as Json;
  return { status: response.status, rows, message, certain: meta?._certain_until };
}

async function write(random: Random, isGoingOn: () => boolean): Promise<void> {
  const ehrId = await givenEhr(app);
  const uids = [await givenComposition(app, ehrId)];
  while (isGoingOn()) {
    const at = random.below(uids.length);
    if (random.chance(0.2)) uids.push(await givenComposition(app, ehrId));
    else uids[at] = await givenUpdate(app, ehrId, uids[at]!, aComposition());
  }
}

it('an answer as of a moment is the same for ever', async () => {
  const seed = firstSeed();
  const given: { q: string; asOf: string; rows: unknown }[] = [];
  const isGoingOn = (): boolean => given.length < draws(ANSWERS);
  const read = async (random: Random): Promise<void> => {
    while (isGoingOn()) {
      const q = random.pick(QUERIES);
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
    ...Array.from({ length: WRITERS }, (_, n) => write(new Random(seed + n), isGoingOn)),
    ...Array.from({ length: READERS }, (_, n) => read(new Random(seed + 100 + n))),
  ]);
  const wrong: unknown[] = [];
  for (const { q, asOf, rows } of given) {
    const again = await answer(q, asOf);
    if (JSON.stringify(again.rows) !== JSON.stringify(rows)) wrong.push({ q, asOf, rows, again: again.rows });
  }
  expect({ seed, wrong: wrong.slice(0, 3), count: wrong.length }).toEqual({ seed, wrong: [], count: 0 });
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
  }, 60_000);

  it('gives no commit a time as of which somebody was answered', async () => {
    const clock = new CommitClock();
    const moment = new Date(Date.now() + 50);
    await clock.reached(moment);
    expect(clock.now().getTime()).toBeGreaterThan(moment.getTime());
  });
});
