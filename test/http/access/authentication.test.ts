import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { startIdentityProvider, type IdentityProvider } from '../../support/identity-provider.js';
import { givenEhr, givenTemplate, V1 } from '../../support/resources.js';

useDatabase();

const AUDIENCE = 'everchart';
let provider: IdentityProvider;
let app: RequestListener;
let ehrId = '';

beforeAll(async () => {
  provider = await startIdentityProvider(AUDIENCE);
  app = guarded();
  ehrId = await givenEhr(testApp());
  await givenTemplate(testApp());
});
afterAll(() => provider.close());

function guarded(env: Readonly<Record<string, string>> = {}): RequestListener {
  const settings = loadConfig({
    AUTH: 'jwt',
    JWT_JWKS_URL: provider.keys,
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: AUDIENCE,
    ADMIN_API_ACTIVE: 'true',
    LOG_LEVEL: 'silent',
    ...env,
  });
  return testApp(settings);
}

const read = (authorization: string, of = app) =>
  request(of).get(`${V1}/ehr/${ehrId}`).set('Authorization', authorization);

describe('a token of an identity provider', () => {
  it('that was made for this server is accepted', async () => {
    expect((await read(provider.bearer())).status).toBe(200);
    expect((await read(provider.bearer({ aud: ['shop', AUDIENCE] }))).status).toBe(200);
    // Some providers put a nonce into access tokens too, and say that they are such.
    expect((await read(provider.bearer({ nonce: 'n', typ: 'Bearer' }))).status).toBe(200);
    expect((await read(provider.bearer({}, { typ: 'at+jwt' }))).status).toBe(200);
  });

  it.each([
    ['made for another application', { aud: 'shop' }],
    ['without an audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://id.example.org/realms/other' }],
    ['that is an ID token by its claim', { typ: 'ID' }],
    ['that belongs to an access token, as an ID token does', { at_hash: 'MTIzNDU2' }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['whose subject is an object', { sub: { $ne: null } }],
    ['whose subject is a number', { sub: 7 }],
    ['whose application is an object', { azp: {} }],
    ['made in the future', { iat: Math.floor(Date.now() / 1000) + 600 }],
    ['made at no time', { iat: 'yesterday' }],
    ['that ends at no time', { exp: 1e300 }],
    ['that never ends', { exp: undefined }],
  ])('is refused %s', async (_, claims) => {
    const response = await read(provider.bearer(claims));
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it.each([
    ['that is an ID token', { typ: 'ID' }],
    ['with an extension that must be understood', { crit: ['exp'] }],
    ['with an extension that nobody knows', { crit: ['x-policy'], 'x-policy': 'strict' }],
  ])('is refused by its header %s', async (_, header) => {
    expect((await read(provider.bearer({}, header))).status).toBe(401);
  });

  it('that names issuer and audience at will is accepted only where `any` says so', async () => {
    const foreign = provider.bearer({ aud: 'shop', iss: 'https://id.example.org' });
    expect((await read(foreign, guarded({ JWT_AUDIENCE: 'any' }))).status).toBe(401);
    expect((await read(foreign, guarded({ JWT_ISSUER: 'any' }))).status).toBe(401);
    expect((await read(foreign, guarded({ JWT_ISSUER: 'any', JWT_AUDIENCE: 'any' }))).status).toBe(200);
  });

  it('gives no role by its scope', async () => {
    const asking = provider.bearer({ roles: undefined, scope: 'openid user admin' });
    expect((await read(asking)).status).toBe(403);
    const admin = request(app).get('/rest/admin/status').set('Authorization', asking);
    expect((await admin).status).toBe(403);
    const claims = { JWT_ROLE_CLAIMS: 'scope' };
    expect((await read(asking, guarded(claims))).status).toBe(200);
  });
});

describe('a request without a token', () => {
  it('is asked for one, without an error code', async () => {
    for (const header of ['', 'Bearer', 'Digest username="ada"', 'Basic YWRhOnNlY3JldA==']) {
      const response = await read(header);
      expect(response.status).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="everchart"');
    }
    const broken = await read('Bearer two words');
    expect(broken.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });
});

describe('permissions', () => {
  const as = (...roles: string[]): string => provider.bearer({ roles });
  const create = (role: string, of = app) =>
    request(of)
      .post(`${V1}/ehr`)
      .set('Authorization', as(role))
      .then(({ status }) => status);
  const define = (role: string, of = app) =>
    request(of)
      .put(`${V1}/definition/query/org.example::mine/1.0.${String(Math.random()).slice(2, 8)}`)
      .set('Authorization', as(role))
      .type('text/plain')
      .send('SELECT e/ehr_id/value FROM EHR e')
      .then(({ status }) => status);
  const query = (role: string, of = app) =>
    request(of)
      .post(`${V1}/query/aql`)
      .set('Authorization', as(role))
      .send({ q: 'SELECT e/ehr_id/value FROM EHR e' })
      .then(({ status }) => status);
  const administrate = (role: string, of = app) =>
    request(of)
      .get('/rest/admin/status')
      .set('Authorization', as(role))
      .then(({ status }) => status);
  const readAs = (role: string, of = app) => read(as(role), of).then(({ status }) => status);

  it.each([
    ['USER', [200, 200, 201, 200, 403]],
    ['admin', [200, 200, 201, 200, 200]],
    ['READER', [200, 200, 403, 403, 403]],
    ['AUDITOR', [403, 403, 403, 403, 403]],
    ['SURGEON', [403, 403, 403, 403, 403]],
  ])('of %s are those of its role', async (role, expected) => {
    const statuses = [await readAs(role), await query(role), await create(role)];
    expect([...statuses, await define(role), await administrate(role)]).toEqual(expected);
  });

  it('are those of all roles together', async () => {
    const both = provider.bearer({ roles: ['SURGEON', 'READER'] });
    expect((await read(both)).status).toBe(200);
  });

  it('follow the names that the settings give the usual roles', async () => {
    const renamed = guarded({ ROLE_USER: 'clinician', ROLE_ADMIN: 'operator' });
    expect([await create('CLINICIAN', renamed), await administrate('operator', renamed)]).toEqual([201, 200]);
    expect([await create('USER', renamed), await administrate('ADMIN', renamed)]).toEqual([403, 403]);
  });

  it('are what ROLE_PERMISSIONS says, and nothing else', async () => {
    const own = guarded({ ROLE_PERMISSIONS: 'Nurse = read, write; Librarian = define' });
    expect([await readAs('NURSE', own), await create('nurse', own), await define('nurse', own)]).toEqual([
      200, 201, 403,
    ]);
    expect([await define('librarian', own), await query('librarian', own)]).toEqual([200, 403]);
    expect(await readAs('ADMIN', own)).toBe(403);
  });
});
