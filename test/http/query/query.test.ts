import { beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { useDatabase } from '../../support/database.js';
import { testApp } from '../../support/app.js';
import { EHR, HILLTOP, OBJECT, versionUid } from '../../support/hilltop/hilltop.js';
import { DIA, O, SYS } from '../../support/aql/cases/aql-case.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { testSettings } from '../../support/settings.js';

const V1 = '/rest/openehr/v1';
const COMPOSITIONS = 'SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c';

useDatabase();

let app: RequestListener;
beforeAll(async () => {
  await loadReferenceData(HILLTOP);
  app = testApp();
});

const get = (query: Record<string, string | string[] | number>) =>
  request(app).get(`${V1}/query/aql`).query(query);
const post = (body: object) => request(app).post(`${V1}/query/aql`).send(body);

describe('POST /query/aql', () => {
  it('answers a RESULT_SET with meta, q, columns and rows', async () => {
    const q = `SELECT c/uid/value AS uid, c FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} ORDER BY uid`;
    const { status, body, headers } = await post({ q });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['meta', 'q', 'columns', 'rows']);
    expect(body.q).toBe(q);
    expect(body.columns).toEqual([
      { name: 'uid', path: 'c/uid/value' },
      { name: '#1', path: 'c' },
    ]);
    expect(body.rows.map(([uid]: string[]) => uid)).toEqual([versionUid('C1', 1), versionUid('C2', 2)]);
    expect(body.rows[0][1]).toEqual(HILLTOP.versions.find(({ uid }) => uid === versionUid('C1', 1))?.data);
    expect(Object.keys(body.meta).sort()).toEqual([
      '_certain_until',
      '_created',
      '_executed_aql',
      '_generator',
      '_schema_version',
      '_type',
      'resultsize',
    ]);
    expect(body.meta).toMatchObject({ _type: 'RESULTSET', _schema_version: '1.0.3', resultsize: 2 });
    expect(body.meta._generator).toMatch(/^everchart\//);
    expect(headers.etag).toMatch(/^"[^"]+"$/);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('takes parameters of every JSON type', async () => {
    const q = `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $least`;
    expect((await post({ q, query_parameters: { least: 140 } })).body.rows).toEqual([[150]]);
    expect((await post({ q, query_parameters: { $least: 140.0 } })).body.rows).toEqual([[150]]);
    expect((await post({ q, query_parameters: { least: '140' } })).body.rows).toEqual([]);
  });

  it('refuses operators, objects and lists as parameters', async () => {
    const q = `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $least`;
    for (const least of [{ $gt: '' }, { $ne: null }, [140], null]) {
      const { status, body } = await post({ q, query_parameters: { least } });
      expect(status).toBe(400);
      expect(body.message).toContain('$least');
    }
  });

  it('takes an injected text as a text', async () => {
    const q = 'SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value = $name';
    const { status, body } = await post({ q, query_parameters: { name: "x' OR 1=1 --" } });
    expect(status).toBe(200);
    expect(body.rows).toEqual([]);
  });

  it('pages with fetch and offset and says so in meta', async () => {
    const first = await post({ q: COMPOSITIONS, fetch: 2 });
    const second = await post({ q: COMPOSITIONS, fetch: 2, offset: 2 });
    const third = await post({ q: COMPOSITIONS, offset: 4 });
    expect(first.body.meta).toMatchObject({ fetch: 2, offset: 0, resultsize: 2 });
    expect(second.body.meta).toMatchObject({ fetch: 2, offset: 2, resultsize: 2 });
    expect(second.body.meta._executed_aql).toMatch(/ LIMIT 2 OFFSET 2$/);
    const all = [first, second, third].flatMap(({ body }) => body.rows.flat());
    expect([...new Set(all)]).toHaveLength(5);
  });

  it.each([
    [{ fetch: 1 }, `${COMPOSITIONS} LIMIT 2`, 422],
    [{ offset: 0 }, `${COMPOSITIONS} LIMIT 2`, 422],
    [{ fetch: 1 }, 'SELECT TOP 2 c/uid/value FROM COMPOSITION c', 400],
    [{ fetch: 0 }, COMPOSITIONS, 400],
    [{ fetch: -1 }, COMPOSITIONS, 400],
    [{ offset: -1 }, COMPOSITIONS, 400],
    [{ fetch: 'x' }, COMPOSITIONS, 400],
    [{}, `${COMPOSITIONS} LIMIT 0`, 400],
    [{}, 'SELECT TOP 2 c/uid/value FROM COMPOSITION c LIMIT 2', 400],
  ])('answers paging %j of %s with %i', async (paging, q, wanted) => {
    expect((await post({ q, ...paging })).status).toBe(wanted);
  });

  it('caps rows by AQL_MAX_FETCH', async () => {
    const settings = testSettings();
    const capped = testApp({ aql: { ...settings.aql, maxFetch: 3 } });
    const send = (body: object) => request(capped).post(`${V1}/query/aql`).send(body);
    expect((await send({ q: COMPOSITIONS })).body.rows).toHaveLength(3);
    expect((await send({ q: COMPOSITIONS, fetch: 4 })).status).toBe(400);
    expect((await send({ q: `${COMPOSITIONS} LIMIT 4` })).status).toBe(400);
  });

  it.each([
    ['SELECT', '1:7'],
    ['SELECT c FORM COMPOSITION c', 'FROM'],
    ['SELECT c FROM COMPOSITION c WHERE', '1:'],
    ['SELECT x FROM COMPOSITION c', "unknown variable 'x'"],
    ['SELECT c/frob FROM COMPOSITION c', 'frob'],
    ['SELECT c FROM FROB c', 'FROB'],
  ])('refuses %s with the place', async (q, part) => {
    const { status, body } = await post({ q });
    expect(status).toBe(400);
    expect(body.error).toBe('Bad Request');
    expect(body.message).toContain(part);
  });

  it.each([
    ['{'],
    ['[]'],
    ['{"q": 1}'],
    ['{"q": ""}'],
    ['{"q":"SELECT c FROM COMPOSITION c","query_parameters":[]}'],
  ])('refuses the body %s', async (text) => {
    const response = await request(app)
      .post(`${V1}/query/aql`)
      .set('Content-Type', 'application/json')
      .send(text);
    expect(response.status).toBe(400);
  });

  it('refuses a body of another media type', async () => {
    const response = await request(app)
      .post(`${V1}/query/aql`)
      .set('Content-Type', 'application/xml')
      .send('<q/>');
    expect(response.status).toBe(415);
  });

  it('refuses an answer of another media type', async () => {
    expect((await post({ q: COMPOSITIONS }).set('Accept', 'application/xml')).status).toBe(406);
  });

  it('refuses a terminology query without a server', async () => {
    const q =
      'SELECT c FROM COMPOSITION c WHERE c/name/value MATCHES {terminology://x/ValueSet/$expand?url=a}';
    const { status, body } = await post({ q });
    expect(status).toBe(400);
    expect(body.message).toContain('terminology');
  });

  it('gives the one row of an aggregate over nothing', async () => {
    const q = "SELECT COUNT(*), MAX(c/name/value) FROM COMPOSITION c WHERE c/name/value = 'nowhere'";
    expect((await post({ q })).body.rows).toEqual([[0, null]]);
  });
});

describe('GET /query/aql', () => {
  it('answers with _href and no query string in it', async () => {
    const { status, body } = await get({ q: COMPOSITIONS });
    expect(status).toBe(200);
    expect(body.meta._href).toMatch(/\/rest\/openehr\/v1\/query\/aql$/);
    expect(body.rows).toHaveLength(5);
  });

  it('needs q', async () => {
    expect((await get({})).status).toBe(400);
  });

  it('types texts by what they are compared with', async () => {
    const q = `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $least`;
    expect((await get({ q, least: '140' })).body.rows).toEqual([[150]]);
    expect((await get({ q, query_parameters: 'least=140' })).body.rows).toEqual([[150]]);
    expect((await get({ q, $least: '140' })).body.rows).toEqual([[150]]);
  });

  it('takes repeated parameters as a list', async () => {
    const q = `SELECT ${DIA} FROM ${O} WHERE ${DIA} MATCHES {$list} ORDER BY ${DIA}`;
    expect((await get({ q, list: ['95', '88'] })).body.rows).toEqual([[88], [95]]);
  });

  it('pages', async () => {
    expect((await get({ q: COMPOSITIONS, fetch: 2, offset: 1 })).body.rows).toHaveLength(2);
    expect((await get({ q: COMPOSITIONS, fetch: '1.5' })).status).toBe(400);
  });
});

describe('ehr_id', () => {
  it('comes by parameter, body and both headers', async () => {
    const answers = [
      await get({ q: COMPOSITIONS, ehr_id: EHR.E2 }),
      await post({ q: COMPOSITIONS, ehr_id: EHR.E2 }),
      await post({ q: COMPOSITIONS }).query({ ehr_id: EHR.E2.toUpperCase() }),
      await get({ q: COMPOSITIONS }).set('openEHR-EHR-id', EHR.E2),
      await get({ q: COMPOSITIONS }).set('std-EHR-id', EHR.E2),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.rows.flat().sort()).toEqual([versionUid('C4', 1), versionUid('C5', 1)]);
    }
  });

  it('may be given twice only when it is the same', async () => {
    expect((await get({ q: COMPOSITIONS, ehr_id: EHR.E2 }).set('openEHR-EHR-id', EHR.E2)).status).toBe(200);
    expect((await get({ q: COMPOSITIONS, ehr_id: EHR.E2 }).set('openEHR-EHR-id', EHR.E1)).status).toBe(400);
  });

  it('shows an EHR that is not queryable, and 404 of an unknown one', async () => {
    expect((await get({ q: COMPOSITIONS, ehr_id: EHR.E4 })).body.rows).toEqual([[versionUid('C7', 1)]]);
    const unknown = '99999999-0000-4000-8000-000000000000';
    expect((await get({ q: COMPOSITIONS, ehr_id: unknown })).status).toBe(404);
    expect((await get({ q: COMPOSITIONS, ehr_id: 'not an id' })).status).toBe(400);
  });
});

describe('as_of', () => {
  it('runs the query on the versions extant then', async () => {
    const q = `SELECT ${SYS} FROM EHR e CONTAINS COMPOSITION c[uid/value='${OBJECT.C2}'] CONTAINS ${O}`;
    expect((await get({ q, as_of: '2021-03-04T00:00:00Z' })).body.rows).toEqual([[180]]);
    expect((await post({ q, as_of: '2021-03-06T00:00:00Z' })).body.rows).toEqual([[138]]);
    expect((await get({ q, as_of: '2021-01-04T00:00:00Z' })).body.rows).toEqual([]);
    expect((await get({ q, as_of: 'yesterday' })).status).toBe(400);
  });
});

describe('Accept: application/x-ndjson', () => {
  it('streams meta and columns, then one row a line', async () => {
    const response = await post({ q: `${COMPOSITIONS} ORDER BY uid` })
      .set('Accept', 'application/x-ndjson')
      .buffer(true)
      .parse(textParser);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = String(response.body)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatchObject({
      meta: { _type: 'RESULTSET' },
      columns: [{ name: 'uid', path: 'c/uid/value' }],
    });
    expect(lines[1]).toEqual([versionUid('C1', 1)]);
  });
});

describe('Accept: text/csv', () => {
  it('streams a header and rows', async () => {
    const q = `SELECT c/name/value AS name, ${SYS} AS "x" FROM COMPOSITION c`
      .replace('AS "x" ', 'AS x ')
      .replace('COMPOSITION c', `COMPOSITION c CONTAINS ${O}`);
    const response = await post({ q: `${q} ORDER BY x` }).set('Accept', 'text/csv');
    expect(response.status).toBe(200);
    expect(response.text).toBe('name,x\r\nVitals of H-1,120\r\nControl,138\r\nVitals of H-1,150\r\n');
  });

  it('is opened as text by a sheet where it would be a formula', async () => {
    const q = `SELECT '=HYPERLINK("http://a.example")' AS a, '@x' AS b, '-5 kg' AS c, -5 AS d, '+49' AS e FROM EHR e LIMIT 1`;
    const { text } = await post({ q }).set('Accept', 'text/csv');
    expect(text).toBe(`a,b,c,d,e\r\n"'=HYPERLINK(""http://a.example"")",'@x,'-5 kg,-5,'+49\r\n`);
  });

  it('starts with a byte order mark where CSV_BOM wants one', async () => {
    const q = "SELECT 'ä' AS a FROM EHR e LIMIT 1";
    const answerWith = async (csvBom: boolean): Promise<string> => {
      const call = request(testApp({ csvBom })).post(`${V1}/query/aql`).set('Accept', 'text/csv');
      const { body } = await call.send({ q }).responseType('blob');
      return (body as Buffer).toString('hex');
    };
    expect(await answerWith(true)).toBe(Buffer.from('\ufeffa\r\nä\r\n').toString('hex'));
    expect(await answerWith(false)).toBe(Buffer.from('a\r\nä\r\n').toString('hex'));
  });
});

describe('AQL test group 83: stored queries', () => {
  const name = 'org.example.departmentx::compositions';
  beforeAll(async () => {
    const response = await request(app)
      .put(`${V1}/definition/query/${name}/1.2.3`)
      .set('Content-Type', 'text/plain')
      .send(`SELECT c/uid/value AS uid FROM EHR e[ehr_id/value=$ehr] CONTAINS COMPOSITION c`);
    expect(response.status).toBe(200);
  });

  it('run by GET and POST, with and without version', async () => {
    for (const path of [name, `${name}/1`, `${name}/1.2.3`]) {
      const found = await request(app).get(`${V1}/query/${path}`).query({ ehr: EHR.E2 });
      expect(found.status).toBe(200);
      expect(found.body.name).toBe(`${name}/1.2.3`);
      expect(found.body.meta._href).toMatch(new RegExp(`/query/${path.replaceAll('.', '\\.')}$`));
      expect(found.body.rows).toHaveLength(2);
      const sent = await request(app)
        .post(`${V1}/query/${path}`)
        .send({ query_parameters: { ehr: EHR.E2 } });
      expect(sent.body.rows).toHaveLength(2);
      expect(sent.body.meta._href).toBeUndefined();
    }
  });

  it('need no body, but their parameters', async () => {
    const { status, body } = await request(app).post(`${V1}/query/${name}`);
    expect(status).toBe(400);
    expect(body.message).toContain('$ehr');
  });

  it('are refused at store when they are no AQL', async () => {
    const { status, body } = await request(app)
      .put(`${V1}/definition/query/org.example::broken`)
      .set('Content-Type', 'text/plain')
      .send('SELECT c FORM COMPOSITION c');
    expect(status).toBe(400);
    expect(body.message).toContain('FROM');
  });

  it('are not found when unknown', async () => {
    expect((await request(app).get(`${V1}/query/${name}/2`)).status).toBe(404);
    expect((await request(app).get(`${V1}/query/nothing`)).status).toBe(404);
  });
});

describe('AQL test group 78: meta', () => {
  const always = [
    '_certain_until',
    '_created',
    '_executed_aql',
    '_generator',
    '_schema_version',
    '_type',
    'resultsize',
  ];
  const stored = `${V1}/query/org.example::meta`;
  const keysOf = ({ body }: request.Response): string[] => Object.keys(body.meta as object).sort();
  beforeAll(() =>
    request(app)
      .put(`${V1}/definition/query/org.example::meta`)
      .set('Content-Type', 'text/plain')
      .send(COMPOSITIONS)
      .expect(200),
  );

  it('has no more than the contract when no limit applies', async () => {
    expect(keysOf(await post({ q: COMPOSITIONS }))).toEqual(always);
    expect(keysOf(await request(app).post(stored))).toEqual(always);
    const withHref = [...always, '_href'].sort();
    expect(keysOf(await get({ q: COMPOSITIONS }))).toEqual(withHref);
    expect(keysOf(await request(app).get(stored))).toEqual(withHref);
  });

  it('has fetch and offset when one does', async () => {
    const paged = [...always, 'fetch', 'offset'].sort();
    for (const answer of [
      await post({ q: COMPOSITIONS, fetch: 2 }),
      await post({ q: `${COMPOSITIONS} LIMIT 2` }),
      await request(app).post(stored).send({ fetch: 2 }),
    ]) {
      expect(keysOf(answer)).toEqual(paged);
      expect(answer.body.meta).toMatchObject({ fetch: 2, offset: 0, resultsize: 2 });
    }
    const withHref = [...paged, '_href'].sort();
    expect(keysOf(await get({ q: COMPOSITIONS, fetch: 2, offset: 1 }))).toEqual(withHref);
    expect(keysOf(await request(app).get(stored).query({ fetch: 2 }))).toEqual(withHref);
  });
});

/** The body as text: supertest buffers only types it knows. */
function textParser(response: request.Response, done: (error: Error | null, text: string) => void): void {
  let text = '';
  const stream = response as unknown as NodeJS.ReadableStream;
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  stream.on('end', () => done(null, text));
}
