import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../../src/config.js';
import { isLoopback } from '../../../src/loopback.js';
import { configurationPage } from '../../../src/configuration-page.js';
import { envExample } from '../../../src/env-example.js';

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
  });
});
