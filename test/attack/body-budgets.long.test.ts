import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { DEFAULT_MAX_NODES } from '../../openehr/base/errors.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import { writeFlat } from '../../openehr/format/flat/write.js';
import { flatToStructured } from '../../openehr/format/composition/structured.js';
import { closePool } from '../../workers/large-body.js';
import { testApp } from '../support/app.js';
import { recordIds } from '../support/attack/record-ids.js';
import { takingNobody, watchedServerOfTest, type WatchedServer } from '../support/attack/watched-server.js';
import { useDatabase } from '../support/database.js';
import { LARGE_TEMPLATE, arraysOf, largeComposition, unknownMembers } from '../support/large-bodies.js';
import {
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
  type Json,
} from '../support/resources.js';
import { publicTemplate } from '../support/openehr/templates.js';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const XML_TYPE = { 'Content-Type': 'application/xml' };
const FLAT_TYPE = {
  'Content-Type': 'application/openehr.wt.flat+json',
  'openEHR-TEMPLATE-ID': LARGE_TEMPLATE,
};
const STRUCTURED_TYPE = {
  'Content-Type': 'application/openehr.wt.structured+json',
  'openEHR-TEMPLATE-ID': LARGE_TEMPLATE,
};
const IF_MATCH = '"8849182c-82ad-4088-a07f-48ead4180515::local.cdr::1"';
const app = testApp();
let ehrId = '';
let server: WatchedServer;

useDatabase();
beforeAll(async () => {
  server = await watchedServerOfTest();
  await givenTemplate(app, LARGE_TEMPLATE);
  ehrId = await givenEhr(app);
});
afterAll(async () => {
  await closePool();
  await server.stop();
});

type Headers = Record<string, string>;

/** Sends a body; whatever is answered, it takes the server from nobody. */
function send(
  method: 'post' | 'put',
  path: string,
  headers: Headers,
  body: string | Buffer,
): Promise<Response> {
  return takingNobody(server, async () => request(server.url)[method](path).set(headers).send(body));
}

/** As `send`; `operation`: method and path below a resource. */
function sendTo(operation: string, resource: string, headers: Headers, body: string): Promise<Response> {
  const [method, path = ''] = operation.split(' ');
  return send(method === 'put' ? 'put' : 'post', `${V1}${resource}${path}`, headers, body);
}

const compositions = (): string => `${V1}/ehr/${ehrId}/composition`;

describe('bodies of millions of nodes', () => {
  const small = `[${'{"a":1},'.repeat(1_800_000)}1]`;
  const empties = (root: string): string => `<${root}>${'<a/>'.repeat(3_700_000)}</${root}>`;

  it.each([
    ['a COMPOSITION of empty elements', 'post /composition', XML_TYPE, () => empties('composition')],
    ['a COMPOSITION of small objects', 'post /composition', JSON_TYPE, () => small],
    ['a COMPOSITION of unknown members', 'post /composition', JSON_TYPE, () => unknownMembers(1_000_000)],
    ['FLAT of unknown keys', 'post /composition', FLAT_TYPE, () => unknownMembers(1_000_000)],
    ['STRUCTURED of unknown keys', 'post /composition', STRUCTURED_TYPE, () => unknownMembers(1_000_000)],
    ['a CONTRIBUTION', 'post /contribution', JSON_TYPE, () => `{"versions":${small}}`],
    ['a CONTRIBUTION in XML', 'post /contribution', XML_TYPE, () => empties('contribution')],
    ['a FOLDER', 'post /directory', JSON_TYPE, () => `{"items":${small}}`],
    ['an EHR_STATUS', 'put /ehr_status', { ...JSON_TYPE, 'If-Match': IF_MATCH }, () => small],
  ] as const)('are refused: %s', async (_, operation, headers, body) => {
    const before = await recordIds();
    const answer = await sendTo(operation, `/ehr/${ehrId}`, headers, body());
    expect(answer.status).toBe(413);
    expect(answer.body.message).toMatch(/^the (JSON|XML) has more than 250000 nodes/);
    expect(await recordIds()).toBe(before);
  });

  it.each([
    [
      'a query',
      'post /query/aql',
      JSON_TYPE,
      () => `{"q":"SELECT e FROM EHR e","query_parameters":{"a":${small}}}`,
    ],
    ['a stored query', 'put /definition/query/a.b::c', JSON_TYPE, () => `{"q":${small}}`],
    ['a template', 'post /definition/template/adl1.4', XML_TYPE, () => empties('template')],
  ] as const)('are refused: %s', async (_, operation, headers, body) => {
    const answer = await sendTo(operation, '', headers, body());
    expect(answer.status).toBe(413);
  });

  it('are refused in the item tags of an object', async () => {
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    const uid = versionUidOf(status);
    expect((await send('put', `${V1}/ehr/${ehrId}/ehr_status/${uid}/tags`, JSON_TYPE, small)).status).toBe(
      413,
    );
  });
});

describe('a body that needs more memory than a thread has', () => {
  it('is refused, and the next one is read', async () => {
    const lax = testApp({ maxBodyNodes: 10_000_000 });
    const body = `<composition>${'<a b="c"/>'.repeat(1_500_000)}</composition>`;
    const result = await request(lax).post(compositions()).set(XML_TYPE).send(body);
    expect(result.status).toBe(413);
    expect(result.body.message).toMatch(/^the body (needs more than 512 MiB|takes longer than 30000 ms)/);
    expect((await send('post', compositions(), JSON_TYPE, arraysOf(200_000))).status).toBe(400);
  });
});

describe('the limit of nodes', () => {
  it('is where it is said to be', async () => {
    const refused = await send('post', compositions(), JSON_TYPE, arraysOf(DEFAULT_MAX_NODES + 1));
    expect(refused.status).toBe(413);
    const read = await send('post', compositions(), JSON_TYPE, arraysOf(DEFAULT_MAX_NODES));
    expect(read.status).toBe(400);
    expect(read.body.message).toMatch(/Object should be type COMPOSITION/);
  });

  it('follows MAX_BODY_NODES', async () => {
    const strict = testApp({ maxBodyNodes: 1000 });
    const post = (body: string) => request(strict).post(compositions()).set(JSON_TYPE).send(body);
    expect((await post(arraysOf(1000))).status).toBe(400);
    expect((await post(arraysOf(1001))).status).toBe(413);
  });

  it.each([
    [
      'JSON',
      JSON_TYPE,
      `${'['.repeat(151)}${']'.repeat(151)}${' '.repeat(400_000)}`,
      /nested deeper than 150/,
    ],
    [
      'XML',
      XML_TYPE,
      `${'<a>'.repeat(201)}${'</a>'.repeat(201)}${' '.repeat(400_000)}`,
      /more than 200 nested/,
    ],
  ])('of nesting holds in a large body of %s', async (_, headers, body, message) => {
    const answer = await send('post', compositions(), headers, body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
  });

  it('of attributes is 256 for one element', async () => {
    const attributes = Array.from({ length: 200_000 }, (_, i) => `a${i}=""`).join(' ');
    const answer = await send('post', compositions(), XML_TYPE, `<composition ${attributes}/>`);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/more than 256 attributes in one element/);
  });

  it('of query parameters is 1000', async () => {
    const query = (count: number): string => Array.from({ length: count }, (_, i) => `a${i}=`).join('&');
    expect((await request(app).get(`${V1}/ehr/${ehrId}?${query(1001)}`)).status).toBe(400);
  });
});

describe('a valid COMPOSITION of many nodes', () => {
  const template = publicTemplate(LARGE_TEMPLATE);
  const composition = largeComposition(DEFAULT_MAX_NODES - 1000);
  const ofHalf = largeComposition(DEFAULT_MAX_NODES / 2);
  const flat = writeFlat(ofHalf, template);

  it.each([
    ['JSON', JSON_TYPE, composition, () => JSON.stringify(composition)],
    [
      'escaped JSON',
      JSON_TYPE,
      composition,
      () => JSON.stringify(composition).replace(/"DV_/g, '"DV\\u005f'),
    ],
    ['XML', XML_TYPE, ofHalf, () => toXml(ofHalf, 'composition')],
    ['FLAT', FLAT_TYPE, null, () => JSON.stringify(flat)],
    ['STRUCTURED', STRUCTURED_TYPE, null, () => JSON.stringify(flatToStructured(flat))],
  ])('is stored from %s as a small one', async (_, headers, stored, text) => {
    const answer = await send('post', compositions(), headers, text());
    expect(answer.status).toBe(201);
    const uid = versionUidOf(answer);
    const got = await request(app).get(`${compositions()}/${uid}`);
    const identity = { _type: 'OBJECT_VERSION_ID', value: uid };
    if (stored !== null) expect(got.body).toEqual({ ...stored, uid: identity });
    expect(Object.keys(got.body as object).slice(0, 2)).toEqual(['_type', 'uid']);
    const version = await request(app)
      .get(`${compositions()}/${uid}`)
      .set('Accept', FLAT_TYPE['Content-Type']);
    expect(version.status).toBe(200);
  });

  it('is found by queries and verified like a small one', async () => {
    const ehr = await givenEhr(app);
    const text = JSON.stringify(largeComposition(50_000));
    const answer = await send('post', `${V1}/ehr/${ehr}/composition`, JSON_TYPE, text);
    const next = await send(
      'put',
      `${V1}/ehr/${ehr}/composition/${versionedObjectUidOf(versionUidOf(answer))}`,
      { ...JSON_TYPE, 'If-Match': `"${versionUidOf(answer)}"` },
      text,
    );
    expect(next.status).toBe(200);
    const q = `SELECT c/uid/value, count(o) FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o
      WHERE e/ehr_id/value = '${ehr}'`;
    const found = await request(app).post(`${V1}/query/aql`).send({ q });
    expect(found.body.rows).toEqual([[versionUidOf(next), JSON.parse(text).content.length]]);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('is refused with the findings of a small one, a thousand of them', async () => {
    const wrong = largeComposition(100_000);
    for (const entry of wrong.content as Json[]) entry.language.code_string = '';
    const answer = await send('post', compositions(), JSON_TYPE, JSON.stringify(wrong));
    expect(answer.status).toBe(422);
    expect(answer.body.validationErrors.length).toBeLessThan(2_100);
    const few = { ...wrong, content: wrong.content.slice(0, 1) };
    const small = await request(app).post(compositions()).send(few);
    expect(small.status).toBe(422);
    expect(answer.body.validationErrors[0]).toBe(small.body.validationErrors[0]);
  });

  it('is refused in the order of a small one', async () => {
    const text = (change: object): string => JSON.stringify({ ...largeComposition(50_000), ...change });
    const statusOf = async (path: string, body: string): Promise<number> =>
      (await send('post', path, JSON_TYPE, body)).status;
    const unknown = `${V1}/ehr/8849182c-82ad-4088-a07f-48ead4180515/composition`;
    expect(await statusOf(compositions(), text({ colour: 'red' }))).toBe(400);
    expect(await statusOf(compositions(), text({ composer: undefined }))).toBe(400);
    expect(await statusOf(compositions(), `${text({})},`)).toBe(400);
    expect(await statusOf(unknown, text({}))).toBe(404);
    const details = { ...largeComposition(1000).archetype_details, template_id: { value: 'none' } };
    expect(await statusOf(compositions(), text({ archetype_details: details }))).toBe(422);
  });

  it('is committed in a CONTRIBUTION beside small ones', async () => {
    const audit = {
      change_type: {
        value: 'creation',
        defining_code: { terminology_id: { value: 'openehr' }, code_string: '249' },
      },
    };
    const version = (data: Json): Json => ({ data, commit_audit: audit });
    const versions = [version(largeComposition(50_000)), version(largeComposition(1000))];
    const committed = await send(
      'post',
      `${V1}/ehr/${ehrId}/contribution`,
      JSON_TYPE,
      JSON.stringify({ versions }),
    );
    expect(committed.status).toBe(201);
    const wrong = version({ ...largeComposition(50_000), composer: undefined });
    const refused = await send(
      'post',
      `${V1}/ehr/${ehrId}/contribution`,
      JSON_TYPE,
      JSON.stringify({ versions: [...versions, wrong] }),
    );
    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(/^\/versions\[2\]\/data\/composer: /);
  });
});
