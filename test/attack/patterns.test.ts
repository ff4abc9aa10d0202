import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { element, evaluation, node, primitive, template } from '../support/openehr/opt-builder.js';
import { V1, type Json } from '../support/resources.js';

/** Linear time is not enough: characters times instructions of one text are seconds, and a COMPOSITION holds many texts. */
const PATTERN = '(?:[ab]*a){900}c';
let server: WatchedServer;
let ehrId = '';
let example: Json = {};

async function post(path: string, body: string, type = 'application/json'): Promise<Response> {
  return fetch(server.url + path, { method: 'POST', headers: { 'Content-Type': type }, body });
}

beforeAll(async () => {
  server = await watchedServer();
  const text = (pattern: string): string =>
    node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_STRING', `<pattern>${pattern}</pattern>`) });
  const items = element('at0002', text(PATTERN), '0..*') + element('at0003', text('[ab]{1,200}'), '0..*');
  const free = element('at0002', node('DV_TEXT'), '0..*') + element('at0003', node('DV_TEXT'), '0..*');
  const names = { at0002: 'Long', at0003: 'Short' };
  for (const [id, content] of Object.entries({ patterns: items, free })) {
    const opt = template(evaluation(content, names), { id });
    const uploaded = await post(`${V1}/definition/template/adl1.4`, opt, 'application/xml');
    expect(uploaded.status).toBe(201);
  }
  const made = await fetch(
    `${server.url}${V1}/definition/template/adl1.4/free/example?detail_level=complete`,
    { headers: { Accept: 'application/json' } },
  );
  expect(made.status).toBe(200);
  example = (await made.json()) as Json;
  example.archetype_details.template_id.value = 'patterns';
  const ehr = await post(`${V1}/ehr`, '');
  ehrId = (ehr.headers.get('ETag') ?? '').replaceAll('"', '');
});
afterAll(() => server.stop());

/** The answer to a COMPOSITION with these texts, which costs the others nothing to speak of. */
async function committed(
  nodeId: string,
  texts: readonly string[],
): Promise<{ status: number; text: string }> {
  const composition = structuredClone(example);
  const name = nodeId === 'at0002' ? 'Long' : 'Short';
  composition.content[0].data.items = texts.map((value) => ({
    _type: 'ELEMENT',
    name: { _type: 'DV_TEXT', value: name },
    archetype_node_id: nodeId,
    value: { _type: 'DV_TEXT', value },
  }));
  let answer = { status: 0, text: '' };
  const { mainSeconds, silenceMs } = await server.cost(async () => {
    const response = await post(`${V1}/ehr/${ehrId}/composition`, JSON.stringify(composition));
    answer = { status: response.status, text: await response.text() };
  });
  expect(mainSeconds).toBeLessThan(MAX_MAIN_SECONDS);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return answer;
}

describe('a pattern of a template', () => {
  it('is matched with texts up to a number of steps each', async () => {
    const { status, text } = await committed('at0002', Array<string>(12).fill('ab'.repeat(10_000)));
    expect(status).toBe(422);
    expect(text).toMatch(
      /steps of a regular expression .* in one value, at most 100000 .*\(MAX_PATTERN_VALUE_STEPS\)/,
    );
  });

  it('is matched in a thread when many texts together take long', async () => {
    const { status, text } = await committed('at0003', Array<string>(50).fill('ab'.repeat(100)));
    expect({ status, text }).toMatchObject({ status: 201 });
  });

  it('is matched with all texts of a COMPOSITION up to a number of steps', async () => {
    const { status, text } = await committed('at0003', Array<string>(500).fill('ab'.repeat(100)));
    expect(status).toBe(422);
    expect(text).toMatch(
      /steps of regular expressions .* in all values, at most \d+ .*\(MAX_PATTERN_STEPS\)/,
    );
  });
});
