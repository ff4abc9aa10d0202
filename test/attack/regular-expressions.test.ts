import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../support/app.js';
import { takingNobody, watchedServerOfTest, type WatchedServer } from '../support/attack/watched-server.js';
import { useDatabase } from '../support/database.js';
import { element, evaluation, node, primitive, template } from '../support/openehr/opt-builder.js';
import { fixtureText } from '../support/fixture.js';
import { givenEhr, V1, type Json } from '../support/resources.js';
import { readdirSync } from 'node:fs';

useDatabase();

const app = testApp();
const TEMPLATES = `${V1}/definition/template/adl1.4`;
let server: WatchedServer;
beforeAll(async () => {
  server = await watchedServerOfTest();
});
afterAll(() => server.stop());

/** Doubles its work with each letter in an engine that goes back. */
const EVIL = '(a|a)+b';

async function upload(opt: string): Promise<{ status: number; message: string }> {
  const result = await takingNobody(server, () =>
    request(server.url)
      .post(TEMPLATES)
      .set('Content-Type', 'application/xml')
      .set('Prefer', 'return=minimal')
      .send(opt),
  );
  return { status: result.status, message: (result.body as { message?: string }).message ?? '' };
}

const textItem = (pattern: string): string =>
  element(
    'at0002',
    node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_STRING', `<pattern>${pattern}</pattern>`) }),
  );
const withPattern = (pattern: string, id: string): string =>
  template(evaluation(textItem(pattern), { at0002: 'Item' }), { id });
const withSlot = (pattern: string, id: string): string => {
  const include = `<includes><string_expression>archetype_id/value matches {/${pattern}/}</string_expression></includes>`;
  const slot = node('CLUSTER', {
    id: 'at0003',
    xsiType: 'ARCHETYPE_SLOT',
    inside: include,
    occurrences: '0..*',
  });
  return template(evaluation(slot, { at0003: 'Slot' }), { id });
};

const REFUSED: readonly (readonly [string, string])[] = [
  ['(?=x)x', 'look-ahead'],
  ['(?!x)x', 'look-ahead'],
  ['(?&lt;=x)x', 'look-behind'],
  ['(x)\\1', 'a back reference'],
  ['(?&lt;n>x)\\k&lt;n>', 'a back reference'],
  ['x++', 'a possessive quantifier'],
  ['(?>x)', 'an atomic group'],
  ['(', 'missing closing'],
  ['x{9999}', 'invalid repeat count'],
  ['(x{1000}){1000}', 'invalid repeat count'],
];

/** An example of the template whose first DV_TEXT below an ELEMENT is this text. */
async function commit(templateId: string, ehrId: string, text: string): Promise<number> {
  const { body } = await request(app)
    .get(`${TEMPLATES}/${templateId}/example`)
    .query({ detail_level: 'complete' });
  const composition = JSON.parse(JSON.stringify(body)) as Json;
  composition['content'][0].data.items[0].value.value = text;
  const result = await takingNobody(server, () =>
    request(server.url)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set('Prefer', 'return=minimal')
      .send(composition),
  );
  return result.status;
}

describe('the pattern of a C_STRING', () => {
  it('is matched in linear time', async () => {
    expect((await upload(withPattern(EVIL, 'evil'))).status).toBe(201);
    const ehrId = await givenEhr(app);
    expect(await commit('evil', ehrId, `${'a'.repeat(26)}b`)).toBe(201);
    for (const letters of [26, 60, 100_000])
      expect(await commit('evil', ehrId, `${'a'.repeat(letters)}!`)).toBe(422);
  });

  it.each(REFUSED)('%s is refused with the template', async (pattern, reason) => {
    const { status, message } = await upload(withPattern(pattern, 'refused'));
    expect(status).toBe(400);
    expect(message).toContain('Invalid template: the pattern ');
    expect(message).toContain(reason);
  });

  it('is refused when too much is to be compiled', async () => {
    const many = Array.from({ length: 200 }, (_, index) => textItem(`x{900}${index}`)).join('');
    const { status, message } = await upload(template(evaluation(many, { at0002: 'Item' })));
    expect(status).toBe(400);
    expect(message).toContain('more than 100000 instructions');
  });
});

describe('the pattern of a slot', () => {
  it('is matched in linear time', async () => {
    const id = 'openEHR-EHR-CLUSTER[.](a|a)+b';
    expect((await upload(withSlot(id, 'evil-slot'))).status).toBe(201);
    const ehrId = await givenEhr(app);
    const { body } = await request(app)
      .get(`${TEMPLATES}/evil-slot/example`)
      .query({ detail_level: 'complete' });
    const composition = JSON.parse(JSON.stringify(body)) as Json;
    const archetypeId = `openEHR-EHR-CLUSTER.${'a'.repeat(200)}.v1`;
    composition['content'][0].data.items = [
      {
        _type: 'CLUSTER',
        name: { _type: 'DV_TEXT', value: 'Slot' },
        archetype_node_id: archetypeId,
        archetype_details: { _type: 'ARCHETYPED', archetype_id: { value: archetypeId }, rm_version: '1.0.4' },
        items: [
          {
            _type: 'ELEMENT',
            name: { _type: 'DV_TEXT', value: 'Item' },
            archetype_node_id: 'at0001',
            value: { _type: 'DV_TEXT', value: 'x' },
          },
        ],
      },
    ];
    const result = await takingNobody(server, () =>
      request(server.url).post(`${V1}/ehr/${ehrId}/composition`).send(composition),
    );
    expect(result.status).toBe(422);
  });

  it.each(REFUSED)('%s is refused with the template', async (pattern, reason) => {
    const { status, message } = await upload(withSlot(pattern, 'refused-slot'));
    expect(status).toBe(400);
    expect(message).toContain(reason);
  });

  it('is found in linear time', async () => {
    const opt = withSlot('x', 'long-slot').replace('{/x/}', '{/'.repeat(1_000_000));
    expect((await upload(opt)).status).toBe(201);
  });
});

describe('the templates of the fixtures', () => {
  const names = readdirSync(new URL('../fixtures/openehr/opt/', import.meta.url)).filter((name) =>
    name.endsWith('.opt'),
  );
  it.each(names)('%s has patterns that can be used', async (name) => {
    const { status, message } = await upload(fixtureText(`opt/${name}`));
    expect({ status, message }).toEqual({ status: 201, message: '' });
  });
});

describe('a pattern in AQL', () => {
  const evaluated = (pattern: string): string =>
    `SELECT c/content, o/data/items[name/value matches {/${pattern}/}]/value/value, COUNT(c/uid/value)
     FROM EHR e CONTAINS COMPOSITION c CONTAINS EVALUATION o`;
  const piped = (pattern: string): string =>
    `SELECT o/data/items[name/value matches {/${pattern}/}]/value/value FROM EHR e CONTAINS EVALUATION o`;
  const query = async (q: string): Promise<{ status: number; message: string; rows: unknown[] }> => {
    const result = await takingNobody(server, () => request(server.url).post(`${V1}/query/aql`).send({ q }));
    const { message = '', rows = [] } = result.body as { message?: string; rows?: unknown[] };
    return { status: result.status, message, rows };
  };

  beforeAll(async () => {
    const open = template(evaluation(element('at0002', node('DV_TEXT')), { at0002: 'Item' }), { id: 'open' });
    expect((await upload(open)).status).toBe(201);
    const ehrId = await givenEhr(app);
    const { body } = await request(app).get(`${TEMPLATES}/open/example`).query({ detail_level: 'complete' });
    const composition = JSON.parse(JSON.stringify(body)) as Json;
    composition['content'][0].data.items[0].name.value = `${'a'.repeat(28)}!`;
    const { status } = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
    expect(status).toBe(201);
  });

  it('is matched in linear time by the evaluator', async () => {
    expect((await query(evaluated(EVIL))).status).toBe(200);
  });

  it('is matched or refused by the database', async () => {
    expect([200, 400]).toContain((await query(piped(EVIL))).status);
  });

  it.each(REFUSED)('%s is refused whoever would match it', async (written, reason) => {
    const pattern = written.replaceAll('&lt;', '<');
    for (const q of [evaluated(pattern), piped(pattern)]) {
      const { status, message } = await query(q);
      expect(status).toBe(400);
      expect(message).toMatch(/^AQL error at line 1:\d+: invalid regular expression \//);
      expect(message).toContain(reason);
    }
  });

  it('is refused when it is too long', async () => {
    expect((await query(piped('x'.repeat(10_001)))).message).toContain('at most 10000 are possible');
    expect((await query(piped('x'.repeat(6_000)))).message).toContain('at most 5000 are possible');
    expect((await query(piped('x'.repeat(4_000)))).status).toBe(200);
  });

  it('matches the whole value, in both ways', async () => {
    for (const q of [piped('a+'), piped('a+!$\\n?'), piped('^a{28}!$')]) {
      const expected = q.includes('!') ? 1 : 0;
      const found = (await query(q)).rows.filter((row) => (row as unknown[])[0] !== null);
      expect(found).toHaveLength(expected);
    }
  });
});
