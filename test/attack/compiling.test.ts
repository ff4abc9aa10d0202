import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { fixtureText } from '../support/fixture.js';
import { aComposition, V1, type Json } from '../support/resources.js';

/** A query is refused for its size before the work of making its plan is done, and a large plan is made in a thread. */
const COMPOSITIONS = 5;
const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
let server: WatchedServer;

beforeAll(async () => {
  server = await watchedServer();
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  await post('definition/template/adl1.4', opt, 'application/xml');
  const { body } = await post('ehr', {});
  for (let index = 0; index < COMPOSITIONS; index += 1)
    await post(`ehr/${body.ehr_id.value}/composition`, aComposition());
});
afterAll(() => server.stop());

interface Answer {
  readonly status: number;
  readonly body: Json;
}

async function post(path: string, body: unknown, type = 'application/json'): Promise<Answer> {
  const response = await fetch(`${server.url}${V1}/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': type, Prefer: 'return=representation' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Json) : {} };
}

/** The answer to a query, which costs the others nothing to speak of. */
async function answerTo(q: string): Promise<Answer> {
  let answer: Answer = { status: 0, body: {} };
  const { mainSeconds, silenceMs } = await server.cost(async () => {
    answer = await post('query/aql', { q });
  });
  expect(mainSeconds).toBeLessThan(MAX_MAIN_SECONDS);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return answer;
}

const times = (count: number, make: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);

describe('a query that is too large', () => {
  it.each([
    ['190 paths of 40 steps', `c/content/data${'/items'.repeat(38)}`, 'steps in all paths'],
    ['190 paths of 9 steps', `c/content/data${'/items'.repeat(7)}`, 'stages'],
  ])('is refused while it is read or planned: %s', async (_, path, found) => {
    const column = (index: number): string => path.replace('/data', `/data[at${index}]`);
    const { status, body } = await answerTo(`SELECT ${times(190, column)} ${FROM} LIMIT 1`);
    expect({ status, message: String(body.message) }).toEqual({
      status: 400,
      message: expect.stringContaining(found),
    });
  });

  it('is refused when each of its 500 conditions needs a list of its own', async () => {
    const condition = (index: number): string => `c/content[at${index}]/name/value = 'x'`;
    for (const word of [' AND ', ' OR ']) {
      const { status, body } = await answerTo(
        `SELECT c/uid/value ${FROM} WHERE ${times(499, condition, word)}`,
      );
      expect({ status, message: String(body.message) }).toEqual({
        status: expect.any(Number),
        message: expect.stringMatching(/stages, at most 990|AQL_MAX_COMPILE_STEPS/),
      });
      expect([400, 422]).toContain(status);
    }
  });
});

describe('a large query', () => {
  const conditions = times(
    249,
    (index) => `(c/name/value != 'n${index}' OR c/name/value LIKE '*${index}*')`,
    ' AND ',
  );

  it('has the rows that a small one has', async () => {
    const select = 'SELECT c/uid/value, CURRENT_DATE()';
    const order = 'ORDER BY c/uid/value';
    const small = await answerTo(`${select} ${FROM} ${order}`);
    expect(small.body.rows as unknown[]).toHaveLength(COMPOSITIONS);
    const wide = times(90, () => 'c/uid/value, c/context/start_time/value');
    const large = await answerTo(`${select}, ${wide} ${FROM} WHERE ${conditions} ${order}`);
    expect(large.status).toBe(200);
    expect((large.body.rows as unknown[][]).map((row) => row.slice(0, 2))).toEqual(small.body.rows);
  });

  it('is translated for many at once', async () => {
    const ask = (index: number): Promise<Answer> =>
      post('query/aql', { q: `SELECT c/uid/value AS u${index} ${FROM} WHERE ${conditions}` });
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => ask(index)));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.rows).toHaveLength(COMPOSITIONS);
    }
  });
});
