import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
import { replay, type Answer } from '../../support/wire.js';

/*
 * The calls of the TypeScript client ehrbase-api-client (axios): one Accept for everything, the standard's headers where the
 * document of the API has them.
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
      ['Accept', 'application/json, text/plain, */*'],
      ['User-Agent', 'axios/1.7.9'],
      ['Accept-Encoding', 'identity'],
      ...Object.entries(headers),
    ],
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const BODY = { 'Content-Type': 'application/json' };
const STATUS = {
  _type: 'EHR_STATUS',
  archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
  name: { value: 'EHR Status' },
  subject: {
    external_ref: {
      id: { _type: 'GENERIC_ID', value: '4711', scheme: 'id' },
      namespace: 'patients',
      type: 'PERSON',
    },
  },
  is_queryable: true,
  is_modifiable: true,
};

describe('the TypeScript API client', () => {
  let uploaded: Answer;
  let madeEhr: Answer;
  let ehrId = '';
  beforeAll(async () => {
    const xml = { 'Content-Type': 'application/xml' };
    uploaded = await send('POST', TEMPLATES, xml, fixtureText(`opt/${TEMPLATE}.opt`));
    madeEhr = await send('POST', `${V1}/ehr`, { ...BODY, Prefer: 'return=representation' }, STATUS);
    ehrId = json(madeEhr).ehr_id.value;
  });

  it('uploads a template, lists templates and reads the web template', async () => {
    expect(uploaded.status).toBe(201);
    expect(json(await send('GET', TEMPLATES, {}))).toMatchObject([{ template_id: TEMPLATE }]);
    const web = await replay(server, {
      method: 'GET',
      path: `${TEMPLATES}/${TEMPLATE}`,
      headers: [['Accept', 'application/openehr.wt+json']],
    });
    expect(json(web).templateId).toBe(TEMPLATE);
  });

  it('makes an EHR and finds it by its subject', async () => {
    expect(madeEhr.status).toBe(201);
    const found = await send('GET', `${V1}/ehr?subject_id=4711&subject_namespace=patients`, {});
    expect(json(found).ehr_id.value).toBe(ehrId);
  });

  it('writes a COMPOSITION with the headers of the audit and deletes it', async () => {
    const made = await send(
      'POST',
      `${V1}/ehr/${ehrId}/composition`,
      {
        ...BODY,
        'openEHR-VERSION': 'lifecycle_state.code_string="532"',
        'openEHR-AUDIT_DETAILS': 'change_type.code_string="249",committer.name="axios"',
        Prefer: 'return=representation',
      },
      aComposition(),
    );
    const uid = json(made).uid.value as string;
    expect(made.status).toBe(201);
    const version = await send(
      'GET',
      `${V1}/ehr/${ehrId}/versioned_composition/${uid.split('::')[0]}/version/${uid}`,
      {},
    );
    expect(json(version).commit_audit.committer.name).toBe('axios');
    expect((await send('DELETE', `${V1}/ehr/${ehrId}/composition/${uid}`, {})).status).toBe(204);
  });

  it('commits a CONTRIBUTION whose codes are TERMINOLOGY_CODEs, as the document has them', async () => {
    const code = (code_string: string): Json => ({ terminology_id: 'openehr', code_string });
    const body = {
      versions: [
        { commit_audit: { change_type: code('249') }, lifecycle_state: code('532'), data: aComposition() },
      ],
      audit: {
        change_type: coded('creation', '249'),
        committer: { _type: 'PARTY_IDENTIFIED', name: 'axios' },
      },
    };
    const made = await send(
      'POST',
      `${V1}/ehr/${ehrId}/contribution`,
      { ...BODY, Prefer: 'return=representation' },
      body,
    );
    expect([made.status, json(made)._type]).toEqual([201, 'CONTRIBUTION']);
  });

  it('makes a directory, stores a query and runs it', async () => {
    const folder = {
      _type: 'FOLDER',
      name: { value: 'root' },
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    };
    expect((await send('POST', `${V1}/ehr/${ehrId}/directory`, BODY, folder)).status).toBe(201);
    const path = `${V1}/definition/query/org.example::ehrs/1.0.0`;
    const stored = await send(
      'PUT',
      path,
      { 'Content-Type': 'text/plain' },
      'SELECT e/ehr_id/value FROM EHR e',
    );
    expect(stored.status).toBe(200);
    const rows = await send('GET', `${V1}/query/org.example::ehrs/1.0.0`, {});
    expect(json(rows).rows).toEqual([[ehrId]]);
  });
});
