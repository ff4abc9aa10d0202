import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import type { Settings } from '../../../config/settings.js';
import { readScope } from '../../../policy/smart-scope.js';
import { providerSource } from '../../../src/identity/provider.js';
import { createLogger } from '../../../src/logger.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import type { Json } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { until } from '../../support/until.js';

useDatabase();

const PATH = '/.well-known/smart-configuration';
let server: Server;
let issuer = '';
let asked: string[] = [];
let answer: (response: ServerResponse) => void = () => undefined;

const discovery = (more: object = {}): object => ({
  issuer,
  jwks_uri: `${issuer}/keys`,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  scopes_supported: ['openid', 'launch/patient'],
  grant_types_supported: ['authorization_code', 'client_credentials'],
  subject_types_supported: ['public'],
  ...more,
});

beforeAll(async () => {
  server = createServer((req, response) => {
    asked.push(req.url ?? '');
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/clinic`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  asked = [];
  answer = (response) => response.end(JSON.stringify(discovery()));
});

const settingsWith = (overrides: Partial<Settings>): Settings =>
  everythingOn({ auth: 'jwt', accessMode: 'off', ...overrides });
const withProvider = (): Settings => settingsWith({ oidc: { issuer, clientId: 'console' } });

describe('the configuration for applications', () => {
  it('says without a token where the APIs are, and what the provider says of itself, which is asked once', async () => {
    const app = testApp({ ...withProvider(), publicBaseUrl: 'https://cdr.example.org' });
    const get = () => request(app).get(PATH).expect(200);
    await Promise.all([get(), get()]);
    const { body, headers } = await get();
    expect(asked).toEqual(['/realms/clinic/.well-known/openid-configuration']);
    expect(headers['content-type']).toMatch(/^application\/json/);
    const { scopes_supported: scopes, ...said } = body as Json;
    expect(said).toEqual({
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      grant_types_supported: ['authorization_code', 'client_credentials'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      capabilities: ['openehr-permission-v1', 'permission-patient', 'permission-user'],
      services: {
        'org.openehr.rest': {
          baseUrl: 'https://cdr.example.org/rest/openehr/v1',
          description: 'openEHR REST API',
          documentation: 'https://cdr.example.org/swagger-ui.html',
          openapi: 'https://cdr.example.org/rest/openapi.json',
        },
      },
    });
    expect(scopes).toEqual(
      expect.arrayContaining(['openid', 'launch/patient', 'patient/composition-**.cruds']),
    );
    const ours = (scopes as string[]).filter((scope) => readScope(scope) !== null);
    expect(ours.map((scope) => readScope(scope))).not.toContain('unreadable');
    expect(ours).toHaveLength(9);
  });

  it('stands below BASE_PATH, and is read by scripts of other origins as everything else', async () => {
    const app = testApp(
      settingsWith({
        basePath: '/cdr',
        corsOrigins: ['https://app.example.org'],
        publicBaseUrl: 'https://ehr.example.org',
      }),
    );
    const got = await request(app).get(`/cdr${PATH}`).set('Origin', 'https://app.example.org').expect(200);
    expect(got.headers['access-control-allow-origin']).toBe('https://app.example.org');
    expect((got.body as Json)['services']['org.openehr.rest'].baseUrl).toBe(
      'https://ehr.example.org/cdr/rest/openehr/v1',
    );
    const other = await request(app).get(`/cdr${PATH}`).set('Origin', 'https://evil.example.org');
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('has the endpoints of the settings, for which nobody is asked, and none where no provider is known', async () => {
    const set = settingsWith({
      oidc: { issuer, clientId: 'console' },
      smartAuthorizationEndpoint: 'https://id.example.org/authorize',
      smartTokenEndpoint: 'https://id.example.org/token',
    });
    expect((await request(testApp(set)).get(PATH).expect(200)).body).toMatchObject({
      issuer,
      authorization_endpoint: 'https://id.example.org/authorize',
      token_endpoint: 'https://id.example.org/token',
      grant_types_supported: ['authorization_code'],
    });
    const none = (
      await request(testApp(settingsWith({})))
        .get(PATH)
        .expect(200)
    ).body as Json;
    expect(Object.keys(none)).toEqual(['scopes_supported', 'capabilities', 'services']);
    expect(asked).toEqual([]);
  });

  it.each([
    ['fails', (response: ServerResponse) => response.writeHead(500).end()],
    ['answers no JSON', (response: ServerResponse) => response.end('<html>')],
    [
      'names another issuer',
      (response: ServerResponse) =>
        response.end(JSON.stringify(discovery({ issuer: 'https://evil.example.org' }))),
    ],
    [
      'sends elsewhere',
      (response: ServerResponse) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
    ],
  ])('is 503 where the provider %s and has never answered, and asks again in a while', async (_, failing) => {
    answer = failing;
    const app = testApp(withProvider());
    const refused = await request(app).get(PATH).expect(503);
    expect(refused.headers['retry-after']).toBe('10');
    await request(app).get(PATH).expect(503);
    expect(asked).toHaveLength(1);
  });

  it('keeps what the provider said while it does not answer', async () => {
    const clock = { now: 0 };
    const source = providerSource(withProvider(), createLogger('silent'), () => clock.now);
    const first = await source();
    answer = (response) => response.writeHead(500).end();
    clock.now += 600_000;
    expect(await source()).toEqual(first);
    await until(() => asked.length === 2);
    answer = (response) => response.end(JSON.stringify(discovery({ token_endpoint: `${issuer}/other` })));
    clock.now += 10_000;
    await source();
    await until(async () => (await source())?.['token_endpoint'] === `${issuer}/other`);
    expect(asked).toHaveLength(3);
  });
});
