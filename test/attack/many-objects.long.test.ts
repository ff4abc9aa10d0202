import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { slowness } from '../support/process/processor-time.js';
import { element, evaluation, node, template } from '../support/openehr/opt-builder.js';
import { fixtureText } from '../support/fixture.js';
import { aComposition, V1, type Json } from '../support/resources.js';

/** Comparing as many objects as this is work of a thread alone. */
const COMPOSITIONS = 10;
const ELEMENTS = 2_000;
const OBJECTS = COMPOSITIONS * ELEMENTS;
/** VERSIONs of a CONTRIBUTION. */
const AT_ONCE = 250;
/** With the EHR_STATUS nearly as many VERSIONs as such a query may load. */
const DOCUMENTS = 20_000 - AT_ONCE;
/** Longest that liveness waits, in seconds of the processor time of the main thread; on a slower machine as many times more. */
const MOST_WAITED_S = 0.1;
/** What a query costs shows each time, a pause of the collector or of the machine not: of so many tries the best counts. */
const TRIES = 3;
let server: WatchedServer;

async function post(path: string, body: string, type = 'application/json'): Promise<Response> {
  const headers = { 'Content-Type': type, Prefer: 'return=minimal' };
  return fetch(`${server.url}${V1}/${path}`, { method: 'POST', headers, body });
}

beforeAll(async () => {
  server = await watchedServer({ AQL_TIMEOUT_MS: '240000' });
  const opt = template(evaluation(element('at0002', node('DV_TEXT'), '0..*'), { at0002: 'Item' }));
  expect((await post('definition/template/adl1.4', opt, 'application/xml')).status).toBe(201);
  const made = await fetch(
    `${server.url}${V1}/definition/template/adl1.4/test/example?detail_level=complete`,
    {
      headers: { Accept: 'application/json' },
    },
  );
  const example = (await made.json()) as Json;
  const ehrId = ((await post('ehr', '')).headers.get('ETag') ?? '').replaceAll('"', '');
  for (let index = 0; index < COMPOSITIONS; index += 1) {
    example.content[0].data.items = Array.from({ length: ELEMENTS }, (_, item) => ({
      _type: 'ELEMENT',
      name: { _type: 'DV_TEXT', value: 'Item' },
      archetype_node_id: 'at0002',
      value: { _type: 'DV_TEXT', value: `${index} ${item}` },
    }));
    expect((await post(`ehr/${ehrId}/composition`, JSON.stringify(example))).status).toBe(201);
  }
}, 240_000);
afterAll(() => server.stop());

const beyond = (what: string, found: number, most: number): string[] =>
  found < most ? [] : [`${what} ${found}, at most ${most}`];

/** Rows and last value of the first one, which a query gives; it takes the server from nobody. */
async function expectCheap(q: string, rows: number, last: number): Promise<void> {
  let body: Json = {};
  const excesses: string[][] = [];
  do {
    const { mainSeconds, silenceMs, waitedSeconds } = await server.cost(async () => {
      body = (await (await post('query/aql', JSON.stringify({ q }))).json()) as Json;
    });
    expect(body).toMatchObject({ rows: expect.anything() });
    expect(body.rows).toHaveLength(rows);
    expect((body.rows as unknown[][])[0]?.at(-1)).toBe(last);
    excesses.push([
      ...beyond('main thread', mainSeconds, MAX_MAIN_SECONDS),
      ...beyond('silence', silenceMs, server.maxSilenceMs),
      ...beyond('waited', waitedSeconds, MOST_WAITED_S * Math.max(1, slowness())),
    ]);
  } while (excesses.at(-1)?.length !== 0 && excesses.length < TRIES);
  expect({ excesses, best: excesses.at(-1) }).toEqual({ excesses, best: [] });
}

it.each([
  ['COUNT(DISTINCT m)', 1, OBJECTS],
  ['m/value, COUNT(*)', OBJECTS, 1],
])(
  `SELECT %s of ${OBJECTS} objects takes the server from nobody`,
  (select, rows, last) => expectCheap(`SELECT ${select} FROM EHR e CONTAINS ELEMENT m`, rows, last),
  240_000,
);

it(`SELECT COUNT(DISTINCT c/content) of ${DOCUMENTS} COMPOSITIONs takes the server from nobody`, async () => {
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  expect((await post('definition/template/adl1.4', opt, 'application/xml')).status).toBe(201);
  const ehrId = ((await post('ehr', '')).headers.get('ETag') ?? '').replaceAll('"', '');
  const contribution = JSON.stringify({ versions: Array<object>(AT_ONCE).fill(creationOf(aComposition())) });
  for (let count = 0; count < DOCUMENTS; count += AT_ONCE)
    expect((await post(`ehr/${ehrId}/contribution`, contribution)).status).toBe(201);
  await expectCheap(
    `SELECT COUNT(DISTINCT c/content), COUNT(*) FROM EHR e[ehr_id/value='${ehrId}'] CONTAINS COMPOSITION c`,
    1,
    DOCUMENTS,
  );
}, 900_000);

function creationOf(data: object): object {
  const defining_code = { terminology_id: { value: 'openehr' }, code_string: '249' };
  const change_type = { value: 'creation', defining_code };
  const committer = { _type: 'PARTY_IDENTIFIED', name: 'Ada Moe' };
  return { _type: 'ORIGINAL_VERSION', commit_audit: { change_type, committer }, data };
}
