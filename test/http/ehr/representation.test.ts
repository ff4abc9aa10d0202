import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
} from '../../support/resources.js';

const app = testApp();
let ehrId = '';
let uid = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  uid = await givenComposition(app, ehrId);
});

const composition = (): string => `${V1}/ehr/${ehrId}/composition/${uid}`;
const FORWARDED = {
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'cdr.example.org',
  'X-Forwarded-Port': '8443',
};

describe('links', () => {
  it('ignore X-Forwarded-* unless a trusted proxy sent them', async () => {
    const { headers } = await request(app).get(composition()).set(FORWARDED);
    expect(headers.location).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+${composition()}$`));
    const behind = testApp({ trustedProxies: ['127.0.0.0/8', '::1'] });
    const trusted = await request(behind).get(composition()).set(FORWARDED);
    expect(trusted.headers.location).toBe(`https://cdr.example.org:8443${composition()}`);
  });

  it('begin with PUBLIC_BASE_URL where it is set, under the canonical prefix', async () => {
    const known = testApp({ publicBaseUrl: 'https://cdr.example.org/base', trustedProxies: ['127.0.0.1'] });
    const response = await request(known).get(composition().replace(V1, '/v1')).set(FORWARDED);
    expect(response.headers.location).toBe(`https://cdr.example.org/base${composition()}`);
  });

  it('never echo a malformed host', async () => {
    const response = await request(app).get(composition()).set('Host', 'evil"><script>');
    expect(response.status).toBe(400);
    expect(JSON.stringify(response.headers)).not.toContain('evil');
  });
});

describe('requests', () => {
  it('without Content-Type are read as JSON', async () => {
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const body = new TextEncoder().encode(JSON.stringify(aComposition()));
    const url = `http://127.0.0.1:${port}${V1}/ehr/${ehrId}/composition`;
    const response = await fetch(url, { method: 'POST', body });
    server.close();
    server.closeAllConnections();
    expect([response.status, await response.text()]).toEqual([201, '']);
  });

  it('with another charset than UTF-8 are refused', async () => {
    const before = await dump();
    const response = await request(app)
      .post(`${V1}/ehr`)
      .set('Content-Type', 'application/json; charset=iso-8859-1')
      .send('{}');
    expect(response.status).toBe(415);
    expect(await dump()).toBe(before);
  });

  it('with a body over the limit are refused', async () => {
    const small = testApp({ maxBodyBytes: 1000 });
    const response = await request(small).post(`${V1}/ehr/${ehrId}/composition`).send(aComposition());
    expect(response.status).toBe(413);
    expect(response.body.error).toBe('Payload Too Large');
  });

  it('with unknown HTTP methods are 501 or 405', async () => {
    expect((await request(app).patch(composition())).status).toBe(405);
  });

  it('may end in a slash and hold percent-encoded ids', async () => {
    const path = `${V1}/ehr/${ehrId.replaceAll('-', '%2D')}/composition/${encodeURIComponent(uid)}/`;
    expect((await request(app).get(path)).headers.etag).toBe(`"${uid}"`);
    expect((await request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}%00`)).status).toBe(400);
    expect((await request(app).get(`${V1}/ehr/${ehrId}/composition/%E0%A4%A`)).status).toBe(400);
  });

  it.each(['POST', 'PUT', 'DELETE'])('with a bad Prefer are answered as without: %s', async (method) => {
    const made = await givenComposition(app, ehrId);
    const base = `${V1}/ehr/${ehrId}/composition`;
    const [path, status] = {
      POST: [base, 201],
      PUT: [`${base}/${versionedObjectUidOf(made)}`, 200],
      DELETE: [`${base}/${made}`, 204],
    }[method] as [string, number];
    const client = request(app);
    const sent = client[method.toLowerCase() as 'post'](path).set('Prefer', 'return=everything, wait=1');
    const response = await (method === 'DELETE' ? sent : sent.set('If-Match', made).send(aComposition()));
    expect([response.status, response.text]).toEqual([status, '']);
    expect(response.headers['preference-applied']).toBeUndefined();
  });
});

describe('an EHR that was merged away', () => {
  it('is 404 with a link for reads, 409 for writes', async () => {
    const target = await givenEhr(app);
    const source = await givenEhr(app);
    const status = versionUidOf(await request(app).get(`${V1}/ehr/${source}/ehr_status`));
    await mongoose.connection
      .collection<{ _id: string }>('ehrs')
      .updateOne({ _id: source }, { $set: { state: 'merged', merged_into: target } });
    const before = await dump();
    const message = `EHR ${source} was merged into ${target}`;
    for (const tail of [
      '',
      '/ehr_status',
      '/versioned_ehr_status',
      '/versioned_ehr_status/revision_history',
      '/versioned_ehr_status/version',
      '/directory',
      `/composition/${uid}`,
      `/composition/${versionedObjectUidOf(uid)}`,
      `/versioned_composition/${versionedObjectUidOf(uid)}`,
      `/contribution/${versionedObjectUidOf(uid)}`,
    ]) {
      const response = await request(app).get(`${V1}/ehr/${source}${tail}`);
      expect([tail, response.status, response.body.message]).toEqual([tail, 404, message]);
      expect(response.headers.link).toMatch(
        new RegExp(`<http.*${V1}/ehr/${target}>; rel="successor-version"`),
      );
    }
    const folder = { _type: 'FOLDER', archetype_node_id: 'x', name: { _type: 'DV_TEXT', value: 'root' } };
    const versions = [{ commit_audit: { change_type: { value: 'creation' } }, data: folder }];
    for (const [method, tail, body] of [
      ['post', '/composition', aComposition()],
      ['post', '/composition', { nonsense: 1 }],
      ['put', `/composition/${versionedObjectUidOf(uid)}`, aComposition()],
      ['delete', `/composition/${uid}`, undefined],
      ['put', '/ehr_status', { _type: 'EHR_STATUS', archetype_node_id: 'x' }],
      ['post', '/directory', folder],
      ['put', '/directory', folder],
      ['delete', '/directory', undefined],
      ['post', '/contribution', { versions }],
    ] as const) {
      const client = request(app);
      const response = await client[method](`${V1}/ehr/${source}${tail}`).set('If-Match', status).send(body);
      expect([tail, response.status, response.body.message]).toEqual([tail, 409, message]);
    }
    expect((await request(app).put(`${V1}/ehr/${source}`)).status).toBe(409);
    expect(await dump()).toBe(before);
  });
});
