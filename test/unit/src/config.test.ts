import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { isLoopback, loadConfig } from '../../../src/config.js';
import { configurationPage } from '../../../src/configuration-page.js';
import { envExample } from '../../../src/env-example.js';
import { limitsPage } from '../../../src/limits-page.js';
import { PRESENCE_MATTERS, SETTINGS } from '../../../src/setting-list.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';

describe('configuration', () => {
  it('is complete without any variable', () => {
    const settings = loadConfig({});
    expect(settings).toMatchObject({ host: '127.0.0.1', port: 8080, systemId: 'local.cdr', auth: 'none' });
    expect(settings.aql).toMatchObject({ maxFetch: null, timeoutMs: 30000, maxConcurrent: 4 });
    expect(settings.database.embeddedDataDir).toBe('./data/mongodb');
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it('reads an empty variable as its default', () => {
    expect(loadConfig({ PORT: '', AUTH: '', AQL_MAX_FETCH: '', ADMIN_API_ACTIVE: '' })).toEqual(
      loadConfig({}),
    );
  });

  it('reports every problem at once', () => {
    const attempt = (): unknown =>
      loadConfig({ PORT: 'many', LOG_LEVEL: 'loud', AQL_TIMEOUT_MS: '0', DEFAULT_TIMEZONE: 'Mars/Olympus' });
    expect(attempt).toThrow(/4 problem[^]*PORT[^]*AQL_TIMEOUT_MS[^]*DEFAULT_TIMEZONE[^]*LOG_LEVEL/);
  });

  it('takes an empty variable as unset, whichever it is', () => {
    for (const { name } of SETTINGS)
      expect([name, loadConfig({ [name]: '' })]).toEqual([name, loadConfig({})]);
  });

  it('reports malformed settings, unreadable key files and contradictions in one go', () => {
    const attempt = (): unknown =>
      loadConfig({
        PORT: 'many',
        DEFAULT_TIMEZONE: 'Mars/Olympus',
        TRUSTED_PROXIES: '10.0.0.1, bogus, 10.0.0.0/99',
        JWT_SECRET: 'short',
        JWT_PUBLIC_KEY: '/nowhere/key.pem',
      });
    expect(attempt).toThrow(/5 problem/);
    expect(attempt).toThrow('DEFAULT_TIMEZONE must be UTC, ±hh:mm or an IANA name such as Europe/Berlin');
    expect(attempt).toThrow('TRUSTED_PROXIES: bogus, 10.0.0.0/99 is neither an address nor a CIDR block');
    expect(attempt).toThrow('JWT_PUBLIC_KEY is neither PEM text nor a readable file');
    expect(attempt).toThrow('JWT_SECRET must have at least 32 bytes');
    expect(attempt).not.toThrow(/failed custom validation/);
  });

  it('does not blame a malformed setting twice', () => {
    const attempt = (): unknown => loadConfig({ AUTH: 'jwt', JWT_JWKS_URL: 'id.example.org' });
    expect(attempt).toThrow(/1 problem.*\n {2}JWT_JWKS_URL must be a valid uri/);
    expect(() => loadConfig({ JWT_PUBLIC_KEY: '-----BEGIN PUBLIC KEY-----\nbm8=\n' })).toThrow(
      /JWT_PUBLIC_KEY holds no public key in PEM form/,
    );
  });

  it('serves management on the port of the API or on another one', () => {
    expect(loadConfig({}).managementPort).toBeNull();
    expect(loadConfig({ MANAGEMENT_PORT: '9090' }).managementPort).toBe(9090);
    expect(() => loadConfig({ PORT: '9090', MANAGEMENT_PORT: '9090' })).toThrow(
      /MANAGEMENT_PORT must differ from PORT/,
    );
  });

  it('does not refuse what Kubernetes makes for a Service named like a setting', () => {
    expect(loadConfig({ MANAGEMENT_PORT: 'tcp://10.0.0.11:8080' }).managementPort).toBeNull();
    expect(() => loadConfig({ MANAGEMENT_PORT: 'tcp' })).toThrow(/MANAGEMENT_PORT/);
  });

  it('asks for tokens as soon as the server can be reached from elsewhere', () => {
    expect(loadConfig({ HOST: '0.0.0.0', JWT_SECRET: SECRET }).auth).toBe('jwt');
    expect(loadConfig({ HOST: '0.0.0.0', AUTH: 'none' }).auth).toBe('none');
    expect(() => loadConfig({ HOST: '0.0.0.0' })).toThrow(/AUTH=jwt needs a key/);
    expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].every(isLoopback)).toBe(true);
    expect(isLoopback('127.0.0.1.example.org')).toBe(false);
  });

  it('refuses an admin API without a key, two kinds of key, and short secrets', () => {
    expect(() => loadConfig({ ADMIN_API_ACTIVE: 'true' })).toThrow(/ADMIN_API_ACTIVE=true needs a key/);
    expect(() => loadConfig({ JWT_SECRET: SECRET, JWT_JWKS_URL: 'https://id.example.org/keys' })).toThrow(
      /only one/,
    );
    expect(() => loadConfig({ JWT_SECRET: 'short' })).toThrow(/at least 32 bytes/);
  });

  it('refuses algorithms that do not fit the key, and none', () => {
    expect(loadConfig({ JWT_SECRET: SECRET }).jwt.algorithms).toEqual(['HS256']);
    expect(loadConfig({ JWT_JWKS_URL: 'https://id.example.org/keys' }).jwt.algorithms).toEqual(['RS256']);
    expect(() => loadConfig({ JWT_SECRET: SECRET, JWT_ALGORITHMS: 'RS256' })).toThrow(/does not fit/);
    expect(() => loadConfig({ JWT_SECRET: SECRET, JWT_ALGORITHMS: 'none' })).toThrow(/unknown words: none/);
  });

  it('equals .env.example and docs/configuration.md, key by key', () => {
    const file = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
    expect(file('.env.example')).toBe(envExample());
    expect(file('docs/configuration.md')).toBe(configurationPage());
    expect(file('docs/limits.md')).toBe(limitsPage());
  });

  it('leaves empty in .env.example what matters by being set at all: a copy of it changes nothing', () => {
    const lines = envExample().split('\n');
    for (const name of PRESENCE_MATTERS) expect(lines).toContain(`${name}=`);
    const copy = Object.fromEntries(
      lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(/=(.*)/s, 2)),
    ) as Record<string, string>;
    expect(Object.keys(copy)).toEqual(SETTINGS.map(({ name }) => name));
    expect(loadConfig(copy)).toEqual(loadConfig({}));
  });
});
