import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { element, evaluation, node, primitive, template } from '../support/openehr/opt-builder.js';
import { givenEhr, V1, type Json } from '../support/resources.js';

/** Where a text is matched follows the size of the pattern times the length of the text, and not the size of the body. */
useDatabase();

let started = 0;
const onThread = (): void => {
  started += 1;
};
beforeEach(() => {
  started = 0;
  subscribe('worker_threads', onThread);
});
afterEach(() => {
  unsubscribe('worker_threads', onThread);
});

/** A COMPOSITION whose texts are matched with a pattern of so many instructions, for a template that is stored. */
async function matched(
  app: ReturnType<typeof testApp>,
  id: string,
  pattern: string,
  texts: readonly string[],
) {
  const text = node('DV_TEXT', {
    inside: primitive('value', 'STRING', 'C_STRING', `<pattern>${pattern}</pattern>`),
  });
  for (const [name, value] of [
    [id, text],
    [`${id}-free`, node('DV_TEXT')],
  ] as const) {
    const opt = template(evaluation(element('at0002', value, '0..*'), { at0002: 'Item' }), { id: name });
    await request(app).post(`${V1}/definition/template/adl1.4`).type('application/xml').send(opt).expect(201);
  }
  const example = `${V1}/definition/template/adl1.4/${id}-free/example?detail_level=complete`;
  const { body } = await request(app).get(example).accept('application/json').expect(200);
  const composition = body as Json;
  composition.archetype_details.template_id.value = id;
  composition.content[0].data.items = texts.map((value) => ({
    _type: 'ELEMENT',
    name: { _type: 'DV_TEXT', value: 'Item' },
    archetype_node_id: 'at0002',
    value: { _type: 'DV_TEXT', value },
  }));
  return composition;
}

it.each([
  { where: 'here', what: 'a short pattern and short texts', pattern: '[ab]+', texts: 20, threads: 0 },
  { where: 'here', what: 'a long pattern and a short text', pattern: '[ab]{1,200}', texts: 1, threads: 0 },
  {
    where: 'in a thread',
    what: 'a long pattern and many texts',
    pattern: '[ab]{1,200}',
    texts: 50,
    threads: 1,
  },
])('matches $where $what', async ({ what, pattern, texts: count, threads }) => {
  const app = testApp();
  const texts = Array<string>(count).fill('ab'.repeat(100));
  const composition = await matched(app, what.replaceAll(' ', '-'), pattern, texts);
  const ehrId = await givenEhr(app);
  started = 0;
  await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition).expect(201);
  expect(started).toBe(threads);
});
