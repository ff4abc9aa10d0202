import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { asksForObjects, hostileQuery } from '../support/attack/hostile-aql.js';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { fixtureText } from '../support/fixture.js';
import { draws, seeds } from '../support/laws.js';
import { Random } from '../support/random.js';
import { aComposition, V1, type Json } from '../support/resources.js';

/** Whatever is asked is answered, or refused for a reason, and takes the server from nobody. A failure names its seed. */
const SIZES = { small: 100, full: 2_000 };
const COMPOSITIONS = 20;
/** With entries, sections and clusters in each other: as many of an example of each. */
const TEMPLATES = [
  'ehrbase_blood_pressure_simple.de.v0',
  'ehrbase_multi_occurrence.de.v1',
  'Corona_Anamnese',
];
const EXAMPLES = 3;
/** What a query may answer: rows, a refusal of what it says or needs, or that its time is over. */
const ANSWERS = [200, 400, 408, 422];
let server: WatchedServer;
let ehrId = '';

beforeAll(async () => {
  server = await watchedServer({ AQL_TIMEOUT_MS: '1000' });
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  await post('definition/template/adl1.4', opt, 'application/xml');
  ehrId = (await post('ehr', {})).body.ehr_id.value;
  const commit = async (composition: unknown): Promise<void> => {
    const { status, body } = await post(`ehr/${ehrId}/composition`, composition);
    expect({ status, body }).toMatchObject({ status: 201 });
  };
  for (let index = 0; index < COMPOSITIONS; index += 1) await commit(aComposition());
  for (const name of TEMPLATES) {
    await post('definition/template/adl1.4', fixtureText(`opt/${name}.opt`), 'application/xml');
    const address = `${server.url}${V1}/definition/template/adl1.4/${encodeURIComponent(templateIdOf(name))}/example`;
    const example = await (await fetch(address, { headers: { Accept: 'application/json' } })).json();
    for (let index = 0; index < EXAMPLES; index += 1) await commit(example);
  }
});
afterAll(() => server.stop());

const templateIdOf = (name: string): string =>
  /<template_id>\s*<value>([^<]+)</.exec(fixtureText(`opt/${name}.opt`))?.[1] ?? name;

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
  let objects = 0;
  const { silenceMs } = await server.cost(async () => {
    for (const seed of seeds(SIZES)) {
      const q = hostileQuery(new Random(seed), ehrId);
      const before = server.mainSeconds();
      const { status, body } = await post('query/aql', { q });
      const mainSeconds = server.mainSeconds() - before;
      if (status === 200 && asksForObjects(q)) objects += 1;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (!ANSWERS.includes(status) || mainSeconds > MAX_MAIN_SECONDS)
        wrong.push({ seed, status, mainSeconds, message: body.message });
    }
  });
  expect(wrong).toEqual([]);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  expect(answers.get(200)).toBeGreaterThan(draws(SIZES) / 4);
  expect(objects).toBeGreaterThan(draws(SIZES) / 50);
}, 7_200_000);
