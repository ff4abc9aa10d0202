import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { fixtureText } from '../support/fixture.js';
import { aComposition, V1, type Json } from '../support/resources.js';

/**
 * Queries that compare whole objects are evaluated outside the database: on the main thread, over every combination of the
 * classes of FROM, one of them would take the server from everybody for minutes and end it for want of memory.
 */
const COMPOSITIONS = 60;
let server: WatchedServer;
let ehrId = '';
const uids: string[] = [];

async function post(path: string, body: unknown, type = 'application/json'): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'Content-Type': type, Prefer: 'return=representation' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

beforeAll(async () => {
  server = await watchedServer({ AQL_MAX_TUPLES: '100000' });
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  await post(`${V1}/definition/template/adl1.4`, opt, 'application/xml');
  const ehr = (await (await post(`${V1}/ehr`, '')).json()) as { ehr_id: { value: string } };
  ehrId = ehr.ehr_id.value;
  for (let index = 0; index < COMPOSITIONS; index += 1) {
    const answer = await post(`${V1}/ehr/${ehrId}/composition`, aComposition());
    uids.push(((await answer.json()) as { uid: { value: string } }).uid.value);
  }
});
afterAll(() => server.stop());

interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** The answer to a query, which costs the others nothing to speak of. */
async function answerTo(q: string, ofEhr = true): Promise<Answer> {
  let answer: Answer = { status: 0, body: {} };
  const { mainSeconds, silenceMs } = await server.cost(async () => {
    const response = await post(`${V1}/query/aql`, { q, ...(ofEhr && { ehr_id: ehrId }) });
    answer = { status: response.status, body: (await response.json()) as Json };
  });
  expect(mainSeconds).toBeLessThan(MAX_MAIN_SECONDS);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return answer;
}

const classes = (count: number, name = 'COMPOSITION'): string =>
  Array.from({ length: count }, (_, index) => `${name} c${index}`).join(' AND ');
const isTheOne = (count: number): string =>
  Array.from({ length: count }, (_, index) => `c${index}/uid/value = '${uids[index] ?? ''}'`).join(' AND ');

describe('a query that compares whole objects', () => {
  it.each([3, 4, 8])('joins %d classes that WHERE binds one by one', async (count) => {
    const from = `FROM EHR e CONTAINS (${classes(count)}) WHERE ${isTheOne(count)}`;
    const { status, body } = await answerTo(`SELECT c0/content, COUNT(*) ${from}`);
    expect(status).toBe(200);
    expect((body.rows as unknown[][]).map(([, rows]) => rows)).toEqual([1]);
  });

  it.each([
    ['COMPOSITIONs', `SELECT c0/content, COUNT(*) FROM EHR e CONTAINS (${classes(3)})`],
    ['objects of one COMPOSITION', `SELECT c0, COUNT(*) FROM EHR e CONTAINS (${classes(2, 'LOCATABLE')})`],
  ])('is refused when it combines too many %s', async (_, q) => {
    const { status, body } = await answerTo(q);
    expect({ status, message: String(body.message) }).toEqual({
      status: 422,
      message: expect.stringMatching(
        /^the request needs 100001 combinations of objects, at most 100000 .*\(AQL_MAX_TUPLES\)/,
      ),
    });
  });

  it('joins classes whose values are compared with each other', async () => {
    const where = 'c0/uid/value = c1/uid/value AND c1/uid/value > c2/uid/value';
    const from = `FROM EHR e CONTAINS (${classes(3)}) WHERE ${where}`;
    const { status, body } = await answerTo(`SELECT e/ehr_id/value, COUNT(DISTINCT c0/content) ${from}`);
    expect({ status, rows: body.rows as unknown }).toEqual({ status: 200, rows: [[ehrId, 1]] });
  });

  it('is answered for all EHRs', async () => {
    const { status, body } = await answerTo(
      'SELECT COUNT(DISTINCT c/content), COUNT(*) FROM EHR e CONTAINS COMPOSITION c',
      false,
    );
    expect({ status, rows: body.rows as unknown }).toEqual({ status: 200, rows: [[1, COMPOSITIONS]] });
  });

  it('ends with its sender', async () => {
    const { mainSeconds } = await server.cost(async () => {
      const leaving = new AbortController();
      const asked = fetch(`${server.url}${V1}/query/aql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ q: `SELECT c0, COUNT(*) FROM EHR e CONTAINS (${classes(4, 'LOCATABLE')})` }),
        signal: leaving.signal,
      });
      setTimeout(() => leaving.abort(), 100);
      await expect(asked).rejects.toThrow();
    });
    expect(mainSeconds).toBeLessThan(MAX_MAIN_SECONDS);
    expect(
      (await answerTo('SELECT COUNT(DISTINCT c/content) FROM EHR e CONTAINS COMPOSITION c')).status,
    ).toBe(200);
  });
});
