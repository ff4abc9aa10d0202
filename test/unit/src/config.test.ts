import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../../src/settings/config.js';
import { isLoopback } from '../../../src/admission/client-address.js';
import { configurationPage } from '../../../scripts/pages/configuration-page.js';
import { envExample } from '../../../scripts/pages/env-example.js';
import { limitsPage } from '../../../scripts/pages/limits-page.js';
import { PRESENCE_MATTERS, SETTINGS } from '../../../src/settings/setting-list.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';

const PROVIDER = {
  JWT_JWKS_URL: 'https://id.example.org/keys',
  JWT_ISSUER: 'https://id.example.org',
  JWT_AUDIENCE: 'everchart',
};

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

  it('reads what takes two persons; the older name is the word merge, and a word for which nothing waits ends the start', () => {
    expect(loadConfig({})).toMatchObject({ fourEyes: [], fourEyesDays: 30 });
    expect(loadConfig({ MERGE_NEEDS_APPROVAL: 'true' }).fourEyes).toEqual(['merge']);
    expect(loadConfig({ FOUR_EYES: 'finalise, erase', MERGE_NEEDS_APPROVAL: 'true' }).fourEyes).toEqual([
      'merge',
      'erase',
      'finalise',
    ]);
    expect(() => loadConfig({ FOUR_EYES: 'merge,rules' })).toThrow(/FOUR_EYES has unknown words: rules/);
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
    const reachable = { HOST: '0.0.0.0', MONGODB_URI: 'mongodb://db.example.org/' };
    expect(loadConfig({ ...reachable, JWT_SECRET: SECRET }).auth).toBe('jwt');
    expect(() => loadConfig({ ...reachable, AUTH: 'none' })).toThrow(/AUTH_NONE_ANYWHERE=true/);
    expect(loadConfig({ ...reachable, AUTH: 'none', AUTH_NONE_ANYWHERE: 'true' }).auth).toBe('none');
    expect(() => loadConfig(reachable)).toThrow(/AUTH=jwt needs a key/);
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
    expect(loadConfig(PROVIDER).jwt.algorithms).toEqual(['RS256']);
    expect(() => loadConfig({ JWT_SECRET: SECRET, JWT_ALGORITHMS: 'RS256' })).toThrow(/does not fit/);
    expect(() => loadConfig({ JWT_SECRET: SECRET, JWT_ALGORITHMS: 'none' })).toThrow(/unknown words: none/);
  });

  it('takes no unknown word beside all endpoints of management', () => {
    expect(loadConfig({ MANAGEMENT_ENDPOINTS: 'all' }).managementEndpoints).toContain('env');
    expect(() => loadConfig({ MANAGEMENT_ENDPOINTS: 'all,metrisc' })).toThrow(/unknown words: metrisc/);
  });

  it('puts each setting at a place of its own', () => {
    const places = SETTINGS.flatMap(({ place }) => place ?? []);
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  });

  it('takes a local database beyond this machine and in production only when one is named', () => {
    const beyond = { HOST: '0.0.0.0', AUTH: 'none', AUTH_NONE_ANYWHERE: 'true' };
    const production = { NODE_ENV: 'production' };
    const asked = /MONGODB_URI is empty while .*set LOCAL_DATABASE to embedded or mongod/;
    for (const env of [beyond, production]) {
      for (const unnamed of [{}, { LOCAL_DATABASE: '' }, { LOCAL_DATABASE: 'auto' }]) {
        expect(() => loadConfig({ ...env, ...unnamed })).toThrow(asked);
      }
      expect(loadConfig({ ...env, LOCAL_DATABASE: 'embedded' }).database.localDatabase).toBe('embedded');
      expect(loadConfig({ ...env, LOCAL_DATABASE: 'mongod' }).database.localDatabase).toBe('mongod');
      expect(() => loadConfig({ ...env, MONGODB_URI: 'mongodb://db.example.org/' })).not.toThrow();
    }
    expect(() => loadConfig({ ...beyond, AUTH: '', ...production })).toThrow(
      /2 problem[^]*AUTH=jwt needs a key[^]*HOST 0\.0\.0\.0 can be reached from other machines and NODE_ENV is production/,
    );
  });

  it('asks for issuer and audience beside the key of an identity provider, by name', () => {
    const { JWT_JWKS_URL } = PROVIDER;
    expect(() => loadConfig({ JWT_JWKS_URL, JWT_SECRET: 'short' })).toThrow(
      /4 problem[^]*only one of[^]*32 bytes[^]*JWT_ISSUER is needed[^]*JWT_AUDIENCE is needed/,
    );
    expect(() => loadConfig({ ...PROVIDER, JWT_AUDIENCE: '' })).toThrow(
      /1 problem[^]*JWT_AUDIENCE is needed/,
    );
    const { jwt } = loadConfig({ JWT_JWKS_URL, JWT_ISSUER: 'any', JWT_AUDIENCE: 'any' });
    expect(jwt).toMatchObject({ issuer: 'any', audience: 'any' });
    expect(loadConfig({ JWT_SECRET: SECRET }).jwt).toMatchObject({ issuer: null, audience: null });
  });

  it('takes a key set over http from this machine only', () => {
    const from = (JWT_JWKS_URL: string) => () => loadConfig({ ...PROVIDER, JWT_JWKS_URL });
    expect(from('http://id.example.org/keys')).toThrow(/JWT_JWKS_URL must begin with https/);
    expect(from('http://localhost.example.org/keys')).toThrow(/https/);
    for (const host of ['127.0.0.1:9', 'localhost', '[::1]:9'])
      expect(from(`http://${host}/keys`)).not.toThrow();
  });

  it('gives roles the permissions that ROLE_PERMISSIONS names, and says which word was meant', () => {
    const of = (env: Record<string, string>) => loadConfig(env).rolePermissions;
    const all = ['read', 'write', 'define', 'draft', 'audit', 'admin', 'commit_for_others', 'write_lenient'];
    expect(of({ ROLE_USER: 'nurse', ROLE_ADMIN: 'root' })).toEqual({
      NURSE: ['read', 'write', 'define', 'draft'],
      ROOT: all,
      AUDITOR: ['audit'],
      READER: ['read'],
    });
    expect(of({ ROLE_PERMISSIONS: 'nurse=read, write; ROOT=*;' })).toEqual({
      NURSE: ['read', 'write'],
      ROOT: all,
    });
    // Who may restore is named.
    expect(of({ ROLE_PERMISSIONS: 'MOVER=*,restore' })).toEqual({ MOVER: [...all, 'restore'] });
    expect(() => of({ ROLE_PERMISSIONS: 'NURSE=read,wirte' })).toThrow(
      /ROLE_PERMISSIONS: wirte is no permission, did you mean write\?/,
    );
    for (const malformed of ['NURSE', '=read', 'A=read=write', ';'])
      expect(() => of({ ROLE_PERMISSIONS: malformed })).toThrow(/ROLE_PERMISSIONS/);
  });

  it('asks for a users file with Basic authentication, and for users where committers must be', () => {
    expect(() => loadConfig({ AUTH: 'basic' })).toThrow(/AUTH=basic needs BASIC_USERS_FILE/);
    expect(() => loadConfig({ AUTH: 'jwt,basic' })).toThrow(/2 problem[^]*needs a key[^]*BASIC_USERS_FILE/);
    const both = loadConfig({ AUTH: 'basic, jwt', JWT_SECRET: SECRET, BASIC_USERS_FILE: 'users' });
    expect(both).toMatchObject({ auth: 'jwt,basic', basicUsersFile: 'users' });
    expect(loadConfig({ ADMIN_API_ACTIVE: 'true', BASIC_USERS_FILE: 'users' }).adminApiActive).toBe(true);
    expect(() => loadConfig({ COMMITTER_MUST_BE_USER: 'true' })).toThrow(/COMMITTER_MUST_BE_USER=true needs/);
    expect(() => loadConfig({ QUERY_OWNERS: 'true' })).toThrow(/QUERY_OWNERS=true needs users/);
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
