import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MAX_RESULT_LENGTH } from '../../routes/query/query-answer.js';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { fixtureText } from '../support/fixture.js';
import { element, evaluation, multiple, node, template } from '../support/openehr/opt-builder.js';
import { LARGE_TEMPLATE, largeComposition } from '../support/large-bodies.js';
import { V1, type Json } from '../support/resources.js';

/** What was sent as one request of many nodes is read again and again: writing it in another form is work of a thread alone. */
const NODES = 240_000;
/** Seconds of the main thread: what the texts themselves need to come from the database and to go out. */
const MOST_S = 0.1;
const JSON_TYPE = 'application/json';
let server: WatchedServer;
let ehrId = '';
let versionUid = '';
let contribution = '';

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly text: string;
}

async function send(method: string, path: string, headers: Record<string, string>, body?: string) {
  const answer = await fetch(`${server.url}${V1}/${path}`, { method, headers, ...(body && { body }) });
  const etag = (answer.headers.get('ETag') ?? '').replaceAll('"', '');
  return { status: answer.status, etag, text: await answer.text() };
}

/** The answer to a read, which costs the others nothing to speak of. */
async function read(path: string, type: string, prefer = 'return=representation'): Promise<string> {
  let answer: Answer = { status: 0, etag: '', text: '' };
  const { mainSeconds, silenceMs } = await server.cost(async () => {
    answer = await send('GET', `ehr/${ehrId}/${path}`, { Accept: type, Prefer: prefer });
  });
  expect({ status: answer.status, text: answer.text.slice(0, 300) }).toMatchObject({ status: 200 });
  expect(mainSeconds).toBeLessThan(MOST_S);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return answer.text;
}

beforeAll(async () => {
  server = await watchedServer({ MAX_WORK_STEPS: '20000000' });
  const opt = fixtureText(`opt/${LARGE_TEMPLATE}.opt`);
  await send('POST', 'definition/template/adl1.4', { 'Content-Type': 'application/xml' }, opt);
  ehrId = (await send('POST', 'ehr', {})).etag;
  const made = await send(
    'POST',
    `ehr/${ehrId}/composition`,
    { 'Content-Type': JSON_TYPE },
    JSON.stringify(largeComposition(NODES)),
  );
  expect({ status: made.status, text: made.text.slice(0, 300) }).toMatchObject({ status: 201 });
  versionUid = made.etag;
  const version = await send(
    'GET',
    `ehr/${ehrId}/versioned_composition/${versionUid.split('::')[0]!}/version`,
    {
      Accept: JSON_TYPE,
    },
  );
  contribution = String((JSON.parse(version.text) as Json).contribution.id.value);
}, 240_000);
afterAll(() => server.stop());

it.each([
  [JSON_TYPE, '{"_type":"COMPOSITION"'],
  ['application/xml', '<?xml'],
  ['application/openehr.wt.flat+json', '{"'],
  ['application/openehr.wt.structured+json', '{"'],
])(
  'a COMPOSITION of many nodes is read as %s',
  async (type, begin) => {
    const text = await read(`composition/${versionUid}`, type);
    expect(text.slice(0, begin.length)).toBe(begin);
    expect(text.length).toBeGreaterThan(1_000_000);
  },
  240_000,
);

it.each([JSON_TYPE, 'application/xml'])(
  'its VERSION, and its CONTRIBUTION with it, are read as %s',
  async (type) => {
    const version = await read(
      `versioned_composition/${versionUid.split('::')[0]!}/version/${versionUid}`,
      type,
    );
    const whole = await read(`contribution/${contribution}`, type, 'return=representation, resolve_refs');
    for (const text of [version, whole]) expect(text.length).toBeGreaterThan(4_000_000);
  },
  240_000,
);

it('rows as large as one answer may be hold nobody up for long, and larger ones are refused', async () => {
  const one = await read(`composition/${versionUid}`, JSON_TYPE);
  const fits = Math.floor(MAX_RESULT_LENGTH / (one.length + 200));
  const ask = async (columns: number): Promise<Answer> => {
    const list = Array.from({ length: columns }, (_, index) => `c AS c${index}`).join(', ');
    const q = `SELECT ${list} FROM EHR e[ehr_id/value='${ehrId}'] CONTAINS COMPOSITION c`;
    return send('POST', 'query/aql', { 'Content-Type': JSON_TYPE }, JSON.stringify({ q }));
  };
  let answer: Answer = { status: 0, etag: '', text: '' };
  const { silenceMs, waitedSeconds } = await server.cost(async () => {
    answer = await ask(fits);
  });
  expect({ status: answer.status, text: answer.text.slice(0, 300) }).toMatchObject({ status: 200 });
  expect(answer.text.length).toBeGreaterThan(MAX_RESULT_LENGTH / 2);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  expect(waitedSeconds).toBeLessThan(MAX_MAIN_SECONDS);
  expect((JSON.parse(answer.text) as Json).rows[0]).toHaveLength(fits);
  // As many columns as there may be: one row is longer than any text can be.
  for (const columns of [2 * fits, 200]) {
    const larger = await ask(columns);
    expect({ columns, status: larger.status, text: larger.text.slice(0, 300) }).toEqual({
      columns,
      status: 422,
      text: expect.stringContaining('too large for one answer'),
    });
  }
}, 240_000);

/** A group and 49 references to it: each part of an example may be any of them, of which FLAT finds the closest. */
const twins = (): string => {
  const inside = multiple('items', element('at0002', node('DV_TEXT'), '1..*').repeat(99));
  const target = '<target_path>/data[at0001]/items[at0003]</target_path>';
  const reference = node('CLUSTER', { xsiType: 'ARCHETYPE_INTERNAL_REF', inside: target, id: 'at0004' });
  const items = node('CLUSTER', { id: 'at0003', inside }) + reference.repeat(49);
  return template(evaluation(items, { at0002: 'Item', at0003: 'Group', at0004: 'Same' }), { id: 'twins' });
};

it.each([
  [JSON_TYPE, 200],
  ['application/xml', 200],
  ['application/openehr.wt.flat+json', 422],
  ['application/openehr.wt.structured+json', 422],
])(
  'the example of a template whose parts are alike is %s: %i',
  async (type, status) => {
    const path = 'definition/template/adl1.4';
    const sent = await send('POST', path, { 'Content-Type': 'application/xml' }, twins());
    expect([201, 409]).toContain(sent.status);
    let answer: Answer = { status: 0, etag: '', text: '' };
    const { mainSeconds, silenceMs } = await server.cost(async () => {
      answer = await send('GET', `${path}/twins/example?detail_level=complete`, { Accept: type });
    });
    expect({ status: answer.status, text: answer.text.slice(0, 300) }).toMatchObject({ status });
    if (status === 422) expect(answer.text).toContain('MAX_WORK_STEPS');
    expect(mainSeconds).toBeLessThan(MOST_S);
    expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  },
  240_000,
);
