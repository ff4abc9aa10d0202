import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import type { Settings } from '../../../config/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { givenEhr, V1 } from '../../support/resources.js';

const VALUE_SET = 'http://example.org/fhir/ValueSet/colours';
const TEMPLATE = 'test_all_types.en.v1';

useDatabase();

let server: Server;
let serverUrl = '';
let questions: URL[] = [];
let answer = { status: 200, result: true };
let example: object = {};
let ehrId = '';

const appWith = (terminology: Partial<Settings['terminology']>) =>
  testApp({ terminology: { serverUrl, timeoutMs: 1000, failOnError: false, ...terminology } });

beforeAll(async () => {
  server = createServer((incoming, response) => {
    questions.push(new URL(incoming.url!, serverUrl));
    const parameters = {
      resourceType: 'Parameters',
      parameter: [{ name: 'result', valueBoolean: answer.result }],
    };
    response
      .writeHead(answer.status, { 'Content-Type': 'application/fhir+json' })
      .end(JSON.stringify(parameters));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fhir`;
  const opt = fixtureText(`opt/${TEMPLATE}.opt`).replace(
    'terminology:SNOMED-CT',
    `terminology://fhir.hl7.org/ValueSet/$expand?url=${VALUE_SET}`,
  );
  const app = appWith({});
  await request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set('Content-Type', 'application/xml')
    .send(opt);
  const path = `${V1}/definition/template/adl1.4/${TEMPLATE}/example?detail_level=complete&type=input`;
  const { body } = await request(app).get(path).set('Accept', 'application/json');
  example = body as object;
  ehrId = await givenEhr(app);
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Answers are kept: each case has a time-out of its own, and so a cache of its own. */
let timeoutMs = 1000;
beforeEach(() => {
  questions = [];
  timeoutMs += 1;
});

const commit = (terminology: Partial<Settings['terminology']>) =>
  request(appWith({ timeoutMs, ...terminology }))
    .post(`${V1}/ehr/${ehrId}/composition`)
    .send(example);

describe('codes that a template binds to an external value set', () => {
  it('are validated by the terminology server', async () => {
    answer = { status: 200, result: true };
    expect((await commit({})).status).toBe(201);
    expect(questions[0]!.pathname).toBe('/fhir/ValueSet/$validate-code');
    expect(questions[0]!.searchParams.get('url')).toBe(VALUE_SET);
    expect(questions[0]!.searchParams.get('code')).not.toBe('');
  });

  it('are refused with 422 when they are not in the value set', async () => {
    answer = { status: 200, result: false };
    const response = await commit({});
    expect([response.status, response.body.validationErrors]).toEqual([
      422,
      [
        expect.stringMatching(
          /^\/content\[\d\].*: Invalid terminology: .* is not in the value set http:\/\/example\.org/,
        ),
      ],
    ]);
  });

  it('pass unchecked without a server, and with one that fails', async () => {
    expect((await commit({ serverUrl: null })).status).toBe(201);
    expect(questions).toEqual([]);
    answer = { status: 500, result: true };
    expect((await commit({})).status).toBe(201);
  });

  it('are 502 when the server fails and that must not pass', async () => {
    answer = { status: 500, result: true };
    expect((await commit({ failOnError: true })).status).toBe(502);
  });
});
