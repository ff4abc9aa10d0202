import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { A, O, SYS } from '../../support/aql/cases/aql-case.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { testApp } from '../../support/app.js';
import { useOwnDatabase } from '../../support/database.js';
import { Random } from '../../support/random.js';
import { HILLTOP } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { testSettings } from '../../support/settings.js';

const V1 = '/rest/openehr/v1';
/** Every combination of three nodes of an EHR: some hundred thousand rows to sort. */
const HEAVY =
  'SELECT COUNT(*) FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b AND LOCATABLE c) WHERE CONCAT(a/name/value, b/name/value, c/name/value) = $x';

useOwnDatabase();
beforeAll(() => loadReferenceData(HILLTOP));

const { aql } = testSettings();
const post = (app: ReturnType<typeof testApp>, body: object, path = '/query/aql') =>
  request(app).post(`${V1}${path}`).send(body);

describe('guards', () => {
  it('answers 408 when a query takes too long', async () => {
    const app = testApp({ aql: { ...aql, timeoutMs: 20 } });
    const { status, body } = await post(app, { q: HEAVY, query_parameters: { x: 'a' } });
    expect(status).toBe(408);
    expect(body.error).toBe('Request Timeout');
  });

  it('answers 408 when what the database gave takes too long to evaluate', async () => {
    const { work } = testSettings();
    const unlimited = { ...work, tuples: 1e15, steps: 1e15, resultBytes: 1e15 };
    const app = testApp({ aql: { ...aql, timeoutMs: 2_000 }, work: unlimited });
    const classes = Array.from({ length: 6 }, (_, index) => `LOCATABLE l${index}`).join(' AND ');
    const q = `SELECT COUNT(DISTINCT l0), COUNT(*) FROM EHR e CONTAINS (${classes})`;
    const begun = performance.now();
    const { status, body } = await post(app, { q });
    expect({ status, message: String(body.message) }).toEqual({
      status: 408,
      message: expect.stringContaining('(AQL_TIMEOUT_MS)'),
    });
    // It was evaluated: the database gives what it needs at once.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(2_000);
    const { body: plan } = await post(app, { q }, '/query/aql/explain');
    expect(plan.in_process).toBeDefined();
    // Its thread is free again.
    expect((await post(app, { q: 'SELECT COUNT(DISTINCT c), COUNT(*) FROM COMPOSITION c' })).status).toBe(
      200,
    );
  });

  it('lets some queries wait and refuses the rest with Retry-After', async () => {
    const app = testApp({ aql: { ...aql, maxConcurrent: 1, timeoutMs: 100 } });
    const server = createServer(app).listen(0);
    try {
      const send = () =>
        request(server)
          .post(`${V1}/query/aql`)
          .send({ q: HEAVY, query_parameters: { x: 'a' } });
      const answers = await Promise.all(Array.from({ length: 24 }, () => send()));
      const refused = answers.filter(({ status }) => status === 503);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]?.headers['retry-after']).toBe('1');
      const run = answers.filter(({ status }) => status === 408 || status === 200);
      expect(run.length + refused.length).toBe(24);
      expect(run.length).toBeGreaterThanOrEqual(17);
      // Every place is free again; how long a query takes is the machine's business.
      expect((await send()).status).not.toBe(503);
    } finally {
      server.close();
    }
  });

  it('frees its place when a stream is done', async () => {
    const app = testApp({ aql: { ...aql, maxConcurrent: 1 } });
    for (let i = 0; i < 20; i++) {
      const response = await post(app, { q: 'SELECT c/uid/value FROM COMPOSITION c' }).set(
        'Accept',
        'text/csv',
      );
      expect(response.status).toBe(200);
    }
  });
});

describe('POST /query/aql/explain', () => {
  it('tells the pipeline, the index and what it examined, and no data', async () => {
    const q = `SELECT ${SYS}, c/composer/name FROM COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 145`;
    const { status, body } = await post(testApp(), { q }, '/query/aql/explain');
    expect(status).toBe(200);
    expect(body.pipeline[0].$match.latest).toBe(true);
    expect(body.collection).toBe('aql');
    // This database was not told that its documents have leaves, so no condition may rest on them.
    expect(body.passes).toEqual(['pruneFields']);
    expect(body.query.from.contains.class).toBe('COMPOSITION');
    expect(body.stages[0].index).toMatch(/keys|lv/);
    expect(body.stages[0].documents_examined).toBeGreaterThan(0);
    expect(body.hints).toBeInstanceOf(Array);
    expect(JSON.stringify(body)).not.toContain('Vera');
  });

  it('says when the server has to finish the work', async () => {
    const { body } = await post(testApp(), { q: `SELECT DISTINCT o FROM ${O}` }, '/query/aql/explain');
    expect(body.in_process).toBe('distinct');
    expect(body.hints.join()).toContain('DISTINCT');
  });

  it('refuses what the query itself would be refused for', async () => {
    expect((await post(testApp(), { q: 'SELECT' }, '/query/aql/explain')).status).toBe(400);
  });
});

describe('groups of whole objects', () => {
  it('are made from the objects with all that they hold', async () => {
    const q = `SELECT o, COUNT(*) AS n FROM VERSION v[ALL_VERSIONS] CONTAINS ${O} ORDER BY n DESC`;
    const { status, body } = await post(testApp(), { q });
    expect(status).toBe(200);
    expect(body.rows).toHaveLength(4);
    expect(body.rows[0][0]._type).toBe('OBSERVATION');
    const count = `SELECT COUNT(DISTINCT d) FROM CLUSTER d[${A.device}]`;
    expect((await post(testApp(), { q: count })).body.rows).toEqual([[2]]);
  });
});

describe('a terminology server', () => {
  const asked: string[] = [];
  let server: Server;
  let answer: { status: number; body: string };
  beforeAll(async () => {
    server = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.writeHead(answer.status, { 'Content-Type': 'application/fhir+json' }).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    asked.length = 0;
  });
  afterAll(() => {
    server.close();
  });

  const withServer = () => {
    const { port } = server.address() as AddressInfo;
    const serverUrl = `http://127.0.0.1:${port}/fhir`;
    return testApp({ terminology: { serverUrl, timeoutMs: 1000, failOnError: false } });
  };
  const problem = 'v/data[at0001]/items[at0002]/value';
  const q = `SELECT ${problem}/value FROM EVALUATION v[${A.problem}] WHERE ${problem}/defining_code MATCHES {terminology://fhir.hl7.org/ValueSet/$expand?url=http://x/vs}`;

  it('expands value sets and is asked once for the same', async () => {
    answer = {
      status: 200,
      body: JSON.stringify({ expansion: { contains: [{ code: 'A', contains: [{ code: 'Z' }] }] } }),
    };
    const app = withServer();
    const first = await post(app, { q });
    expect(first.status).toBe(200);
    expect(first.body.rows).toHaveLength(1);
    await post(app, { q });
    expect(asked).toEqual(['/fhir/ValueSet/$expand?url=http%3A%2F%2Fx%2Fvs']);
  });

  it('validates by TERMINOLOGY', async () => {
    answer = { status: 200, body: JSON.stringify({ parameter: [{ name: 'result', valueBoolean: true }] }) };
    const valid =
      "SELECT e/ehr_id/value FROM EHR e WHERE TERMINOLOGY('validate', 'hl7.org/fhir/4.0', 'url=a&code=b') = true";
    expect((await post(withServer(), { q: valid })).body.rows).toHaveLength(3);
  });

  it.each([
    ['fails', 500, '{}'],
    ['answers no JSON', 200, '<html>'],
    ['answers something else', 200, '{"resourceType":"OperationOutcome"}'],
  ])('that %s gives 502', async (what, status, body) => {
    answer = { status, body };
    const unasked = q.replace('http://x/vs', `http://x/${what.replaceAll(' ', '-')}`);
    expect((await post(withServer(), { q: unasked })).status).toBe(502);
  });

  it('that is not there gives 502', async () => {
    const app = testApp({
      terminology: { serverUrl: 'http://127.0.0.1:9/fhir', timeoutMs: 500, failOnError: false },
    });
    expect((await post(app, { q })).status).toBe(502);
  });
});

describe('mutated queries', () => {
  it('are answered or refused, never a failure of the server', async () => {
    const app = testApp();
    const server = createServer(app).listen(0);
    const seed = 20_260_105;
    const random = new Random(seed);
    const texts = aqlCases.map((each) => each.aql);
    try {
      for (let i = 0; i < 400; i++) {
        const q = mutated(random.pick(texts), random);
        const { status } = await request(server)
          .post(`${V1}/query/aql`)
          .send({ q, query_parameters: { e: 'x', p: 1, list: ['a', 2] }, fetch: 50 });
        expect({ q, seed, isFine: [200, 400, 422].includes(status), status }).toMatchObject({ isFine: true });
      }
    } finally {
      server.close();
    }
  });
});

/** A query with tokens dropped, doubled, swapped, or replaced by another word. */
function mutated(text: string, random: Random): string {
  const tokens = text.split(/(?<=[\s/[\](),'])|(?=[\s/[\](),'])/);
  for (let count = random.whole(1, 3); count > 0; count--) {
    const at = random.whole(0, tokens.length - 1);
    const other = random.whole(0, tokens.length - 1);
    switch (random.whole(0, 4)) {
      case 0:
        tokens.splice(at, 1);
        break;
      case 1:
        tokens.splice(at, 0, tokens[at] ?? '');
        break;
      case 2:
        [tokens[at], tokens[other]] = [tokens[other] ?? '', tokens[at] ?? ''];
        break;
      case 3:
        tokens[at] = random.pick([
          'NOT',
          'CONTAINS',
          'OR',
          'value',
          'LIMIT',
          "'****?*'",
          '99999999999999999999',
          '$p',
          '$$e',
          '((((((((',
          'NULL',
          'LOCATABLE',
        ]);
        break;
      default:
        tokens[at] = tokens[other] ?? '';
    }
    if (tokens.length === 0) tokens.push('');
  }
  return tokens.join('');
}
