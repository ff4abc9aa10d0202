import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { HILLTOP } from '../support/hilltop/hilltop.js';
import { probed } from '../support/liveness-probe.js';
import { loadReferenceData } from '../support/load-reference.js';
import { V1 } from '../support/resources.js';

useDatabase();
beforeAll(() => loadReferenceData(HILLTOP));

const app = testApp();
const MAX_GAP_MS = 2_000;
const MAX_HEAP_GROWTH = 300 * 1024 * 1024;

const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
const times = (count: number, each: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => each(index)).join(separator);
const nested = (open: string, middle: string, close: string, levels: number): string =>
  open.repeat(levels) + middle + close.repeat(levels);

/** Status and message of a query, sent while the event loop is watched. */
async function answerOf(q: string, parameters: object = {}): Promise<{ status: number; message: string }> {
  const { result, largestGapMs, heapGrowthBytes } = await probed(async () => {
    const { status, body } = await request(app)
      .post(`${V1}/query/aql`)
      .send({ q, query_parameters: parameters });
    return { status, message: String((body as { message?: string }).message ?? '') };
  });
  expect(largestGapMs).toBeLessThan(MAX_GAP_MS);
  expect(heapGrowthBytes).toBeLessThan(MAX_HEAP_GROWTH);
  return result;
}

interface Budget {
  readonly what: string;
  readonly edge: number;
  readonly beyond: number;
  readonly query: (count: number) => string;
}

const BUDGETS: readonly Budget[] = [
  { what: 'columns', edge: 200, beyond: 7_000, query: (n) => `SELECT ${times(n, () => 'c')} ${FROM}` },
  {
    what: 'ORDER BY keys',
    edge: 32,
    beyond: 3_000,
    query: (n) => `SELECT c/uid/value ${FROM} ORDER BY ${times(n, () => 'c/name/value')}`,
  },
  {
    what: 'ANDed conditions',
    edge: 500,
    beyond: 3_000,
    query: (n) => `SELECT c/uid/value ${FROM} WHERE ${times(n, (i) => `c/name/value!='${i}'`, ' AND ')}`,
  },
  {
    what: 'ORed conditions',
    edge: 500,
    beyond: 3_000,
    query: (n) => `SELECT c/uid/value ${FROM} WHERE ${times(n, (i) => `c/name/value='${i}'`, ' OR ')}`,
  },
  {
    what: 'conditions in predicates',
    edge: 500,
    beyond: 3_000,
    query: (n) =>
      `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c[${times(n, (i) => `name/value='${i}'`, ' OR ')}]`,
  },
  {
    what: 'alternatives of node ids',
    edge: 501,
    beyond: 6_000,
    query: (n) => `SELECT c/content[${times(n, (i) => `at${i}`, ' OR ')}]/name/value ${FROM}`,
  },
  {
    what: 'classes',
    edge: 50,
    beyond: 3_000,
    query: (n) => `SELECT e/ehr_id/value FROM EHR e CONTAINS (${times(n - 1, () => 'SECTION', ' OR ')})`,
  },
  {
    what: 'levels of parentheses',
    edge: 50,
    beyond: 20_000,
    query: (n) => `SELECT c/uid/value ${FROM} WHERE ${nested('(', 'EXISTS c/name', ')', n)}`,
  },
  {
    what: 'levels of NOT',
    edge: 50,
    beyond: 15_000,
    query: (n) => `SELECT c/uid/value ${FROM} WHERE ${nested('NOT ', 'EXISTS c/name', '', n)}`,
  },
  {
    what: 'levels of functions',
    edge: 50,
    beyond: 8_000,
    query: (n) => `SELECT ${nested('ABS(', 'c/context/start_time/value', ')', n)} ${FROM}`,
  },
  {
    what: 'arguments that are paths',
    edge: 1_498,
    beyond: 10_000,
    query: (n) => `SELECT CONCAT(${times(n, () => 'c/uid')}) ${FROM} LIMIT 1`,
  },
  {
    what: 'values of a list',
    edge: 5_000,
    beyond: 9_000,
    query: (n) => `SELECT c/uid/value ${FROM} WHERE c/name/value MATCHES {${times(n, (i) => `'${i}'`)}}`,
  },
];

describe('the budgets of a query', () => {
  it.each(BUDGETS)('takes $edge $what', async ({ query, edge }) => {
    expect(await answerOf(query(edge))).toEqual({ status: 200, message: '' });
  });

  it.each(BUDGETS)('refuses one of $what more', async ({ query, edge }) => {
    const { status, message } = await answerOf(query(edge + 1));
    expect(status).toBe(400);
    expect(message).toMatch(/^AQL (?:syntax )?error at line 1:\d+: .*at most \d+ .*\d/);
  });

  it.each(BUDGETS)('refuses $beyond $what', async ({ query, beyond }) => {
    expect((await answerOf(query(beyond))).status).toBe(400);
  });

  it('takes 64 KiB of text and no byte more', async () => {
    const text = (bytes: number): string => {
      const bare = `SELECT c/uid/value ${FROM} WHERE c/name/value = ''`;
      return bare.replace("''", `'${'x'.repeat(bytes - bare.length)}'`);
    };
    expect((await answerOf(text(65_536))).status).toBe(200);
    const { status, message } = await answerOf(text(65_537));
    expect(status).toBe(400);
    expect(message).toContain('the query text has 65537 bytes, at most 65536 are possible');
    expect((await answerOf(text(2_000_000))).status).toBe(400);
  });

  it.each([7_000, 9_000])('refuses %d columns by GET at once', async (columns) => {
    const q = `SELECT ${times(columns, () => 'c', ',')} ${FROM}`;
    const { result, largestGapMs } = await probed(async () =>
      request(app).get(`${V1}/query/aql`).query({ q }),
    );
    expect(result.status).toBe(400);
    expect(largestGapMs).toBeLessThan(MAX_GAP_MS);
  });
});

describe('the values of a list that parameters give', () => {
  const q = `SELECT c/uid/value ${FROM} WHERE c/name/value MATCHES {$list}`;
  const list = (length: number): object => ({ list: Array.from({ length }, (_, index) => `value ${index}`) });

  it('are at most 5,000', async () => {
    expect((await answerOf(q, list(5_000))).status).toBe(200);
    const { status, message } = await answerOf(q, list(5_001));
    expect(status).toBe(400);
    expect(message).toContain('a list of MATCHES can have at most 5000 values, this one has 5001');
  });

  it('are refused by the hundred thousand', async () => {
    expect((await answerOf(q, list(200_000))).status).toBe(400);
  });

  it('count with the literals beside them', async () => {
    const mixed = q.replace('$list', "$list, 'one more'");
    expect((await answerOf(mixed, list(4_999))).status).toBe(200);
    expect((await answerOf(mixed, list(5_000))).status).toBe(400);
  });

  it('are at most 10,000 in all lists', async () => {
    const lists = (count: number): string =>
      `SELECT c/uid/value ${FROM} WHERE ${times(count, () => 'c/name/value MATCHES {$list}', ' OR ')}`;
    expect((await answerOf(lists(2), list(5_000))).status).toBe(200);
    expect((await answerOf(lists(3), list(5_000))).status).toBe(400);
    expect((await answerOf(lists(500), list(5_000))).status).toBe(400);
  });
});

describe('a query at several limits', () => {
  const conditions = (count: number): string =>
    times(count, (i) => `(c/name/value != 'n${i}' OR o/name/value LIKE '*${i}*')`, ' AND ');
  const WIDE = 'FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o';

  it('is answered when it asks for 200 objects in 32 orders with 500 conditions and a list', async () => {
    const q = `SELECT ${times(100, () => 'c, o')} ${WIDE} WHERE ${conditions(249)} AND c/name/value MATCHES {$list}
      ORDER BY ${times(32, (i) => (i % 2 === 0 ? 'c/name/value' : 'o/name/value DESC'))} LIMIT 5`;
    const values = Array.from({ length: 5_000 }, (_, index) => `${index}`);
    expect(await answerOf(q, { list: values })).toEqual({ status: 200, message: '' });
  });

  it('is answered or refused, never a defect, when each path needs a list of its own', async () => {
    const lists = (count: number): string =>
      times(count, (i) => `o/data[at0001]/events[at${i + 1}]/data/items[at${i}]/value/value`);
    for (const count of [100, 200]) {
      const { status } = await answerOf(`SELECT ${lists(count)} ${WIDE}`);
      expect([200, 400, 408, 413]).toContain(status);
    }
    const where = times(
      500,
      (i) => `c/content[at${i}]/name/value = c/content[at${i + 500}]/name/value`,
      ' OR ',
    );
    expect([200, 400, 408, 413]).toContain(
      (await answerOf(`SELECT c/uid/value ${FROM} WHERE ${where}`)).status,
    );
  });

  it('is answered or refused, never a defect, with 50 classes', async () => {
    const shapes = [
      times(49, (i) => `SECTION s${i}`, ' AND '),
      times(49, (i) => `SECTION s${i}`, ' OR '),
      times(49, (i) => `SECTION s${i}`, ' CONTAINS '),
      times(49, (i) => `OBSERVATION s${i}[openEHR-EHR-OBSERVATION.x${i}.v1]`, ' OR '),
      times(24, (i) => `(COMPOSITION a${i} AND COMPOSITION b${i})`, ' OR '),
    ];
    for (const shape of shapes) {
      const { status } = await answerOf(`SELECT e/ehr_id/value FROM EHR e CONTAINS (${shape})`);
      expect([200, 400, 408, 413]).toContain(status);
    }
    const ehrs = times(50, (i) => `EHR e${i}`, ' AND ');
    expect([200, 400, 408, 413]).toContain((await answerOf(`SELECT COUNT(*) FROM ${ehrs}`)).status);
  });
});
