import { randomUUID } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { realComposition, templateText } from '../../../cli/demo/patient.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { dump } from '../../support/resources.js';

const V1 = '/rest/openehr/v1';
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const app = testApp({ maxBodyBytes: 1_000_000 });

useDatabase();

let ehrId = '';
let before = '';
const server = useServer(app);

beforeAll(async () => {
  await request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set('Content-Type', 'application/xml')
    .send(templateText(TEMPLATE));
  const { headers } = await request(app).post(`${V1}/ehr`);
  ehrId = headers.etag!.replaceAll('"', '');
  before = await dump();
});

const valid = (): Record<string, unknown> => realComposition(TEMPLATE);

/** A composition with one value at the end of the path put in. */
function edited(path: readonly (string | number)[], value: unknown): string {
  const composition = valid();
  let place = composition as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) place = place[step] as Record<string | number, unknown>;
  place[path.at(-1)!] = value;
  return JSON.stringify(composition);
}

const nested = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth);

const BODIES: [string, () => string, number][] = [
  ['malformed JSON', () => '{"_type": "COMPOSITION", ', 400],
  ['text instead of an object', () => '"COMPOSITION"', 400],
  ['null', () => 'null', 400],
  ['a list', () => '[]', 400],
  ['no body', () => '', 400],
  ['another RM type', () => edited(['_type'], 'FOLDER'), 400],
  ['an unknown RM type', () => edited(['content', 0, '_type'], 'OBSERVATIONS'), 400],
  ['an unknown attribute', () => edited(['content', 0, 'colour'], 'red'), 400],
  ['a number as a name', () => edited(['name', 'value'], 7), 400],
  ['an object as a text', () => edited(['name', 'value'], { $gt: '' }), 400],
  ['an operator as an attribute', () => edited(['composer', '$where'], 'sleep(1000)'), 400],
  ['an operator as archetype node id', () => edited(['archetype_node_id'], { $ne: null }), 400],
  ['a time that is none', () => edited(['context', 'start_time', 'value'], '2021-02-30T10:00:00Z'), 400],
  ['a missing composer', () => edited(['composer'], undefined), 400],
  ['__proto__', () => JSON.stringify(valid()).replace('{', '{"__proto__":{"isAdmin":true},'), 400],
  ['constructor.prototype', () => edited(['constructor'], { prototype: { isAdmin: true } }), 400],
  ['100,000-deep lists', () => nested('[', ']', 100_000), 400],
  ['100,000-deep objects', () => `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 400],
  ['a number that loses digits', () => JSON.stringify(valid()).replace('22', '9007199254740993'), 400],
  ['a number beyond all bounds', () => JSON.stringify(valid()).replace(':22', ':1e999'), 400],
  [
    'an unknown template',
    () => edited(['archetype_details', 'template_id', 'value'], 'no.such.template'),
    422,
  ],
  [
    'a node the template does not know',
    () => edited(['content', 0, 'protocol', 'items', 0, 'archetype_node_id'], 'at9999'),
    422,
  ],
  ['a unit that is not listed', () => JSON.stringify(valid()).replace('mm[Hg]', 'kPa'), 422],
];

describe('a COMPOSITION that is wrong', () => {
  it.each(BODIES)(
    'with %s is refused with the error body, and nothing is written',
    async (_, body, status) => {
      const response = await request(app)
        .post(`${V1}/ehr/${ehrId}/composition`)
        .set('Content-Type', 'application/json')
        .send(body());
      expect([response.status, response.body.error]).toEqual([
        status,
        status === 400 ? 'Bad Request' : 'Unprocessable Entity',
      ]);
      expect(response.body.message).not.toBe('');
      expect(response.text).not.toMatch(/\bat .+\.ts:|node_modules/);
      expect(await dump()).toBe(before);
    },
  );

  it('names every finding with its path, what was expected and what was found', async () => {
    const composition = valid() as { context: Record<string, unknown>; colour?: string };
    composition.colour = 'red';
    composition.context.start_time = { _type: 'DV_DATE_TIME', value: 'yesterday' };
    const { body } = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
    expect(body.validationErrors).toHaveLength(2);
    expect(body.message).toBe(body.validationErrors.join(', '));
    expect(body.validationErrors.some((text: string) => text.startsWith('/context/start_time'))).toBe(true);
  });
});

describe('requests that are wrong', () => {
  it.each([
    ['an ehr_id that is none', 'get', `/ehr/${encodeURIComponent('../../etc')}`, 400],
    ['an operator as ehr_id', 'get', '/ehr/%7B%22%24gt%22%3A%22%22%7D', 400],
    ['a NUL in an id', 'get', '/ehr/a%00b', 400],
    ['a broken percent escape', 'get', '/ehr/%E0%A4%A', 400],
    ['an unknown EHR', 'get', `/ehr/${randomUUID()}`, 404],
    ['a version number of 0', 'get', `/ehr/${randomUUID()}/composition/${randomUUID()}::local.cdr::0`, 400],
    ['an operator in a query parameter', 'get', '/ehr?subject_id[$ne]=1&subject_namespace=x', 400],
    ['a repeated parameter', 'get', '/ehr?subject_id=1&subject_id=2&subject_namespace=x', 400],
    ['AQL that does not parse', 'get', `/query/aql?q=${encodeURIComponent('SELECT FORM EHR e')}`, 400],
    ['no AQL', 'get', '/query/aql', 400],
  ] as const)('%s', async (_, method, path, status) => {
    const response = await request(app)[method](V1 + path);
    expect([response.status, typeof response.body.message]).toEqual([status, 'string']);
  });

  it('AQL errors tell line and column', async () => {
    const q = 'SELECT e/ehr_id/value\nFORM EHR e';
    const { status, body } = await request(app).post(`${V1}/query/aql`).send({ q });
    expect(status).toBe(400);
    expect(body.message).toMatch(/line 2|2:1/);
  });

  it.each([
    ['JSON', ['post', '/ehr', 'application/json'], '{"_type":"EHR_STATUS","name":{"value":"M\xfcller"}}'],
    [
      'XML that declares it',
      ['post', '/definition/template/adl1.4', 'application/xml'],
      '<?xml version="1.0" encoding="ISO-8859-1"?><template>\xfc</template>',
    ],
    [
      'AQL',
      ['put', '/definition/query/org.example::latin/1.0.0', 'text/plain'],
      "SELECT 'M\xfcller' FROM EHR e",
    ],
  ] as const)('bytes that are not UTF-8 are 400 in %s', async (_, [method, path, type], text) => {
    const { port } = new URL(server.url);
    const response = await fetch(`http://127.0.0.1:${port}${V1}${path}`, {
      method,
      headers: { 'Content-Type': type },
      body: Buffer.from(text, 'latin1'),
    });
    const { message } = (await response.json()) as { message: string };
    const offset = text.indexOf('\xfc');
    expect([response.status, message]).toEqual([
      400,
      `the body is not UTF-8 text: see the byte at offset ${offset}`,
    ]);
  });

  it.each([
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('a body in %s is read', async (coding, encode) => {
    const response = await fetch(`http://127.0.0.1:${new URL(server.url).port}${V1}/query/aql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': coding },
      body: encode('{"q":"SELECT e/ehr_id/value FROM EHR e"}'),
    });
    expect(response.status).toBe(200);
  });

  it.each([
    ['a coding that is none', 'zip', '{}', [415, 'unsupported-media-type']],
    ['two codings', 'gzip, br', '{}', [415, 'unsupported-media-type']],
    ['a coding that it does not have', 'gzip', '{}', [400, 'invalid']],
  ])('a body with %s is refused', async (_, coding, text, expected) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
    const response = await fetch(`http://127.0.0.1:${new URL(server.url).port}${V1}/query/aql`, {
      method: 'POST',
      headers,
      body: text,
    });
    const { code } = (await response.json()) as { code: string };
    expect([response.status, code]).toEqual(expected);
  });

  it('bodies over the limit are 413, also when they hide in gzip', async () => {
    const large = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set('Content-Type', 'application/json')
      .send(`"${'x'.repeat(1_000_001)}"`);
    expect([large.status, large.body.error]).toEqual([413, 'Payload Too Large']);
    expect(large.headers.connection).toBe('close');
    const { port } = new URL(server.url);
    const bomb = await fetch(`http://127.0.0.1:${port}${V1}/ehr/${ehrId}/composition`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(50_000_000, 32)),
    });
    expect(bomb.status).toBe(413);
  });

  it.each([
    ['DOCTYPE', '<!DOCTYPE template [<!ENTITY a "b">]><template>&a;</template>'],
    ['entity bomb', '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><template>&b;</template>'],
    ['two roots', '<template/><template/>'],
    ['100,000 nested elements', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`],
    ['truncated text', '<template xmlns="http://schemas.openehr.org/v1"><language>'],
    ['another namespace', '<template xmlns="urn:other"/>'],
  ])('XML with %s is 400', async (_, xml) => {
    for (const path of ['/definition/template/adl1.4', `/ehr/${ehrId}/composition`]) {
      const response = await request(app)
        .post(V1 + path)
        .set('Content-Type', 'application/xml')
        .send(xml);
      expect([path, response.status]).toEqual([path, 400]);
    }
    expect(await dump()).toBe(before);
  });

  it('leave a server that lives', async () => {
    expect((await request(app).get(`${V1}/ehr/${ehrId}`)).status).toBe(200);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });
});
