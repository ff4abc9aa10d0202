import { describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp } from '../../support/app.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';
const { jwt: jwtSettings } = loadConfig({ JWT_SECRET: SECRET });
const withTokens = { auth: 'jwt', jwt: jwtSettings } as const;

function bearer(claims: object, expiresIn = 60): string {
  return `Bearer ${jwt.sign(claims, SECRET, { subject: 'ada', expiresIn })}`;
}

describe('OPTIONS of the base', () => {
  it('tells what this server is, below both prefixes', async () => {
    for (const path of ['/rest/openehr/v1', '/rest/openehr/v1/', '/v1']) {
      const response = await request(testApp()).options(path);
      expect(response.status).toBe(200);
      expect(response.headers.allow).toContain('OPTIONS');
      expect(response.body).toMatchObject({
        solution: 'everchart',
        vendor: 'everchart',
        restapi_specs_version: '1.0.3',
        conformance_profile: 'STANDARD',
        endpoints: ['/ehr', '/definition', '/query'],
      });
    }
  });

  it('has no alias when it is switched off', async () => {
    expect((await request(testApp({ apiAliasV1: false })).options('/v1')).status).toBe(404);
  });
});

describe('a path or method that is not there', () => {
  it('answers 404 with the error body', async () => {
    const response = await request(testApp()).get('/rest/openehr/v1/nowhere/at/all/');
    expect(response.status).toBe(404);
    expect(response.body).toEqual({
      error: 'Not Found',
      message: 'No resource found at path: rest/openehr/v1/nowhere/at/all',
      code: 'not-found',
      request_id: response.headers['x-request-id'],
    });
  });

  it('answers in XML when only XML is acceptable', async () => {
    const response = await request(testApp()).get('/nowhere').set('Accept', 'application/xml');
    expect(response.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(response.text).toMatch(
      /^<\?xml[^>]*\?>\s*<error><error>Not Found<\/error><message>No resource found at path: nowhere<\/message><code>not-found<\/code><request_id>[0-9a-f-]{36}<\/request_id><\/error>\s*$/,
    );
  });

  it('is told only to those who may ask', async () => {
    expect((await request(testApp(withTokens)).get('/rest/openehr/v1/nowhere')).status).toBe(401);
    expect((await request(testApp(withTokens)).delete('/rest/status')).status).toBe(401);
    const response = await request(testApp()).delete('/rest/status');
    expect(response.status).toBe(405);
    expect(response.headers.allow).toContain('GET');
    expect(response.body.error).toBe('Method Not Allowed');
  });

  it('answers 501 for methods that the server does not know', async () => {
    const response = await request(testApp()).propfind('/rest/status');
    expect(response.status).toBe(501);
    expect(response.body.message).toBe(
      'The current operation is not supported by this server. Please contact your administrator.',
    );
  });
});

describe('tokens on the standard API', () => {
  const path = '/rest/status';

  it('are ignored in any form with AUTH=none', async () => {
    expect((await request(testApp()).get(path).set('Authorization', 'Basic nonsense')).status).toBe(200);
  });

  it.each([
    ['no token', undefined, 'Bearer realm="everchart"'],
    ['another scheme', 'Basic YTpi', 'Bearer realm="everchart"'],
    ['a token that ended', bearer({ roles: ['USER'] }, -120), 'Bearer error="invalid_token"'],
    ['no token at all after the scheme', 'Bearer ', 'Bearer realm="everchart"'],
  ])('answer 401 with %s', async (_, header, challenge) => {
    const call = request(testApp(withTokens)).get(path);
    const response = await (header === undefined ? call : call.set('Authorization', header));
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe(challenge);
    expect(response.body.error).toBe('Unauthorized');
  });

  it('answer 403 without a role and 200 with the user or the admin role', async () => {
    const status = async (claims: object): Promise<number> =>
      (await request(testApp(withTokens)).get(path).set('Authorization', bearer(claims))).status;
    expect(await status({ roles: ['SURGEON'] })).toBe(403);
    expect(await status({ roles: ['USER'] })).toBe(200);
    expect(await status({ realm_access: { roles: ['admin'] } })).toBe(200);
    expect(await status({ scope: 'openid user' })).toBe(403);
  });
});

describe('/rest/status', () => {
  it('tells versions as JSON and as XML', async () => {
    const json = await request(testApp()).get('/rest/status');
    expect(Object.keys(json.body)).toEqual([
      'version',
      'openehr_rm_version',
      'openehr_rest_version',
      'node_version',
      'os_version',
      'mongodb_version',
    ]);
    const xml = await request(testApp()).get('/rest/status').set('Accept', 'application/xml');
    expect(xml.text).toContain('<status><version>');
    expect((await request(testApp()).get('/rest/status').set('Accept', 'image/png')).status).toBe(406);
  });

  it('is 404 when switched off', async () => {
    expect((await request(testApp({ statusEndpoint: false })).get('/rest/status')).status).toBe(404);
  });
});

describe('request ids', () => {
  it('are made by the server, whether the client gives one or not', async () => {
    const ids = new Set<unknown>();
    for (const given of ['trace-1.a', 'trace-1.a', 'trace-2']) {
      const { headers } = await request(testApp()).get('/rest/status').set('X-Request-Id', given);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      ids.add(headers['x-request-id']);
    }
    expect(ids.size).toBe(3);
    const made = await request(testApp()).get('/rest/status').set('X-Request-Id', 'a b<script>');
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});
