import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hostileQuery } from '../support/attack/hostile-aql.js';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { fixtureText } from '../support/fixture.js';
import { draws, seeds } from '../support/laws.js';
import { Random } from '../support/random.js';
import { aComposition, V1, type Json } from '../support/resources.js';

/** Whatever is asked is answered, or refused for a reason, and takes the server from nobody. A failure names its seed. */
const SIZES = { small: 100, full: 2_000 };
const COMPOSITIONS = 20;
/** What a query may answer: rows, a refusal of what it says or needs, or that its time is over. */
const ANSWERS = [200, 400, 408, 422];
let server: WatchedServer;

beforeAll(async () => {
  server = await watchedServer({ AQL_TIMEOUT_MS: '1000' });
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  await post('definition/template/adl1.4', opt, 'application/xml');
  const { body } = await post('ehr', {});
  for (let index = 0; index < COMPOSITIONS; index += 1)
    await post(`ehr/${body.ehr_id.value}/composition`, aComposition());
});
afterAll(() => server.stop());

async function post(
  path: string,
  body: unknown,
  type = 'application/json',
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${server.url}${V1}/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': type, Prefer: 'return=representation' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Json) : {} };
}

it(`no query takes the server from the others (${draws(SIZES)} queries)`, async () => {
  const wrong: object[] = [];
  const answers = new Map<number, number>();
  const { silenceMs } = await server.cost(async () => {
    for (const seed of seeds(SIZES)) {
      const q = hostileQuery(new Random(seed));
      const before = server.mainSeconds();
      const { status, body } = await post('query/aql', { q });
      const mainSeconds = server.mainSeconds() - before;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (!ANSWERS.includes(status) || mainSeconds > MAX_MAIN_SECONDS)
        wrong.push({ seed, status, mainSeconds, message: body.message });
    }
  });
  expect(wrong).toEqual([]);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  expect(answers.get(200)).toBeGreaterThan(draws(SIZES) / 4);
}, 7_200_000);
