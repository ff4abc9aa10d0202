import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
import { replay, type Answer } from '../../support/wire.js';

/*
 * The calls of pyehr (PyPI pyehr-openehr, on requests): every class has the name that the official OpenAPI document gives it.
 */

const V1 = '/rest/openehr/v1';
const TEMPLATE = 'minimal_evaluation.en.v1';
let server: Server;

useDatabase();
beforeAll(async () => {
  server = await testServer(testSettings({}));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const json = ({ text }: Answer): Json => JSON.parse(text) as Json;
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
      ['User-Agent', 'python-requests/2.32.3'],
      ['Accept-Encoding', 'identity'],
      ...Object.entries(headers),
    ],
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const BOTH = { Accept: 'application/json', 'Content-Type': 'application/json' };
const WHOLE = { ...BOTH, Prefer: 'return=representation' };

describe('pyehr', () => {
  const ehrId = '7d44b88c-4199-4bad-97dc-d78268e01398';
  let uploaded: Answer;
  let made: Answer;
  beforeAll(async () => {
    uploaded = await send(
      'POST',
      `${V1}/definition/template/adl1.4`,
      { Accept: 'application/xml', 'Content-Type': 'application/xml' },
      fixtureText(`opt/${TEMPLATE}.opt`),
    );
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      name: { _type: 'DV_TEXT', value: 'EHR Status' },
      subject: { _type: 'PARTY_SELF' },
      is_queryable: true,
      is_modifiable: true,
    };
    made = await send('PUT', `${V1}/ehr/${ehrId}`, WHOLE, status);
  });

  it('uploads a template as XML and makes an EHR with an id of its own', () => {
    expect(uploaded.status).toBe(201);
    expect([made.status, json(made).ehr_id.value]).toEqual([201, ehrId]);
  });

  it('commits, changes and deletes in CONTRIBUTIONs in the words of the document', async () => {
    const audit = (value: string, code: string): Json => ({
      _type: 'UPDATE_AUDIT',
      change_type: coded(value, code),
      committer: { _type: 'PARTY_IDENTIFIED', name: 'pyehr' },
      description: { _type: 'DV_TEXT', value: 'by pyehr' },
    });
    const commit = async (value: string, code: string, version: Json): Promise<Json> => {
      const answer = await send('POST', `${V1}/ehr/${ehrId}/contribution`, WHOLE, {
        _type: 'UPDATE_CONTRIBUTION',
        versions: [{ _type: 'UPDATE_VERSION', commit_audit: audit(value, code), ...version }],
        audit: audit(value, code),
      });
      expect([answer.status, answer.text]).toEqual([201, expect.stringContaining('"_type":"CONTRIBUTION"')]);
      return json(answer);
    };
    const lifecycle_state = coded('complete', '532');
    const first = await commit('creation', '249', { lifecycle_state, data: aComposition() });
    const uid = first['versions'][0].id.value as string;
    const preceding = (value: string): Json => ({ _type: 'OBJECT_VERSION_ID', value });
    const second = await commit('modification', '251', {
      ...{ lifecycle_state, data: aComposition() },
      preceding_version_uid: preceding(uid),
    });
    const next = second['versions'][0].id.value as string;
    expect(next).toBe(uid.replace(/1$/, '2'));
    await commit('deleted', '523', { preceding_version_uid: preceding(next) });
    const gone = await send('GET', `${V1}/ehr/${ehrId}/composition/${uid.split('::')[0]}`, {
      Accept: 'application/json',
    });
    expect(gone.status).toBe(204);
  });

  it('reads the history of a COMPOSITION and a query by GET', async () => {
    const { uid } = json(await send('POST', `${V1}/ehr/${ehrId}/composition`, WHOLE, aComposition()));
    const container = (uid.value as string).split('::')[0];
    const history = await send(
      'GET',
      `${V1}/ehr/${ehrId}/versioned_composition/${container}/revision_history`,
      {
        Accept: 'application/json',
      },
    );
    expect(json(history).items).toHaveLength(1);
    const q = encodeURIComponent(`SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c`);
    const rows = await send('GET', `${V1}/query/aql?q=${q}&ehr_id=${ehrId}`, { Accept: 'application/json' });
    expect([rows.status, json(rows).rows]).toEqual([200, [[uid.value]]]);
  });
});
