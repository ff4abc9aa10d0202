import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import type { BudgetName } from '../../../openehr/base/errors.js';
import { createLogger } from '../../../src/logger.js';
import { createMetrics } from '../../../src/metrics.js';
import { REQUEST_BUDGETS } from '../../../src/limits.js';
import { closeEvaluators } from '../../../workers/evaluation.js';
import { closePool } from '../../../workers/large-body.js';
import { closeTranslators } from '../../../workers/translation.js';
import { handlerOf, testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';

useDatabase();
afterAll(() => Promise.all([closePool(), closeEvaluators(), closeTranslators()]));

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
});
let app: RequestListener;
const usual = testSettings();

/** A server with other limits, whose log is in `lines`. */
function given(overrides: Partial<typeof usual>): void {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const handle = handlerOf(testSettings(overrides), createLogger('info', destination));
  app = (incoming, answer) => void handle(incoming, answer);
}
const query = (q: string) => request(app).post(`${V1}/query/aql`).send({ q });
const work = { ...usual.work };
const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
const GROUPED = `SELECT c/content, COUNT(*) ${FROM}`;

/** An EHR of a server with the usual limits, which knows the template. */
async function usualEhr(): Promise<string> {
  const others = testApp();
  await givenTemplate(others);
  return givenEhr(others);
}
/** The answer to a COMPOSITION of an EHR that is there. */
async function commit(composition: object): Promise<Response> {
  const ehrId = await usualEhr();
  return request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
}
/** The answer to a query, where there is a COMPOSITION with this name. */
async function asked(q: string, name?: string): Promise<Response> {
  const composition = aComposition();
  if (name !== undefined) composition.name.value = name;
  await givenComposition(testApp(), await usualEhr(), composition);
  return query(q);
}

/** An object of so many empty attributes: with 30,000 its text is read in a thread. */
const wide = (count: number): object => ({
  ...aComposition(),
  feeder: Array<object>(count).fill({ a: 'bcd' }),
});
const times = (count: number, make: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
/** Of a long name, rows of 90 million characters. */
const LONG_NAME = 'x'.repeat(100_000);
const LONG_ROW = times(90, (index) => `CONCAT(${times(10, () => 'c/name/value')}) AS x${index}`);
const LARGE_PLAN = `SELECT c/uid/value ${FROM} WHERE ${times(
  249,
  (index) => `(c/name/value != 'n${index}' OR c/name/value LIKE '*${index}*')`,
  ' AND ',
)}`;
const LARGEST_PLAN = `SELECT ${times(
  190,
  (index) => `o/data[at0001]/events[at${index}]/data/items[at${index}]/value/value`,
)} ${FROM} CONTAINS OBSERVATION o`;

/** A request that uses up one budget of a server with these settings. */
interface Case {
  readonly status: number;
  readonly settings?: Partial<typeof usual>;
  readonly attack: () => PromiseLike<Response>;
}
const limited = (limits: Partial<typeof work>): Partial<typeof usual> => ({ work: { ...work, ...limits } });

const CASES: Readonly<Record<BudgetName, Case>> = {
  bodyBytes: {
    status: 413,
    settings: { maxQueryBytes: 200 },
    attack: () => query(`SELECT e FROM EHR e ${' '.repeat(300)}`),
  },
  bodyNodes: { status: 413, settings: { maxBodyNodes: 20 }, attack: () => commit(aComposition()) },
  bodyBytesUnderWay: {
    status: 503,
    settings: { bodyBytes: { ...usual.bodyBytes, process: 10 } },
    attack: () => query(GROUPED),
  },
  bodyHeap: {
    status: 413,
    settings: { maxBodyNodes: 10_000_000, ...limited({ bodyHeapMiB: 64 }) },
    attack: () => commit(wide(1_000_000)),
  },
  bodyTimeMs: { status: 413, settings: limited({ bodyTimeMs: 1 }), attack: () => commit(wide(30_000)) },
  objectBytes: { status: 413, settings: { maxCompositionBytes: 500 }, attack: () => commit(aComposition()) },
  steps: { status: 422, settings: limited({ steps: 5 }), attack: () => commit(aComposition()) },
  compileSteps: { status: 422, settings: limited({ compileSteps: 1_000 }), attack: () => query(LARGE_PLAN) },
  expressionNodes: {
    status: 422,
    settings: limited({ expressionNodes: 100 }),
    attack: () => query(LARGE_PLAN),
  },
  patternSteps: {
    status: 422,
    settings: limited({ patternSteps: 0 }),
    attack: () => asked(`${GROUPED} WHERE c/name/value LIKE '*'`),
  },
  valueSteps: {
    status: 422,
    settings: limited({ valueSteps: 0 }),
    attack: () => asked(`${GROUPED} WHERE c/name/value LIKE '*'`),
  },
  tuples: { status: 422, settings: limited({ tuples: 0 }), attack: () => asked(GROUPED) },
  resultBytes: { status: 422, settings: limited({ resultBytes: 100 }), attack: () => asked(GROUPED) },
  timeMs: {
    status: 408,
    settings: { aql: { ...usual.aql, timeoutMs: 1 } },
    attack: () => asked(GROUPED),
  },
  versions: { status: 422, settings: limited({ versions: 0 }), attack: () => asked(GROUPED) },
  evaluatorHeap: {
    status: 422,
    settings: limited({ evaluatorHeapMiB: 64, resultBytes: 2 ** 40 }),
    attack: () => asked(`SELECT c/content, ${LONG_ROW}, COUNT(*) ${FROM}`, LONG_NAME),
  },
  translatorHeap: {
    status: 422,
    settings: limited({ translatorHeapMiB: 16, compileSteps: work.steps }),
    attack: () => query(LARGEST_PLAN),
  },
  databaseMemory: { status: 422, attack: () => asked(`SELECT ${LONG_ROW} ${FROM}`, LONG_NAME) },
  terminologyQuestions: {
    status: 422,
    settings: {
      terminology: { ...usual.terminology, serverUrl: 'http://127.0.0.1:9' },
      ...limited({ terminologyQuestions: 0 }),
    },
    attack: () =>
      query(
        `SELECT c/uid/value ${FROM} WHERE c/name/value MATCHES TERMINOLOGY('expand', 'hl7.org/fhir/4.0', 'url=http://x')`,
      ),
  },
};

describe('a budget that is used up', () => {
  const { registry } = createMetrics({ ofProcess: false });
  afterEach(() => {
    registry.resetMetrics();
  });
  const expectCounted = async (name: BudgetName, requestId: unknown): Promise<void> => {
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const budget = expect.objectContaining({ name });
    expect(logged).toContainEqual(
      expect.objectContaining({ request_id: requestId, budget, level: expect.anything() }),
    );
    expect(await registry.metrics()).toContain(`everchart_budget_exceeded_total{budget="${name}"} 1\n`);
  };

  /** The message names a setting that moves the budget, where there is one, and ends with what the sender can do. */
  const expectToSayWhatToChange = (message: string, of: string): void => {
    const settings = [...of.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
    if (settings.length > 0) expect(settings).toContain(/[A-Z]+(?:_[A-Z]+)+/.exec(message)?.[0]);
    expect(message).toMatch(/: (send|split|shorten|ask|name|use|narrow) /);
  };

  /** One user has one thread of each kind: what still ran there would hold up what the same user asks next. */
  const expectRoom = async (): Promise<void> => {
    given({});
    expect((await commit(wide(30_000))).status).toBe(400);
    for (const q of [GROUPED, LARGE_PLAN]) expect((await query(q)).status).toBe(200);
  };

  it.each(Object.keys(REQUEST_BUDGETS) as BudgetName[])(
    'ends its request, and nothing else, and is counted and logged by its name: %s',
    async (name) => {
      const { status, settings = {}, attack } = CASES[name];
      given(settings);
      const answer = await attack();
      expect({ status: answer.status, body: answer.body as unknown }).toMatchObject({ status });
      expect(REQUEST_BUDGETS[name].status).toBe(String(status));
      expectToSayWhatToChange(String(answer.body.message), REQUEST_BUDGETS[name].of);
      await expectCounted(name, answer.headers['x-request-id']);
      await expectRoom();
    },
  );

  it.each(['XML', 'FLAT', 'STRUCTURED'])('is counted while a body is parsed and read: %s', async (form) => {
    const ehrId = await usualEhr();
    given(limited({ steps: 40 }));
    const answer = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition?templateId=minimal_evaluation.en.v1`)
      .set(
        'Content-Type',
        form === 'XML'
          ? 'application/xml'
          : `application/openehr.wt.${form === 'FLAT' ? 'flat' : 'structured'}+json`,
      )
      .send(bodyIn(form));
    expect({ status: answer.status, body: answer.body as unknown }).toMatchObject({ status: 422 });
    await expectCounted('steps', answer.headers['x-request-id']);
  });

  it.each(['application/xml', 'application/openehr.wt.flat+json', 'application/openehr.wt.structured+json'])(
    'is counted while an answer is written: %s',
    async (type) => {
      const ehrId = await usualEhr();
      const uid = await givenComposition(testApp(), ehrId);
      given(limited({ steps: 10 }));
      const answer = await request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}`).set('Accept', type);
      expect({ status: answer.status, body: answer.text }).toMatchObject({ status: 422 });
      await expectCounted('steps', answer.headers['x-request-id']);
    },
  );

  it.each([
    ['application/x-ndjson', 'identity'],
    ['application/x-ndjson', 'gzip'],
    ['text/csv', 'identity'],
    // Small enough to wait in the compressed stream.
    ['text/csv', 'gzip'],
  ])('is counted in the middle of an answer that has begun: %s, %s', async (accept, encoding) => {
    const ehrId = await usualEhr();
    for (let index = 0; index < 4; index += 1) {
      const composition = aComposition();
      composition.content[0].name.value = `${index}${LONG_NAME}`;
      await givenComposition(testApp(), ehrId, composition);
    }
    given(limited({ tuples: 2 }));
    const headers = { Accept: accept, 'Accept-Encoding': encoding };
    expect(await isWhole(`SELECT DISTINCT c/content ${FROM}`, headers)).toBe(false);
    await expectCounted('tuples', expect.any(String));
  });
});

/** A COMPOSITION of a hundred values, in a form. */
function bodyIn(form: string): string {
  if (form === 'XML')
    return `<composition xmlns="http://schemas.openehr.org/v1">${'<links/>'.repeat(100)}</composition>`;
  const keys = Array.from({ length: 100 }, (_, index) => `minimal/x:${index}`);
  if (form === 'FLAT') return JSON.stringify(Object.fromEntries(keys.map((key) => [`${key}|value`, 'y'])));
  return JSON.stringify({ minimal: { x: keys.map(() => ({ '|value': 'y' })) } });
}

/** Asks for an answer as a stream: whether it came to its end. The connection may end before the first of it was sent. */
async function isWhole(q: string, headers: Record<string, string>): Promise<boolean> {
  const server = createServer(app).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${V1}/query/aql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ q }),
    });
    await answer.text();
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
