import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hostileBody } from '../support/attack/hostile-body.js';
import { hostileTemplate } from '../support/attack/hostile-template.js';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { draws, seeds } from '../support/laws.js';
import { element, evaluation, node, primitive, template } from '../support/openehr/opt-builder.js';
import { Random } from '../support/random.js';
import { V1, type Json } from '../support/resources.js';

/** Whatever is sent is taken, or refused for a reason, and takes the server from nobody. A failure names its seed. */
const SIZES = { small: 100, full: 2_000 };
let server: WatchedServer;
let ehrId = '';
let example: Json = {};

beforeAll(async () => {
  server = await watchedServer();
  const text = (pattern: string): string =>
    node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_STRING', `<pattern>${pattern}</pattern>`) });
  const open = element('at0002', node('DV_TEXT'), '0..*') + element('at0003', node('DV_TEXT'), '0..*');
  const strict =
    element('at0002', text('(?:[ab]*a){900}c'), '0..*') + element('at0003', text('[ab]{1,200}'), '0..*');
  for (const [id, items] of Object.entries({ open, strict })) {
    const opt = template(evaluation(items, { at0002: 'Long', at0003: 'Short' }), { id });
    expect((await send('POST', 'definition/template/adl1.4', opt, 'application/xml')).status).toBe(201);
  }
  const made = await fetch(
    `${server.url}${V1}/definition/template/adl1.4/open/example?detail_level=complete`,
    {
      headers: { Accept: 'application/json' },
    },
  );
  example = (await made.json()) as Json;
  ehrId = (await send('POST', 'ehr', '')).etag;
}, 120_000);
afterAll(() => server.stop());

async function send(
  method: string,
  path: string,
  body: string,
  type = 'application/json',
): Promise<{ status: number; etag: string; text: string }> {
  const answer = await fetch(`${server.url}${V1}/${path}`, {
    method,
    headers: { 'Content-Type': type },
    body,
  });
  const etag = (answer.headers.get('ETag') ?? '').replaceAll('"', '');
  return { status: answer.status, etag, text: await answer.text() };
}

/** Sends one request for each seed; gives how often each status was the answer. */
async function allHarmless(
  attack: (random: Random, seed: number) => Promise<{ status: number; text: string }>,
): Promise<ReadonlyMap<number, number>> {
  const wrong: object[] = [];
  const answers = new Map<number, number>();
  const { silenceMs } = await server.cost(async () => {
    for (const seed of seeds(SIZES)) {
      const before = server.mainSeconds();
      const { status, text } = await attack(new Random(seed), seed);
      const mainSeconds = server.mainSeconds() - before;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status >= 500 || mainSeconds > MAX_MAIN_SECONDS)
        wrong.push({ seed, status, mainSeconds, message: text.slice(0, 300) });
    }
  });
  expect(wrong).toEqual([]);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return answers;
}

it(`no template takes the server from the others (${draws(SIZES)} templates)`, async () => {
  const answers = await allHarmless((random, seed) =>
    send('POST', 'definition/template/adl1.4', hostileTemplate(random, `hostile ${seed}`), 'application/xml'),
  );
  expect(answers.get(201)).toBeGreaterThan(draws(SIZES) / 10);
  expect(answers.get(400)).toBeGreaterThan(draws(SIZES) / 10);
}, 7_200_000);

it(`no body takes the server from the others (${draws(SIZES)} bodies)`, async () => {
  const answers = await allHarmless((random) => {
    const composition = structuredClone(example);
    composition.archetype_details.template_id.value = random.pick(['open', 'strict']);
    const { method, path, type, text } = hostileBody(random, ehrId, composition);
    return send(method, path, text, type);
  });
  expect(answers.get(201)).toBeGreaterThan(draws(SIZES) / 20);
  expect((answers.get(400) ?? 0) + (answers.get(422) ?? 0)).toBeGreaterThan(draws(SIZES) / 10);
}, 7_200_000);
