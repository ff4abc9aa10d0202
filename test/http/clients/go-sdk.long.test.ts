import type { Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { testSettings } from '../../support/settings.js';
import { aComposition, type Json } from '../../support/resources.js';
import { replay, type Answer } from '../../support/wire.js';

/*
 * The calls of the Go SDK of Cadasto (net/http): sorted headers, gzip asked for, entity tags as they came, every version of every
 * template, and the audit of a CONTRIBUTION as the official document names it.
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

/** As net/http writes a request: User-Agent first, then the headers by their names, Accept-Encoding last. */
function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const all = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  return replay(server, {
    ...{ method, path },
    headers: [['User-Agent', 'Go-http-client/1.1'], ...all, ['Accept-Encoding', 'identity']],
    ...(body === undefined ? {} : { body: text }),
  });
}
const JSON_BOTH = { Accept: 'application/json', 'Content-Type': 'application/json' };
const WHOLE = { ...JSON_BOTH, Prefer: 'return=representation' };

const TEMPLATES = `${V1}/definition/template/adl1.4`;

describe('the Go SDK', () => {
  let uploaded: Answer;
  let madeEhr: Answer;
  let ehrId = '';
  beforeAll(async () => {
    const headers = { Accept: 'application/json', 'Content-Type': 'application/xml' };
    uploaded = await send('POST', TEMPLATES, headers, fixtureText(`opt/${TEMPLATE}.opt`));
  });
  beforeEach(async () => {
    madeEhr = await send('POST', `${V1}/ehr`, WHOLE);
    ehrId = json(madeEhr).ehr_id.value;
  });

  it('uploads a template and finds it among all versions', async () => {
    expect(uploaded.status).toBe(201);
    const list = await send('GET', `${TEMPLATES}?version=*`, { Accept: 'application/json' });
    expect(json(list)).toMatchObject([{ template_id: TEMPLATE }]);
  });

  it('makes an EHR and reads it, and its EHR_STATUS by time', async () => {
    expect([madeEhr.status, json(madeEhr)._type ?? 'EHR']).toEqual([201, 'EHR']);
    const status = await send(
      'GET',
      `${V1}/ehr/${ehrId}/ehr_status?version_at_time=2100-01-01T00%3A00%3A00Z`,
      {
        Accept: 'application/json',
      },
    );
    expect(json(status).is_queryable).toBe(true);
  });

  it('changes a COMPOSITION with the entity tag it got, weak or strong', async () => {
    const path = `${V1}/ehr/${ehrId}/composition`;
    const made = await send('POST', path, WHOLE, aComposition());
    const uid = json(made).uid.value as string;
    const container = `${path}/${uid.split('::')[0]}`;
    const changed = await send('PUT', container, { ...WHOLE, 'If-Match': `W/"${uid}"` }, aComposition());
    expect([changed.status, json(changed).uid.value]).toEqual([200, uid.replace(/1$/, '2')]);
    const stale = await send(
      'PUT',
      container,
      { ...WHOLE, 'If-Match': made.headers.get('etag') ?? '' },
      aComposition(),
    );
    expect([stale.status, etagOf(stale)]).toEqual([412, etagOf(changed)]);
  });

  it('commits a CONTRIBUTION whose audits are UPDATE_AUDIT', async () => {
    const audit = {
      _type: 'UPDATE_AUDIT',
      change_type: coded('creation', '249'),
      committer: { _type: 'PARTY_IDENTIFIED', name: 'Go' },
    };
    const body = {
      versions: [
        {
          _type: 'ORIGINAL_VERSION',
          commit_audit: audit,
          lifecycle_state: coded('complete', '532'),
          data: aComposition(),
        },
      ],
      audit,
    };
    const made = await send('POST', `${V1}/ehr/${ehrId}/contribution`, WHOLE, body);
    expect([made.status, json(made).audit._type]).toEqual([201, 'AUDIT_DETAILS']);
  });

  it('queries with named parameters', async () => {
    for (let made = 0; made < 2; made += 1)
      await send('POST', `${V1}/ehr/${ehrId}/composition`, WHOLE, aComposition());
    const q = 'SELECT c/uid/value FROM EHR e[ehr_id/value=$ehr_id] CONTAINS COMPOSITION c';
    const rows = await send('POST', `${V1}/query/aql`, JSON_BOTH, { q, query_parameters: { ehr_id: ehrId } });
    expect([rows.status, json(rows).rows.length]).toEqual([200, 2]);
  });
});
