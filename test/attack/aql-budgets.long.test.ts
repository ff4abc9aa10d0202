import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { takingNobody, watchedServerOfTest, type WatchedServer } from '../support/attack/watched-server.js';
import { useDatabase } from '../support/database.js';
import { HILLTOP } from '../support/hilltop/hilltop.js';
import { loadReferenceData } from '../support/aql/load-reference.js';
import { V1 } from '../support/resources.js';

useDatabase();
beforeAll(() => loadReferenceData(HILLTOP));

let server: WatchedServer;
beforeAll(async () => {
  server = await watchedServerOfTest();
});
afterAll(() => server.stop());

const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
const times = (count: number, each: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => each(index)).join(separator);
const nested = (open: string, middle: string, close: string, levels: number): string =>
  open.repeat(levels) + middle + close.repeat(levels);

/** Status and message of a query, which takes the server from nobody. */
async function answerOf(q: string, parameters: object = {}): Promise<{ status: number; message: string }> {
  const { status, body } = await takingNobody(server, () =>
    request(server.url).post(`${V1}/query/aql`).send({ q, query_parameters: parameters }),
  );
  return { status, message: (body as { message?: string }).message ?? '' };
}

/** Found nowhere: a product of 50 classes that are found has no end. */
const section = (i: number): string => `SECTION s${i}[openEHR-EHR-SECTION.x${i}.v1]`;

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
    query: (n) => `SELECT e/ehr_id/value FROM EHR e CONTAINS (${times(n - 1, section, ' OR ')})`,
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
    edge: 1_499,
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
    expect((await answerOf(text(2_000_000))).status).toBe(413);
  });

  it('refuses 7,000 columns by GET at once', async () => {
    const columns = times(7_000, () => 'c', ',');
    const result = await takingNobody(server, () =>
      request(server.url).get(`${V1}/query/aql?q=SELECT+${columns}+${FROM.replaceAll(' ', '+')}`),
    );
    expect(result.status).toBe(400);
    expect((result.body as { message: string }).message).toContain('at most 200 columns in SELECT');
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
    expect((await answerOf(q, list(200_000))).status).toBe(413);
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

  it('is answered in 32 orders of every direction over 49 classes, first and last rows', async () => {
    const classes = times(49, (i) => `SECTION s${i}[openEHR-EHR-SECTION.x${i}.v1]`, ' OR ');
    const orders = times(32, (i) => `s${i}/name/value ${i % 3 === 0 ? 'DESC' : 'ASC'}`);
    for (const top of ['', 'TOP 3 BACKWARD']) {
      const q = `SELECT ${top} e/ehr_id/value FROM EHR e CONTAINS (${classes} OR COMPOSITION c) ORDER BY ${orders}`;
      expect(await answerOf(q.replace('s48[openEHR-EHR-SECTION.x48.v1] OR ', ''))).toMatchObject({
        message: expect.not.stringContaining('Internal'),
      });
    }
    const q = `SELECT c/name/value AS n, COUNT(*) AS k, MAX(c/name/value) AS m ${FROM} ORDER BY ${times(32, (i) => ['n', 'k DESC', 'm'][i % 3] ?? '')}`;
    expect((await answerOf(q)).status).toBe(200);
  });

  it('keeps the order when its keys are put together', async () => {
    const rowsOf = async (orders: string): Promise<unknown> => {
      const q = `SELECT c/uid/value, c/name/value, c/context/start_time/value ${FROM} ORDER BY ${orders}`;
      const { body } = await request(server.url).post(`${V1}/query/aql`).send({ q });
      return (body as { rows?: unknown[] }).rows;
    };
    const keys = ['c/name/value DESC', 'c/context/start_time/value', 'c/uid/value DESC'];
    const few = await rowsOf(keys.join(', '));
    expect(few).toHaveLength(((await rowsOf('c/uid/value')) as unknown[]).length);
    expect(
      await rowsOf([...keys.slice(0, 2), ...Array<string>(30).fill('c/uid/value DESC')].join(', ')),
    ).toEqual(few);
    expect(await rowsOf(times(32, (i) => keys[Math.min(i, 2)] ?? ''))).toEqual(few);
  });

  const NEVER_A_DEFECT = [200, 400, 408, 413];

  it.each([100, 200])(
    'is answered or refused when each of %d paths needs a list of its own',
    async (count) => {
      const lists = times(count, (i) => `o/data[at0001]/events[at${i + 1}]/data/items[at${i}]/value/value`);
      expect(NEVER_A_DEFECT).toContain((await answerOf(`SELECT ${lists} ${WIDE}`)).status);
    },
  );

  it('is refused when its paths have too many steps together', async () => {
    const where = times(
      500,
      (i) => `c/content[at${i}]/name/value = c/content[at${i + 500}]/name/value`,
      ' OR ',
    );
    const { status, message } = await answerOf(`SELECT c/uid/value ${FROM} WHERE ${where}`);
    expect(status).toBe(400);
    expect(message).toContain('a query can have at most 2000 steps in all paths');
  });

  it.each([
    ['AND', times(49, section, ' AND ')],
    ['OR', times(49, section, ' OR ')],
    ['CONTAINS', times(49, section, ' CONTAINS ')],
    ['NOT CONTAINS', times(49, section, ' NOT CONTAINS ')],
    ['pairs of COMPOSITIONs', times(24, (i) => `(COMPOSITION a${i} AND COMPOSITION b${i})`, ' OR ')],
    ['groups in groups', nested('(SECTION OR SECTION CONTAINS ', 'SECTION', ')', 23)],
    ['FOLDERs in FOLDERs', times(49, () => 'FOLDER', ' CONTAINS ')],
  ])('is answered or refused with 50 classes joined by %s', async (_, classes) => {
    expect(NEVER_A_DEFECT).toContain(
      (await answerOf(`SELECT e/ehr_id/value FROM EHR e CONTAINS (${classes}) LIMIT 10`)).status,
    );
  });

  it('is refused when classes that may be FOLDERs stand below each other more than 6 times', async () => {
    const open = (count: number): string =>
      `SELECT e/ehr_id/value FROM EHR e CONTAINS (${times(count, () => 'LOCATABLE', ' CONTAINS ')}) LIMIT 1`;
    expect((await answerOf(open(4))).status).toBe(200);
    const { status, message } = await answerOf(open(49));
    expect(status).toBe(400);
    expect(message).toContain(
      'CONTAINS can be nested at most 6 levels deep below classes that may be a FOLDER',
    );
  });

  it('is refused when EHRs are joined too deeply', async () => {
    expect((await answerOf(`SELECT COUNT(*) FROM ${nested('(EHR AND ', 'EHR', ')', 5)}`)).status).toBe(200);
    expect((await answerOf(`SELECT COUNT(*) FROM ${nested('(EHR AND ', 'EHR', ')', 40)}`)).status).toBe(400);
  });

  it('is answered when every kind of function is nested 50 levels deep', async () => {
    const calls = [
      nested('ABS(', 'c/context/start_time/value', ')', 50),
      nested("CONCAT_WS('x', ", 'c/uid/value', ')', 50),
      nested('CONCAT(', 'c/uid/value', ", '')", 50),
      nested('SUBSTRING(', 'c/uid/value', ', 1)', 50),
      nested('ROUND(', 'LENGTH(c/uid/value)', ')', 49),
      nested('MOD(', 'LENGTH(c/uid/value)', ', 7)', 49),
    ];
    const uids = `SELECT c/uid/value, ${calls.join(', ')} ${FROM} ORDER BY ${calls[2] ?? ''} LIMIT 3`;
    const { body } = await request(server.url).post(`${V1}/query/aql`).send({ q: uids });
    for (const [uid, , joined, plain, cut] of (body as { rows: unknown[][] }).rows) {
      expect(joined).toBe(uid);
      expect(plain).toBe(uid);
      expect(cut).toBe(uid);
    }
    expect((await answerOf(uids)).status).toBe(200);
  });
});
