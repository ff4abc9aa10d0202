import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
import { replay, type Answer } from '../../support/wire.js';

/*
 * The calls of oehrpy (httpx): it asks the status which server it has, lists every version of templates, writes FLAT with the
 * template in the address, and calls a deletion 533.
 */

const V1 = '/rest/openehr/v1';
const TEMPLATE = 'minimal_evaluation.en.v1';
let server: Server;

useDatabase();
beforeAll(async () => {
  server = await testServer(testSettings({ statusEhrbaseVersion: '2.34.0' }));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const json = ({ text }: Answer): Json => JSON.parse(text) as Json;
const etagOf = ({ headers }: Answer): string => (headers.get('etag') ?? '').replaceAll('"', '');
const coded = (value: string, code_string: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    code_string,
  },
});

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
      ['Accept-Encoding', 'identity'],
      ['User-Agent', 'python-httpx/0.28.1'],
      ...Object.entries(headers),
    ],
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const BOTH = { Accept: 'application/json', 'Content-Type': 'application/json' };

describe('oehrpy', () => {
  let ehrId = '';

  it('knows the server by ehrbase_version, where the operator says so', async () => {
    const status = await send('GET', '/rest/status', { Accept: 'application/json' });
    expect(json(status)).toMatchObject({ ehrbase_version: '2.34.0', openehr_rest_version: '1.0.3' });
  });

  it('sees the template that it uploaded', async () => {
    const path = `${V1}/definition/template/adl1.4`;
    const headers = { Accept: 'application/json', 'Content-Type': 'application/xml' };
    expect((await send('POST', path, headers, fixtureText(`opt/${TEMPLATE}.opt`))).status).toBe(201);
    const list = await send('GET', `${path}?version=%2A`, { Accept: 'application/json' });
    expect(json(list)).toMatchObject([{ template_id: TEMPLATE }]);
  });

  it('writes and reads a COMPOSITION in FLAT', async () => {
    const made = await send('POST', `${V1}/ehr`, { ...BOTH, Prefer: 'return=representation' });
    ehrId = json(made).ehr_id.value;
    const flat = fixtureText(`flat/${TEMPLATE}.json`);
    const path = `${V1}/ehr/${ehrId}/composition`;
    const written = await send(
      'POST',
      `${path}?format=FLAT&templateId=${TEMPLATE}`,
      { ...BOTH, Prefer: 'return=representation' },
      flat,
    );
    expect([written.status, written.headers.get('content-type')]).toEqual([
      201,
      expect.stringContaining('json'),
    ]);
    const read = await send('GET', `${path}/${etagOf(written)}?format=FLAT`, { Accept: 'application/json' });
    expect(Object.keys(json(read))).toEqual(expect.arrayContaining(Object.keys(json(written))));
  });

  it('deletes in a CONTRIBUTION with the lifecycle state 533', async () => {
    const made = await send('POST', `${V1}/ehr/${ehrId}/composition`, BOTH, aComposition());
    const deletion = {
      _type: 'CONTRIBUTION',
      versions: [
        {
          _type: 'ORIGINAL_VERSION',
          preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: etagOf(made) },
          lifecycle_state: coded('deleted', '533'),
          commit_audit: { _type: 'AUDIT_DETAILS', change_type: coded('deleted', '523') },
        },
      ],
      audit: { _type: 'AUDIT_DETAILS', change_type: coded('deleted', '523') },
    };
    const done = await send('POST', `${V1}/ehr/${ehrId}/contribution`, BOTH, deletion);
    expect([done.status, done.headers.get('warning')]).toEqual([201, undefined]);
    const gone = await send('GET', `${V1}/ehr/${ehrId}/composition/${etagOf(made).split('::')[0]}`, {
      Accept: 'application/json',
    });
    expect(gone.status).toBe(204);
  });
});
