import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hostileBody } from '../support/attack/hostile-body.js';
import { hostileTemplate } from '../support/attack/hostile-template.js';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { draws, seeds } from '../support/laws.js';
import { element, evaluation, node, primitive, template } from '../support/openehr/opt-builder.js';
import { Random } from '../support/random.js';
import { testSettings } from '../support/settings.js';
import { V1, type Json } from '../support/resources.js';

/**
 * Whatever is sent is taken, or refused for a reason, and takes the server from nobody, nor does reading it in any form. A
 * failure names its seed.
 */
const SIZES = { small: 100, full: 2_000 };
const TEMPLATES = 'definition/template/adl1.4';
const RM_TYPES = ['application/json', 'application/xml'];
const READ_TYPES = [
  ...RM_TYPES,
  'application/openehr.wt.flat+json',
  'application/openehr.wt.structured+json',
];
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
    expect((await send('POST', TEMPLATES, opt, 'application/xml')).status).toBe(201);
  }
  const made = await fetch(
    `${server.url}${V1}/definition/template/adl1.4/open/example?detail_level=complete`,
    {
      headers: { Accept: 'application/json' },
    },
  );
  example = (await made.json()) as Json;
  ehrId = (await send('POST', 'ehr', '')).etag;
});
afterAll(() => server.stop());

/** `type`: of the body, without one of the answer. */
async function send(
  method: string,
  path: string,
  body: string | null,
  type = 'application/json',
): Promise<{ status: number; etag: string; text: string }> {
  const headers = body === null ? { Accept: type } : { 'Content-Type': type };
  const answer = await fetch(`${server.url}${V1}/${path}`, { method, headers, body }).catch(
    (error: unknown) => {
      // Refused by its length before it was read whole: that the connection ends may be seen before the answer.
      if (Buffer.byteLength(body ?? '') > largest(path)) return new Response(null, { status: 413 });
      throw error;
    },
  );
  const etag = (answer.headers.get('ETag') ?? '').replaceAll('"', '');
  return { status: answer.status, etag, text: await answer.text() };
}

/** Most bytes of a body that is sent there. */
function largest(path: string): number {
  const { maxTemplateBytes, maxBodyBytes } = testSettings();
  return path === TEMPLATES ? maxTemplateBytes : maxBodyBytes;
}

/** Sends what each seed makes, one request after the other; gives how often each status was the answer to the first of each. */
async function allHarmless(
  attack: (random: Random, seed: number, sent: typeof send) => Promise<{ status: number }>,
): Promise<ReadonlyMap<number, number>> {
  const wrong: object[] = [];
  const answers = new Map<number, number>();
  const { silenceMs } = await server.cost(async () => {
    for (const seed of seeds(SIZES)) {
      const { status } = await attack(new Random(seed), seed, async (method, path, ...rest) => {
        const before = server.mainSeconds();
        const answer = await send(method, path, ...rest);
        const mainSeconds = server.mainSeconds() - before;
        if (answer.status >= 500 || mainSeconds > MAX_MAIN_SECONDS)
          wrong.push({
            seed,
            method,
            path,
            mainSeconds,
            answer: { ...answer, text: answer.text.slice(0, 300) },
          });
        return answer;
      });
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  });
  expect(wrong).toEqual([]);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return answers;
}

it(`no template takes the server from the others (${draws(SIZES)} templates)`, async () => {
  const answers = await allHarmless(async (random, seed, sent) => {
    const id = `hostile ${seed}`;
    const made = await sent('POST', TEMPLATES, hostileTemplate(random, id), 'application/xml');
    const path = `${TEMPLATES}/${encodeURIComponent(id)}`;
    if (made.status === 201) {
      await sent('GET', `${path}/example?detail_level=complete`, null, random.pick(READ_TYPES));
      await sent('GET', path, null, random.pick(['application/xml', 'application/openehr.wt+json']));
    }
    return made;
  });
  expect(answers.get(201)).toBeGreaterThan(draws(SIZES) / 10);
  expect(answers.get(400)).toBeGreaterThan(draws(SIZES) / 10);
}, 7_200_000);

it(`no body takes the server from the others (${draws(SIZES)} bodies)`, async () => {
  const answers = await allHarmless(async (random, _seed, sent) => {
    const composition = structuredClone(example);
    composition.archetype_details.template_id.value = random.pick(['open', 'strict']);
    const { method, path, type, text } = hostileBody(random, ehrId, composition);
    const made = await sent(method, path, text, type);
    if (made.status === 201 && path.includes('/composition')) {
      const [id = ''] = made.etag.split('::');
      await sent('GET', `ehr/${ehrId}/composition/${made.etag}`, null, random.pick(READ_TYPES));
      await sent('GET', `ehr/${ehrId}/versioned_composition/${id}/version`, null, random.pick(RM_TYPES));
    }
    return made;
  });
  expect(answers.get(201)).toBeGreaterThan(draws(SIZES) / 20);
  expect((answers.get(400) ?? 0) + (answers.get(422) ?? 0)).toBeGreaterThan(draws(SIZES) / 10);
}, 7_200_000);
