import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
import { replay, type Answer } from '../../support/wire.js';

/*
 * The calls of CRS4's openEHRTool (requests): every address has `?format=`, whatever it is, and lxml reads the text of XML
 * answers, which must not name an encoding then.
 */

const V1 = '/rest/openehr/v1';
const TEMPLATE = 'minimal_evaluation.en.v1';
const TEMPLATES = `${V1}/definition/template/adl1.4`;
let server: Server;

useDatabase();
beforeAll(async () => {
  server = await testServer(testSettings({}));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const json = ({ text }: Answer): Json => JSON.parse(text) as Json;
const etagOf = ({ headers }: Answer): string => (headers.get('etag') ?? '').replaceAll('"', '');

/** As the library writes a request of its session. */
function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  return replay(server, {
    ...{ method, path },
    headers: [
      ['User-Agent', 'python-requests/2.32.3'],
      ['Accept-Encoding', 'identity'],
      ...Object.entries(headers),
    ],
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const JSON_BOTH = { 'Content-Type': 'application/json', accept: 'application/json' };
const XML_BOTH = { 'Content-Type': 'application/xml', accept: 'application/xml' };

async function newEhr(format: string): Promise<string> {
  const made = await send('POST', `${V1}/ehr?format=${format}`, {
    ...JSON_BOTH,
    Prefer: 'return=representation',
  });
  expect(made.status).toBe(201);
  return json(made).ehr_id.value as string;
}

describe('openEHRTool', () => {
  let uploaded: Answer;
  beforeAll(async () => {
    uploaded = await send('POST', TEMPLATES, XML_BOTH, fixtureText(`opt/${TEMPLATE}.opt`));
  });

  it.each(['JSON', 'XML', 'RAW'])(
    'appends format=%s to whatever it asks for, and gets it',
    async (format) => {
      const ehrId = await newEhr(format);
      for (const tail of [
        '',
        '/ehr_status',
        '/versioned_ehr_status',
        '/versioned_ehr_status/revision_history',
      ])
        expect((await send('GET', `${V1}/ehr/${ehrId}${tail}?format=${format}`, JSON_BOTH)).status).toBe(200);
      expect((await send('GET', `${TEMPLATES}?format=${format}`, JSON_BOTH)).status).toBe(200);
      const query = await send('POST', `${V1}/query/aql?format=${format}`, JSON_BOTH, {
        q: 'SELECT e/ehr_id/value FROM EHR e',
      });
      expect(query.status).toBe(200);
    },
  );

  it('posts a template, and reads its example as XML without an encoding', async () => {
    expect(uploaded.status).toBe(201);
    const example = await send('GET', `${TEMPLATES}/${TEMPLATE}/example?format=XML`, XML_BOTH);
    expect([example.status, example.text.includes('encoding=')]).toEqual([200, false]);
    expect(example.text).toContain('<composition');
  });

  it('posts and puts a COMPOSITION, whose uid stands at the end of its Location', async () => {
    const ehrId = await newEhr('JSON');
    const path = `${V1}/ehr/${ehrId}/composition`;
    const made = await send(
      'POST',
      `${path}?format=JSON`,
      { ...JSON_BOTH, Prefer: 'return=minimal' },
      aComposition(),
    );
    expect(made.status).toBe(201);
    const uid = made.headers.get('location')!.split('/').at(-1)!;
    expect(uid).toBe(etagOf(made));
    const put = await send(
      'PUT',
      `${path}/${uid.split('::')[0]}?ehr_id=${ehrId}&composition_id=${uid}&format=JSON`,
      { ...JSON_BOTH, 'If-Match': uid },
      aComposition(),
    );
    expect([put.status, put.headers.get('warning')]).toEqual([200, undefined]);
    const xml = await send('GET', `${path}/${uid.split('::')[0]}?format=XML`, XML_BOTH);
    expect([xml.status, xml.text.includes('encoding=')]).toEqual([200, false]);
  });
});
