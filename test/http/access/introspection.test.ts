import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { pino } from 'pino';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { introspector, INACTIVE_PER_ADDRESS } from '../../../src/identity/introspection.js';
import { createLogger } from '../../../src/logger.js';
import { handlerOf, testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { startIntrospection, type IntrospectionServer } from '../../support/introspection.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { until } from '../../support/until.js';

useDatabase();

let provider: IntrospectionServer;
let app: ReturnType<typeof testApp>;
let ehr = '';
const open = testApp();
const jwtSettings = loadConfig({ JWT_ISSUER: 'https://id.example.org', JWT_AUDIENCE: 'everchart' }).jwt;
const ACTIVE = {
  ...{ active: true, sub: 'user-1', username: 'ada', client_id: 'app-1', roles: ['USER'] },
  ...{ aud: ['everchart', 'other'], token_type: 'Bearer' },
};
const soon = (seconds = 600): number => Math.floor(Date.now() / 1000) + seconds;

const read = (token: string, on = app) =>
  request(on).get(`${V1}/ehr/${ehr}`).set('Authorization', `Bearer ${token}`);

function known(token: string, more: object = {}): string {
  provider.tokens.set(token, { ...ACTIVE, exp: soon(), ...more });
  return token;
}

function settingsOf(overrides: object = {}) {
  const { settings: introspection } = provider;
  return everythingOn({ auth: 'jwt', accessMode: 'off', jwt: jwtSettings, introspection, ...overrides });
}

beforeAll(async () => {
  provider = await startIntrospection();
  await givenTemplate(open);
  ehr = await givenEhr(open);
});
afterAll(() => provider.close());
beforeEach(() => {
  provider.asked.length = 0;
  provider.tokens.clear();
  provider.answer = null;
  provider.before = () => Promise.resolve();
  app = testApp(settingsOf());
});

describe('a token that only its provider can read', () => {
  it('is asked for once, as the client of the settings, and is remembered', async () => {
    const token = known('opaque-1');
    for (let count = 0; count < 3; count += 1) await read(token).expect(200);
    const credentials = Buffer.from('everchart%3Acdr:a+secret+%26+more').toString('base64');
    expect(provider.asked).toEqual([{ token, authorization: `Basic ${credentials}`, hint: 'access_token' }]);
  });

  it('is asked for once by many requests at the same time', async () => {
    const token = known('opaque-many');
    let answered: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answered = resolve));
    provider.before = () => held;
    const reading = Array.from({ length: 8 }, () => read(token).then(({ status }) => status));
    await until(() => provider.asked.length > 0);
    answered();
    expect(new Set(await Promise.all(reading))).toEqual(new Set([200]));
    expect(provider.asked).toHaveLength(1);
  });

  it('that is not active is 401', async () => {
    const refused = await read('unknown').expect(401);
    expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect((refused.body as Json).message).toBe('the bearer token is not valid');
  });

  it.each([
    ['is over', { exp: 1_000_000_000 }],
    ['is not yet valid', { nbf: soon(3600) }],
    ['was made in the future', { iat: soon(3600) }],
    ['has no time', { exp: 'tomorrow' }],
    ['is of another issuer', { iss: 'https://other.example.org' }],
    ['is for somebody else', { aud: 'other' }],
    ['is for nobody', { aud: undefined }],
    ['is none of access', { typ: 'Refresh' }],
    ['is bound to a key', { token_type: 'DPoP' }],
    ['names nobody', { sub: undefined }],
    ['says active otherwise', { active: 'true' }, 503],
  ])('that %s is refused', async (_, more, status = 401) => {
    await read(known('opaque-wrong', more)).expect(status);
  });

  it('gives name, roles and scopes as a JWT does', async () => {
    const other = await givenEhr(open);
    await givenComposition(open, ehr);
    const token = known('opaque-patient', { scope: 'openid patient/composition-*.rs', ehrId: ehr });
    await read(token).expect(200);
    const ask = (path: string) => request(app).get(`${V1}${path}`).set('Authorization', `Bearer ${token}`);
    await ask(`/ehr/${other}`).expect(404);
    const q = encodeURIComponent('SELECT DISTINCT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c');
    expect(((await ask(`/query/aql?q=${q}`).expect(200)).body as Json)['rows']).toEqual([[ehr]]);
    const confused = known('opaque-confused', { scope: 'user/composition-*.r', organisation: ['a', 'b'] });
    const before = provider.asked.length;
    for (let count = 0; count < 2; count += 1)
      expect(((await read(confused).expect(401)).body as Json).message).toContain('organisation has two');
    expect(provider.asked).toHaveLength(before + 1);
    await read(known('opaque-reader', { roles: ['STRANGER'] })).expect(403);
  });

  it('is not asked for where it is a JWT that is checked here, nor where it is no token', async () => {
    const own = testApp(
      settingsOf({ jwt: { ...jwtSettings, ...loadConfig({ JWT_SECRET: TEST_JWT_SECRET }).jwt } }),
    );
    const signed = (secret: string) =>
      jwt.sign({ roles: ['USER'] }, secret, { subject: 'ada', expiresIn: 60 });
    await read(signed(TEST_JWT_SECRET), own).expect(200);
    await read(signed(`${TEST_JWT_SECRET}x`), own).expect(401);
    await read('no token{}', own).expect(401);
    expect(provider.asked).toEqual([]);
    await read(known('opaque-beside'), own).expect(200);
    expect(provider.asked).toHaveLength(1);
  });

  it.each([
    ['fails', (response) => response.writeHead(500).end('{}')],
    ['refuses this server', (response) => response.writeHead(401).end('{}')],
    ['answers no JSON', (response) => response.end('<html>')],
    ['answers something else', (response) => response.end('[]')],
    ['sends elsewhere', (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
    ['says too much', (response) => response.end(JSON.stringify({ ...ACTIVE, more: 'x'.repeat(70_000) }))],
    ['breaks off', (response) => response.destroy()],
  ] as [string, NonNullable<IntrospectionServer['answer']>][])(
    'is 503 with Retry-After while the provider %s, and is asked for again',
    async (_, answer) => {
      const lines: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
      const handle = handlerOf(settingsOf(), log);
      const logged = (...all: Parameters<typeof handle>) => void handle(...all);
      const token = known('opaque-and-secret');
      provider.answer = answer;
      const refused = await read(token, logged).expect(503);
      expect(refused.headers['retry-after']).toBe('10');
      await read(token, logged).expect(503);
      expect(lines.filter((line) => line.includes('introspect'))).toHaveLength(1);
      expect(lines.join()).not.toMatch(/opaque-and-secret|a secret/);
      provider.answer = null;
      await read(token, logged).expect(200);
    },
  );

  it('is 429 after many that are not active, by address, and one that is remembered is taken all the same', async () => {
    const token = known('opaque-good');
    await read(token).expect(200);
    for (let count = 0; count < INACTIVE_PER_ADDRESS; count += 1) await read(`bad-${count}`).expect(401);
    const refused = await read('bad-more').expect(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await read(token).expect(200);
    expect(provider.asked).toHaveLength(INACTIVE_PER_ADDRESS + 1);
  });
});

describe('an answer of introspection', () => {
  const asked = (): number => provider.asked.length;
  const at = () => {
    const clock = { now: 2_000_000_000_000 };
    const { settings } = provider;
    const log = createLogger('silent');
    const verify = introspector({ settings, jwt: jwtSettings, claims: null, log, now: () => clock.now });
    return {
      clock,
      check: (token: string) =>
        verify(token, '192.0.2.1').then(
          () => 'taken',
          () => 'refused',
        ),
    };
  };
  const ends = (afterMs: number) => ({ exp: (2_000_000_000_000 + afterMs) / 1000 });

  it.each([
    ['a minute', ends(3_600_000), 60_000, 'taken'],
    ['as long as the token', ends(20_000), 20_000, 'refused'],
    ['a minute, of a token that says no end,', { exp: undefined }, 60_000, 'taken'],
  ])('counts for %s', async (_, more, ms, then) => {
    const { clock, check } = at();
    const token = known('opaque-timed', more);
    expect([await check(token), asked()]).toEqual(['taken', 1]);
    clock.now += ms - 1;
    expect([await check(token), asked()]).toEqual(['taken', 1]);
    clock.now += 1;
    expect([await check(token), asked()]).toEqual([then, 2]);
  });

  it('that a token was withdrawn is heard within a minute, and that it is there again within ten seconds', async () => {
    const { clock, check } = at();
    const token = known('opaque-withdrawn', ends(3_600_000));
    expect(await check(token)).toBe('taken');
    provider.tokens.delete(token);
    clock.now += 60_000;
    expect([await check(token), await check(token), asked()]).toEqual(['refused', 'refused', 2]);
    known(token, ends(3_600_000));
    clock.now += 10_000;
    expect([await check(token), asked()]).toEqual(['taken', 3]);
  });
});

describe('the settings of introspection', () => {
  const URL_ = 'https://id.example.org/introspect';
  const all = {
    ...{ AUTH: 'jwt', JWT_ISSUER: 'any', JWT_AUDIENCE: 'everchart' },
    ...{ INTROSPECTION_URL: URL_, INTROSPECTION_CLIENT_ID: 'cdr', INTROSPECTION_CLIENT_SECRET: 'hush' },
  };

  it('are enough to know users', () => {
    expect(loadConfig(all).introspection).toEqual({ url: URL_, clientId: 'cdr', clientSecret: 'hush' });
    expect(loadConfig({}).introspection).toBeNull();
  });

  it.each([
    [{ INTROSPECTION_URL: 'http://id.example.org/introspect' }, 'INTROSPECTION_URL must begin with https'],
    [{ INTROSPECTION_URL: 'https://a:b@id.example.org/' }, 'INTROSPECTION_URL must not hold a name'],
    [{ INTROSPECTION_URL: 'ftp://id.example.org/' }, 'INTROSPECTION_URL must be a valid uri'],
    [{ INTROSPECTION_URL: '' }, 'set together or not at all'],
    [{ INTROSPECTION_CLIENT_SECRET: '' }, 'set together or not at all'],
    [{ JWT_AUDIENCE: '' }, 'JWT_AUDIENCE is needed with INTROSPECTION_URL'],
    [{ JWT_ISSUER: '' }, 'JWT_ISSUER is needed with INTROSPECTION_URL'],
  ])('that contradict each other are refused: %j', (change, message) => {
    const read = () => loadConfig({ ...all, ...change });
    expect(read).toThrow(message);
    expect(read).not.toThrow('hush');
  });
});
