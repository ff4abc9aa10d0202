import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import type { JwtSettings } from '../../../config/settings.js';
import { loadConfig } from '../../../src/settings/config.js';
import { developmentToken, lifetimeSeconds } from '../../../cli/development-token.js';
import { keySet, tokenVerifier } from '../../../src/identity/token-verifier.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const OF_X = { subject: 'x', expiresIn: 60 } as const;
/** Of any issuer and for anybody, unless a test says otherwise. */
const ANYBODY = { JWT_ISSUER: 'any', JWT_AUDIENCE: 'any' };

function settings(env: Record<string, string>): JwtSettings {
  return loadConfig({ ...ANYBODY, ...env }).jwt;
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

async function refusal(env: Record<string, string>, token: string): Promise<unknown> {
  return tokenVerifier(settings(env))!(token).then(
    () => 'accepted',
    (error: unknown) => (error as { code: string }).code,
  );
}

describe('bearer tokens', () => {
  it('are not asked for when no key is configured', () => {
    expect(tokenVerifier(settings({}))).toBeNull();
  });

  it('give the user name and the upper-cased roles of every configured claim', async () => {
    const claims = {
      preferred_username: 'ada',
      realm_access: { roles: ['admin'] },
      scope: 'openid user',
      roles: ['Auditor', 7],
      sub: 'x',
    };
    const token = jwt.sign(claims, SECRET, { expiresIn: 60 });
    const user = await tokenVerifier(settings({ JWT_SECRET: SECRET }))!(token);
    const who = { name: 'ada', subject: 'x', issuer: null, clientId: null };
    expect(user).toEqual({ ...who, roles: ['ADMIN', 'AUDITOR'] });
  });

  it('fall back to the subject for the name', async () => {
    const token = jwt.sign({ client_id: 'c' }, SECRET, { subject: 'service-7', expiresIn: 60 });
    expect((await tokenVerifier(settings({ JWT_SECRET: SECRET }))!(token)).name).toBe('service-7');
  });

  it.each([
    ['another secret', jwt.sign({}, `${SECRET}x`, OF_X)],
    ['no expiry', jwt.sign({}, SECRET, { subject: 'x' })],
    ['an expiry in the past', jwt.sign({}, SECRET, { ...OF_X, expiresIn: -60 })],
    ['a start in the future', jwt.sign({}, SECRET, { ...OF_X, expiresIn: 600, notBefore: 300 })],
    ['algorithm none', jwt.sign({}, '', { ...OF_X, algorithm: 'none' })],
    ['an algorithm that is not configured', jwt.sign({}, SECRET, { ...OF_X, algorithm: 'HS512' })],
    ['no subject', jwt.sign({}, SECRET, { expiresIn: 60 })],
    ['a text as payload', jwt.sign('just text', SECRET)],
    ['no form of a token', 'a.b.c'],
  ])('are refused with %s', async (_, token) => {
    expect(await refusal({ JWT_SECRET: SECRET }, token)).toBe('unauthenticated');
  });

  it('are accepted within the clock tolerance only', async () => {
    const token = jwt.sign({}, SECRET, { subject: 'x', expiresIn: -20 });
    expect(await refusal({ JWT_SECRET: SECRET }, token)).toBe('accepted');
    expect(await refusal({ JWT_SECRET: SECRET, JWT_CLOCK_TOLERANCE_S: '5' }, token)).toBe('unauthenticated');
  });

  it('must name the configured issuer and audience', async () => {
    const env = { JWT_SECRET: SECRET, JWT_ISSUER: 'https://id.example.org', JWT_AUDIENCE: 'cdr' };
    const right = { subject: 'x', issuer: 'https://id.example.org', audience: 'cdr', expiresIn: 60 };
    expect(await refusal(env, jwt.sign({}, SECRET, right))).toBe('accepted');
    expect(await refusal(env, jwt.sign({}, SECRET, { ...right, audience: 'shop' }))).toBe('unauthenticated');
    expect(await refusal(env, jwt.sign({}, SECRET, { expiresIn: 60 }))).toBe('unauthenticated');
  });

  it('signed with RS256 or ES256 are checked with the public key', async () => {
    const rs = jwt.sign({}, rsa.privateKey, { ...OF_X, algorithm: 'RS256' });
    const es = jwt.sign({}, ec.privateKey, { ...OF_X, algorithm: 'ES256' });
    expect(await refusal({ JWT_PUBLIC_KEY: pem(rsa.publicKey) }, rs)).toBe('accepted');
    expect(await refusal({ JWT_PUBLIC_KEY: pem(ec.publicKey), JWT_ALGORITHMS: 'ES256' }, es)).toBe(
      'accepted',
    );
    expect(await refusal({ JWT_PUBLIC_KEY: pem(rsa.publicKey) }, es)).toBe('unauthenticated');
  });

  it('cannot pass a public key off as an HMAC secret', async () => {
    const forged = jwt.sign({}, Buffer.from(pem(rsa.publicKey)), { ...OF_X, algorithm: 'HS256' });
    expect(await refusal({ JWT_PUBLIC_KEY: pem(rsa.publicKey) }, forged)).toBe('unauthenticated');
  });
});

describe('development tokens', () => {
  it('are accepted by the server that shares the secret', async () => {
    const jwtSettings = settings({ JWT_SECRET: SECRET, JWT_ISSUER: 'dev', JWT_AUDIENCE: 'cdr' });
    const token = developmentToken(jwtSettings, { user: 'ada', roles: ['ADMIN'], lifetimeSeconds: 60 });
    const who = { name: 'ada', subject: 'ada', issuer: 'dev', clientId: null };
    expect(await tokenVerifier(jwtSettings)!(token)).toEqual({ ...who, roles: ['ADMIN'] });
  });

  it('need a secret', () => {
    const request = { user: 'ada', roles: [], lifetimeSeconds: 60 };
    expect(() => developmentToken(settings({}), request)).toThrow('development tokens need JWT_SECRET');
  });

  it('live as long as they are told', () => {
    expect(['90s', '15m', '1h', '7d'].map(lifetimeSeconds)).toEqual([90, 900, 3600, 604800]);
    expect(() => lifetimeSeconds('soon')).toThrow(/such as 1h/);
  });
});

describe('a JSON Web Key Set', () => {
  let server: Server | null = null;
  let fetches = 0;

  async function serve(document: unknown, status = 200): Promise<string> {
    fetches = 0;
    server = createServer((_, response) => {
      fetches += 1;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  }

  afterEach(async () => {
    await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
    server = null;
  });

  const jwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'first', use: 'sig' };

  it('gives the key that a token names, fetched once', async () => {
    const url = await serve({ keys: [jwk, { kty: 'oct', k: 'AAAA', kid: 'secret' }] });
    const token = jwt.sign({}, rsa.privateKey, { ...OF_X, algorithm: 'RS256', keyid: 'first' });
    const verify = tokenVerifier(settings({ JWT_JWKS_URL: url }))!;
    await Promise.all([verify(token), verify(token), verify(token)]);
    await verify(token);
    expect(fetches).toBe(1);
  });

  it('is fetched again for an unknown key, at most once a minute', async () => {
    const url = await serve({ keys: [jwk] });
    let time = 0;
    const keys = keySet(url, () => time);
    await keys('first');
    await expect(keys('second')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(fetches).toBe(1);
    time = 60_000;
    await expect(keys('second')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(fetches).toBe(2);
  });

  it('that cannot be read makes the server unavailable, not open', async () => {
    const url = await serve({}, 500);
    await expect(keySet(url)('first')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
