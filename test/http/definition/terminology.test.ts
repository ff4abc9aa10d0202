import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';

useDatabase();
let server: Server;
let serverUrl = '';
const asked: string[] = [];

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    asked.push(decodeURIComponent(url));
    const inner = { code: '2', display: 'Inner', system: 'http://s' };
    const contains = [
      { code: '1', display: 'Outer', system: 'http://s', contains: [inner] },
      { code: 'group', abstract: true },
      { code: '3' },
    ];
    response.setHeader('Content-Type', 'application/fhir+json');
    response.end(
      JSON.stringify(url.includes('nonsense') ? { no: 'expansion' } : { expansion: { contains } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

const search = (body: object, url: string | null = serverUrl) =>
  request(testApp({ terminology: { serverUrl: url, timeoutMs: 5_000, failOnError: false } }))
    .post('/rest/terminology')
    .send(body);

describe('the search of a value set', () => {
  it('gives its concepts, inner ones too, as the terminology server finds them', async () => {
    const { body } = await search({ value_set: 'http://vs', filter: ' out er ' }).expect(200);
    expect(body).toEqual({
      concepts: [
        { code: '1', display: 'Outer', system: 'http://s' },
        { code: '3', display: '', system: '' },
        { code: '2', display: 'Inner', system: 'http://s' },
      ],
    });
    expect(asked.at(-1)).toBe('/ValueSet/$expand?url=http://vs&count=50&filter=out+er');
  });

  it('says what is missing', async () => {
    await search({ filter: 'x' }).expect(400);
    await search({ value_set: 'v', filter: 'x'.repeat(201) }).expect(400);
    await search({ value_set: 'v', Filter: 'x' }).expect(400);
    await search({ value_set: 'v' }, null).expect(404);
    await search({ value_set: 'nonsense' }).expect(502);
    await search({ value_set: 'v' }, 'http://127.0.0.1:1').expect(502);
  });
});
