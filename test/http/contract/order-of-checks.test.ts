import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
} from '../../support/resources.js';

const app = testApp({ strictParameters: true });

useDatabase();

let ehrId = '';
let otherEhrId = '';
let versionUid = '';

beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  otherEhrId = await givenEhr(app);
  versionUid = await givenComposition(app, ehrId);
});

type Method = 'get' | 'put' | 'post' | 'delete';

interface Wrong {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function send(method: Method, path: string, { headers = {}, body = '{' }: Wrong = {}): Promise<Response> {
  const sent = request(app)[method](path).set(headers);
  return method === 'get' ? sent : sent.set('Content-Type', 'application/json').send(body);
}

const IF_MATCH = { 'If-Match': 'nonsense' };

/** Method, path below an EHR, what is wrong with the version that is named or sent. */
const CALLS: readonly (readonly [Method, (uid: string) => string, Wrong])[] = [
  ['put', (uid) => `/composition/${uid}`, { headers: IF_MATCH }],
  ['put', (uid) => `/composition/${uid}`, {}],
  ['put', (uid) => `/composition/${uid}?openehrVersion=1`, { headers: { 'If-Match': '"x"' }, body: '{}' }],
  ['put', (uid) => `/composition/${uid}::local.cdr::1`, { headers: IF_MATCH }],
  ['delete', (uid) => `/composition/${uid}`, {}],
  ['delete', (uid) => `/composition/${uid}::local.cdr::1`, { headers: { 'openEHR-AUDIT_DETAILS': '=' } }],
  ['get', (uid) => `/composition/${uid}?version_at_time=nonsense`, {}],
  ['get', (uid) => `/versioned_composition/${uid}/version?version_at_time=nonsense`, {}],
  ['get', (uid) => `/versioned_composition/${uid}/version/${randomUUID()}::local.cdr::1`, {}],
  ['put', (uid) => `/composition/${uid}/tags`, {}],
  ['put', (uid) => `/composition/${uid}/tags`, { body: '[{"key":7}]' }],
  ['put', (uid) => `/ehr_status/${uid}/tags`, {}],
];

describe('a container that does not exist is 404', () => {
  it.each(CALLS)('%s, whatever is wrong with the version (%#)', async (method, path, wrong) => {
    const answer = await send(method, `${V1}/ehr/${ehrId}${path(randomUUID())}`, wrong);
    expect([answer.status, answer.body.code]).toEqual([404, 'not-found']);
  });

  it('also when it is of another EHR', async () => {
    const uid = versionedObjectUidOf(versionUid);
    const path = (ehr: string) => `${V1}/ehr/${ehr}/composition/${uid}`;
    expect((await send('put', path(otherEhrId), { headers: IF_MATCH })).status).toBe(404);
    expect((await send('put', path(ehrId), { headers: IF_MATCH })).status).toBe(400);
  });
});

describe('an EHR that does not exist is 404', () => {
  it.each([
    ['post', '/composition', {}],
    ['post', '/contribution', {}],
    ['post', '/contribution', { body: '{"versions":[{"preceding_version_uid":{"value":"x"}}]}' }],
    ['post', '/directory', {}],
    ['put', '/directory', { headers: IF_MATCH }],
    ['delete', '/directory', { headers: IF_MATCH }],
    ['put', '/ehr_status', { headers: IF_MATCH }],
    ['get', '/ehr_status?version_at_time=nonsense', {}],
    ['get', '/versioned_ehr_status/version?version_at_time=nonsense', {}],
    ['get', '/directory?version_at_time=nonsense', {}],
  ] as const)('%s %s', async (method, path, wrong) => {
    expect((await send(method, `${V1}/ehr/${randomUUID()}${path}`, wrong)).status).toBe(404);
    expect((await send(method, `${V1}/ehr/${ehrId}${path}`, wrong)).status).toBe(400);
  });
});

describe('before that come', () => {
  it('unknown parameters', async () => {
    const path = `${V1}/ehr/${randomUUID()}/composition/${randomUUID()}?dry_run=true`;
    expect((await send('put', path, { headers: IF_MATCH })).status).toBe(400);
  });

  it('malformed ids of the path', async () => {
    const answer = await send('put', `${V1}/ehr/${randomUUID()}/composition/x`, { headers: IF_MATCH });
    expect(answer.status).toBe(400);
  });

  it('who asks', async () => {
    const closed = testApp({ auth: 'jwt' });
    const answer = await request(closed).put(`${V1}/ehr/${randomUUID()}/composition/${randomUUID()}`);
    expect(answer.status).toBe(401);
    expect((await request(closed).get(`${V1}/admin/ehr/all`)).body.message).not.toContain('/rest/admin');
  });
});
