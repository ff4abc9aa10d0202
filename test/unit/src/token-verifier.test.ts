import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import type { JwtSettings } from '../../../config/settings.js';
import { loadConfig } from '../../../src/settings/config.js';
import { developmentToken, lifetimeSeconds } from '../../../cli/development-token.js';
import { keySet } from '../../../src/identity/key-set.js';
import { tokenVerifier } from '../../../src/identity/token-verifier.js';

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
    const who = { name: 'ada', subject: 'x', issuer: null, clientId: null, person: 'x' };
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

describe('what a provider signs beside access tokens', () => {
  const key = { JWT_SECRET: SECRET };
  const signed = (claims: object, typ?: string | null): string =>
    jwt.sign({ exp: Math.floor(Date.now() / 1000) + 60, sub: 'x', ...claims }, SECRET, {
      ...(typ !== undefined && { header: { alg: 'HS256', typ: typ ?? undefined } }),
    });
  const REFUSED: readonly (readonly [string, object, string?])[] = [
    ['an ID token by its nonce', { nonce: 'n' }],
    ['an ID token by its nonce, with a type that says nothing', { nonce: 'n' }, 'JWT'],
    ['an ID token by its claim typ', { typ: 'ID' }],
    ['an ID token of the hybrid flow', { c_hash: 'x' }],
    ['a refresh token', { typ: 'Refresh' }],
    ['an offline token', { typ: 'Offline' }],
    ['a logout token by its header', {}, 'logout+jwt'],
    ['a logout token by its claim', { typ: 'Logout' }],
    [
      'a logout token by its events',
      { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    ],
    ['a security event', {}, 'secevent+jwt'],
    ['a proof of possession', {}, 'dpop+jwt'],
    ['a type that is no text', { typ: 7 }],
  ];
  it.each(REFUSED)('is refused: %s', async (...[, claims, typ]) => {
    expect(await refusal(key, signed(claims, typ))).toBe('unauthenticated');
  });

  const TAKEN: readonly (readonly [string, object, (string | null)?])[] = [
    ['one without a type', {}, null],
    ['JWT', {}, 'JWT'],
    ['at+jwt with a nonce', { nonce: 'n' }, 'at+jwt'],
    ['application/at+jwt', {}, 'application/AT+JWT'],
    ['that of Keycloak, with a nonce', { typ: 'Bearer', nonce: 'n' }, 'JWT'],
  ];
  it.each(TAKEN)('access tokens are taken: %s', async (...[, claims, typ]) => {
    expect(await refusal(key, signed(claims, typ))).toBe('accepted');
  });

  it('JWT_TYP says which kinds are taken', async () => {
    const strict = { ...key, JWT_TYP: 'at+jwt' };
    expect(await refusal(strict, signed({}, 'at+jwt'))).toBe('accepted');
    expect(await refusal(strict, signed({}, 'JWT'))).toBe('unauthenticated');
    expect(await refusal(strict, signed({}, null))).toBe('unauthenticated');
  });

  it('JWT_MAX_LIFETIME_S caps how long a token is valid', async () => {
    const capped = { ...key, JWT_MAX_LIFETIME_S: '3600' };
    const now = Math.floor(Date.now() / 1000);
    expect(await refusal(key, signed({ exp: 4_102_444_800 }))).toBe('accepted');
    expect(await refusal(capped, signed({ exp: now + 3600, iat: now }))).toBe('accepted');
    expect(await refusal(capped, signed({ exp: now + 3700, iat: now }))).toBe('unauthenticated');
    expect(await refusal(capped, signed({ exp: now + 60, iat: now - 3600 }))).toBe('unauthenticated');
    const untimed = jwt.sign({ exp: now + 3700, sub: 'x' }, SECRET, { noTimestamp: true });
    expect(await refusal(capped, untimed)).toBe('unauthenticated');
  });

  it('a letter that only looks like one of a role makes another role', async () => {
    const roles = ['adm\u0131n', 'u\u017fer', 'Admin'];
    const token = jwt.sign({ roles, sub: 'x' }, SECRET, { expiresIn: 60 });
    const { roles: read } = await tokenVerifier(settings(key))!(token);
    expect(read).toEqual(['ADM\u0131N', 'U\u017fER', 'ADMIN']);
  });
});

describe('development tokens', () => {
  it('are accepted by the server that shares the secret', async () => {
    const jwtSettings = settings({ JWT_SECRET: SECRET, JWT_ISSUER: 'dev', JWT_AUDIENCE: 'cdr' });
    const token = developmentToken(jwtSettings, { user: 'ada', roles: ['ADMIN'], lifetimeSeconds: 60 });
    const who = { name: 'ada', subject: 'ada', issuer: 'dev', clientId: null, person: 'ada' };
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

  async function serve(
    document: unknown,
    status = 200,
    headers: Record<string, string> = {},
  ): Promise<string> {
    fetches = 0;
    server = createServer((_, response) => {
      fetches += 1;
      const type = { 'Content-Type': 'application/json', ...headers };
      response.writeHead(status, type).end(JSON.stringify(document));
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

  /** Until the set was fetched again, which nobody waits for. */
  async function fetchedTimes(times: number): Promise<void> {
    while (fetches < times) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  it.each([
    ['ten minutes', {}, 600_000],
    ['as long as Cache-Control says', { 'Cache-Control': 'public, max-age=120' }, 120_000],
    ['an hour at most', { 'Cache-Control': 'max-age=86400' }, 3_600_000],
    ['a minute at least', { 'Cache-Control': 'max-age=0' }, 60_000],
  ])('is fresh for %s, then fetched in the background: a withdrawn key ends', async (_, headers, fresh) => {
    const document = { keys: [jwk, { ...jwk, kid: 'second' }] };
    const url = await serve(document, 200, headers);
    let time = 0;
    const keys = keySet(url, () => time);
    await keys('first');
    document.keys.shift();
    time = fresh;
    await keys('first');
    expect(fetches).toBe(1);
    time = fresh + 1;
    // Answered with what is known; what comes after that with what was fetched.
    await keys('first');
    await fetchedTimes(2);
    await expect(keys('first')).rejects.toMatchObject({ code: 'unauthenticated' });
    await keys('second');
    expect(fetches).toBe(2);
  });

  it('that nobody asked for a long time is fetched before it is used', async () => {
    const document = { keys: [jwk, { ...jwk, kid: 'second' }] };
    let time = 0;
    const keys = keySet(await serve(document), () => time);
    await keys('first');
    document.keys.shift();
    time = 1_200_001;
    await expect(keys('first')).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is used for an hour beyond its time while the provider does not answer, and no longer', async () => {
    let time = 0;
    const answer = { status: 200 };
    server = createServer((_, response) => {
      response.writeHead(answer.status).end(JSON.stringify({ keys: [jwk] }));
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const keys = keySet(`http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, () => time);
    await keys('first');
    answer.status = 500;
    time = 600_000 + 3_600_000;
    await keys('first');
    time += 1;
    await expect(keys('first')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('gives no key that is not for signatures, and none that cannot be read', async () => {
    const document = {
      keys: [null, 7, { ...jwk, kid: 'enc', use: 'enc' }, { kty: 'RSA', kid: 'broken' }, { ...jwk, kid: 7 }],
    };
    const keys = keySet(await serve(document));
    for (const id of ['enc', 'broken', '7']) {
      await expect(keys(id)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await keys('#4');
  });

  it('that cannot be read makes the server unavailable, not open', async () => {
    const url = await serve({}, 500);
    await expect(keySet(url)('first')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
