import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp, testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { givenEhr, V1, type Json } from '../../support/resources.js';
import { leastMainThreadTime } from '../../support/process/processor-time.js';
import { testSettings } from '../../support/settings.js';

useDatabase();

/** A terminology server that answers nobody before it is told to, and knows what is open. */
class SlowTerminology {
  readonly asked: string[] = [];
  readonly #open = new Set<ServerResponse>();
  abandoned = 0;
  mostOpen = 0;
  readonly #server: Server = createServer((incoming, answer) => {
    this.asked.push(incoming.url ?? '');
    this.#open.add(answer);
    this.mostOpen = Math.max(this.mostOpen, this.#open.size);
    answer.on('close', () => {
      this.#open.delete(answer);
      if (!answer.writableEnded) this.abandoned += 1;
    });
  });

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/fhir`;
  }

  get open(): number {
    return this.#open.size;
  }

  answerAll(body?: string): void {
    for (const answer of this.#open) SlowTerminology.#answer(answer, 200, body);
  }

  /** Answers one of those that are open; gives how many these were. */
  answerOne(status: number): number {
    const [first] = this.#open;
    const { open } = this;
    if (first !== undefined) SlowTerminology.#answer(first, status);
    return open;
  }

  static #answer(answer: ServerResponse, status: number, body = expansionOf(1)): void {
    answer.writeHead(status, { 'Content-Type': 'application/fhir+json' }).end(body);
  }
}

/** What it answers with so many codes. */
const expansionOf = (codes: number): string =>
  JSON.stringify({
    expansion: { contains: Array.from({ length: codes }, (_, index) => ({ code: `A${index}` })) },
    parameter: [{ name: 'result', valueBoolean: true }],
  });

let terminology: SlowTerminology;
/** A server with a time-out of its own has answers of its own. */
let timeoutMs = 60_000;
beforeEach(async () => {
  terminology = new SlowTerminology();
  await terminology.start();
  timeoutMs += 1;
});
afterEach(() => {
  terminology.stop();
});

const settings = testSettings();
/** Processor time of the main thread, with what the terminology server needs to send its answer. */
const MOST_MAIN_S = 0.5;
const terminologySettings = (failOnError = false) => ({ serverUrl: terminology.url, timeoutMs, failOnError });

/** Waits for what the terminology server sees; it is part of the test that this comes to be. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(10);
}

const valueSet = (index: number): string =>
  `TERMINOLOGY('expand', 'hl7.org/fhir/4.0', 'url=http://x/${index}')`;
/** A query with so many questions, `same` of them for one value set. */
const asking = (count: number, { same = 0, first = 0 } = {}): string => {
  const conditions = Array.from({ length: count + same }, (_, index) => {
    const set = valueSet(first + Math.min(index, count - 1));
    return `c/context/setting/defining_code/code_string MATCHES { ${set} }`;
  });
  return `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE ${conditions.join(' OR ')}`;
};

describe('the questions of a query', () => {
  const ask = (q: string, overrides: Partial<typeof settings> = {}) =>
    request(testApp({ terminology: terminologySettings(), ...overrides }))
      .post(`${V1}/query/aql`)
      .send({ q })
      .then();

  it('are all open at the same time, 20 of them, and each is asked once', async () => {
    const answer = ask(asking(20, { same: 15 }));
    await until(() => terminology.open === 20);
    terminology.answerAll();
    expect((await answer).status).toBe(200);
    expect(new Set(terminology.asked).size).toBe(20);
    expect(terminology.asked).toHaveLength(20);
  });

  it('are at most 20: one more is 422, which says what to change, and nobody is asked', async () => {
    const { status, body } = await ask(asking(21));
    expect({ status, body: body as Json }).toMatchObject({
      status: 422,
      body: {
        code: 'unprocessable',
        message: expect.stringMatching(/needs 21 .* at most 20 .*TERMINOLOGY_MAX_QUESTIONS\): ask for fewer/),
      },
    });
    expect(terminology.asked).toEqual([]);
  });

  it('go to the server of the setting alone, whatever address they name', async () => {
    const inside = new SlowTerminology();
    await inside.start();
    const { host } = new URL(inside.url);
    const named = [
      ...[`url=http://${host}/ValueSet`, `//${host}/fhir/ValueSet/$expand`, `http://${host}/?url=x`],
      ...[
        `url=x&system=http://${host}`,
        `url=x\\r\\nHost: ${host}`,
        `@${host}/`,
        `../../..//${host}`,
        `#@${host}`,
      ],
    ];
    for (const [index, parameters] of named.entries()) {
      const q = `SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value MATCHES { TERMINOLOGY('expand', 'hl7.org/fhir/4.0', '${parameters}') }`;
      const answer = ask(q);
      const isDone = answer.then(() => undefined);
      await Promise.race([isDone, until(() => terminology.asked.length > index || inside.open > 0)]);
      terminology.answerAll();
      expect((await answer).status).toBeLessThan(500);
      expect(inside.asked).toEqual([]);
    }
    expect(terminology.asked.every((path) => path.startsWith('/fhir/ValueSet/$expand?'))).toBe(true);
    expect(terminology.asked.length).toBeGreaterThan(0);
    inside.stop();
  });

  it('may have 100,000 codes for an answer, which are too many for a query and take no time to speak of', async () => {
    const codes = expansionOf(100_000);
    const statuses = new Set<number>();
    let first = 0;
    const seconds = await leastMainThreadTime(async () => {
      // What was answered once is known.
      const answer = ask(asking(1, { first: (first += 1) }));
      await until(() => terminology.open === 1);
      terminology.answerAll(codes);
      statuses.add((await answer).status);
    });
    expect([...statuses]).toEqual([400]);
    expect(seconds).toBeLessThan(MOST_MAIN_S);
  });

  it('have the time of the query, and are given up with it', async () => {
    const { status } = await ask(asking(5), { aql: { ...settings.aql, timeoutMs: 3_000 } });
    expect(status).toBe(408);
    await until(() => terminology.abandoned === 5);
    expect(terminology.open).toBe(0);
  });

  it('are given up when one of them fails', async () => {
    const answer = ask(asking(3));
    await until(() => terminology.open === 3);
    // The first to be answered; the others are still open.
    const before = terminology.answerOne(500);
    expect((await answer).status).toBe(502);
    await until(() => terminology.abandoned === 2);
    expect(before).toBe(3);
  });

  it('are given up when the client leaves, and its place is free', async () => {
    const aql = { ...settings.aql, maxConcurrent: 1, maxPerUser: 1 };
    const server = await testServer({ ...settings, terminology: terminologySettings(), aql });
    try {
      const { port } = server.address() as AddressInfo;
      const post = (q: string, signal?: AbortSignal): Promise<Response> =>
        fetch(`http://127.0.0.1:${port}${V1}/query/aql`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ q }),
          ...(signal !== undefined && { signal }),
        });
      const client = new AbortController();
      const left = post(asking(4), client.signal).catch(() => 'left');
      await until(() => terminology.open === 4);
      client.abort();
      expect(await left).toBe('left');
      await until(() => terminology.abandoned === 4);
      expect((await post('SELECT e/ehr_id/value FROM EHR e LIMIT 1')).status).toBe(200);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('the questions of a commit', () => {
  const TEMPLATE = 'test_all_types.en.v1';
  let example: Json = {};
  let ehrId = '';
  beforeAll(async () => {
    const app = testApp();
    const opt = fixtureText(`opt/${TEMPLATE}.opt`).replace(
      'terminology:SNOMED-CT',
      'terminology://fhir.hl7.org/ValueSet/$expand?url=http://x/colours',
    );
    const path = `${V1}/definition/template/adl1.4`;
    await request(app).post(path).set('Content-Type', 'application/xml').send(opt);
    const made = await request(app)
      .get(`${path}/${TEMPLATE}/example?detail_level=complete&type=input`)
      .set('Accept', 'application/json');
    example = made.body as Json;
    ehrId = await givenEhr(app);
  });

  /** The answer to a COMPOSITION with a code of a value set. */
  function commit(overrides: Partial<typeof settings> = {}, failOnError = false) {
    const app = testApp({ terminology: terminologySettings(failOnError), ...overrides });
    return request(app).post(`${V1}/ehr/${ehrId}/composition`).send(example).then();
  }
  const late = { work: { ...settings.work, bodyTimeMs: 500 } };

  it.each([
    [true, 502],
    [false, 201],
  ])('end after BODY_TIMEOUT_MS, with TERMINOLOGY_FAIL_ON_ERROR=%s: %s', async (failOnError, status) => {
    const answer = await commit(late, failOnError);
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
    await until(() => terminology.abandoned > 0 && terminology.open === 0);
  });
});
