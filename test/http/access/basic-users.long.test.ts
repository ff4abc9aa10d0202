import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import {
  HASHES_AT_ONCE,
  HASHES_WAITING,
  ATTEMPTS_PER_USER,
} from '../../../src/identity/password-verifier.js';
import { loadConfig } from '../../../src/settings/config.js';
import { createLogger } from '../../../src/logger.js';
import { createIdentifier } from '../../../src/identity/identifier.js';
import { testApp } from '../../support/app.js';
import { runHere } from '../../support/process/command-line.js';
import { spawnEverchart } from '../../support/process/command.js';
import { useDatabase } from '../../support/database.js';
import { givenEhr, V1 } from '../../support/resources.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, bearer, USER } from '../../support/tokens.js';

useDatabase();

const PASSWORD = 'Grüße, 3 Ärzte: ja';
const folder = mkdtempSync(join(tmpdir(), 'everchart-users-'));
const file = join(folder, 'new-folder', 'users');
let app: RequestListener;
let ehrId = '';

/** `everchart user` as a process of its own, with a password on standard input. */
async function user(args: readonly string[], password = ''): Promise<{ code: number; said: string }> {
  const child = spawnEverchart(['user', ...args], { BASIC_USERS_FILE: file }, { stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin!.on('error', () => undefined).end(password);
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

function guarded(env: Readonly<Record<string, string>> = {}): RequestListener {
  const basic = { AUTH: 'basic', BASIC_USERS_FILE: file, LOG_LEVEL: 'silent', ADMIN_API_ACTIVE: 'true' };
  return testApp(loadConfig({ ...basic, ...env }));
}

const credentials = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
const read = (authorization: string, of = app) =>
  request(of).get(`${V1}/ehr/${ehrId}`).set('Authorization', authorization);
const readAs = (name: string, password: string, of = app) => read(credentials(name, password), of);

beforeAll(async () => {
  expect(await user(['add', 'ada', '--role', 'user', '--password-stdin'], PASSWORD)).toMatchObject({
    code: 0,
  });
  expect(await user(['add', 'root', '--role', 'READER', '--role', 'ADMIN'], `${PASSWORD}\n`)).toMatchObject({
    code: 0,
  });
  app = guarded();
  ehrId = await givenEhr(testApp());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('GET /rest/admin/permissions', () => {
  it('tells whoever may audit who he is, what roles may do and who is known, and nobody else', async () => {
    const ask = (authorization: string, of = app) =>
      request(of).get('/rest/admin/permissions').set('Authorization', authorization);
    const { body, text } = await ask(credentials('root', PASSWORD)).expect(200);
    expect(body).toEqual({
      user: {
        name: 'root',
        roles: ['READER', 'ADMIN'],
        permissions: expect.arrayContaining(['admin', 'audit']),
      },
      roles: expect.arrayContaining([{ role: 'READER', permissions: ['read'] }]),
      users: [
        { name: 'ada', roles: ['USER'] },
        { name: 'root', roles: ['READER', 'ADMIN'] },
      ],
    });
    expect(text).not.toMatch(/scrypt|salt|hash/);
    await ask(credentials('ada', PASSWORD)).expect(403);
    const byToken = testApp(
      loadConfig({
        AUTH: 'jwt',
        JWT_SECRET: TEST_JWT_SECRET,
        LOG_LEVEL: 'silent',
        ADMIN_API_ACTIVE: 'true',
        BASIC_USERS_FILE: file,
      }),
    );
    expect((await ask(ADMIN, byToken).expect(200)).body.users).toBeNull();
    const { user } = (await ask(bearer(['AUDITOR']), byToken).expect(200)).body;
    expect(user).toEqual({ name: 'ada', roles: ['AUDITOR'], permissions: ['audit'] });
  });
});

describe('everchart user', () => {
  it('writes a file that only its owner can read, and no password into it', () => {
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(join(folder, 'new-folder')).mode & 0o777).toString(8)).toBe('700');
    expect(existsSync(`${file}.new`)).toBe(false);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(PASSWORD);
    const [ada, root] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, object>);
    expect(ada).toMatchObject({ name: 'ada', roles: ['USER'] });
    expect(root).toMatchObject({ name: 'root', roles: ['READER', 'ADMIN'] });
    const { scrypt } = ada as { scrypt: { N: number; salt: string } };
    expect(scrypt.N).toBeGreaterThanOrEqual(2 ** 15);
    expect((root as { scrypt: { salt: string } }).scrypt.salt).not.toBe(scrypt.salt);
  });

  it('lists users, and refuses what cannot be a user', async () => {
    const here = (...args: string[]) => runHere('user', ...args, '--file', file);
    expect((await here('list')).stdout).toMatch(/ada +\S* *USER[^]*root +\S* *READER, ADMIN/);
    expect(await here('add', 'eve', '--role', 'audtior')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('did you mean AUDITOR?'),
    });
    expect(await here('add', 'e:ve', '--role', 'user')).toMatchObject({ code: 1 });
    expect(await here('add', 'eve')).toMatchObject({ code: 2 });
    expect(await here('remove', 'eve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no user eve'),
    });
    expect(await user(['add', 'eve', '--role', 'user'], 'short')).toMatchObject({ code: 1 });
    const again = await user(['add', 'ada', '--role', 'admin'], PASSWORD);
    expect(again).toMatchObject({ code: 1, said: expect.stringContaining('--replace') });
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
  });
});

describe('Basic authentication', () => {
  it('lets users do what their roles allow', async () => {
    expect((await readAs('ada', PASSWORD)).status).toBe(200);
    expect((await readAs('ada', PASSWORD.normalize('NFD'))).status).toBe(200);
    const admin = (name: string) =>
      request(app).get('/rest/admin/status').set('Authorization', credentials(name, PASSWORD));
    expect([(await admin('ada')).status, (await admin('root')).status]).toEqual([403, 200]);
  });

  it.each([
    ['a wrong password', credentials('ada', 'wrong password')],
    ['an unknown user', credentials('eve', PASSWORD)],
    ['no password', credentials('ada', '')],
    ['no colon', `Basic ${Buffer.from('ada').toString('base64')}`],
    ['no base64', 'Basic %%%'],
    ['text that is no UTF-8', `Basic ${Buffer.from('ada:Gr\xfc\xdfe', 'latin1').toString('base64')}`],
    ['a token', USER],
    ['nothing', ''],
  ])('refuses %s and asks for name and password', async (_, authorization) => {
    const response = await read(authorization);
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Basic realm="everchart", charset="UTF-8"');
  });

  it('stands beside tokens with AUTH=jwt,basic', async () => {
    const both = guarded({ AUTH: 'jwt,basic', JWT_SECRET: TEST_JWT_SECRET });
    expect((await readAs('ada', PASSWORD, both)).status).toBe(200);
    expect((await read(USER, both)).status).toBe(200);
    const refused = await readAs('ada', 'wrong password', both);
    expect(refused.headers['www-authenticate']).toBe(
      'Bearer realm="everchart", Basic realm="everchart", charset="UTF-8"',
    );
    const bad = await read(`${USER}x`, both);
    expect(bad.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token", Basic /);
    const tokensOnly = guarded({ AUTH: 'jwt', JWT_SECRET: TEST_JWT_SECRET });
    expect((await readAs('ada', PASSWORD, tokensOnly)).status).toBe(401);
  });

  it('opens administration also where the standard API is open', async () => {
    const open = guarded({ AUTH: 'none', JWT_SECRET: TEST_JWT_SECRET });
    expect((await request(open).get(`${V1}/ehr/${ehrId}`)).status).toBe(200);
    for (const [authorization, status] of [
      [credentials('root', PASSWORD), 200],
      [credentials('ada', PASSWORD), 403],
      [ADMIN, 200],
      [USER, 403],
      ['', 401],
    ] as const) {
      const response = await request(open).get('/rest/admin/status').set('Authorization', authorization);
      expect(response.status).toBe(status);
    }
  });

  it('limits wrong passwords by address and user, so that nobody else is locked out', async () => {
    const fresh = guarded();
    expect((await readAs('ada', PASSWORD, fresh)).status).toBe(200);
    for (let attempt = 1; attempt <= ATTEMPTS_PER_USER; attempt += 1)
      expect((await readAs('ada', `guess number ${attempt}`, fresh)).status).toBe(401);
    const limited = await readAs('ada', 'one more guess', fresh);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    // A password that is remembered as right locks nobody out: others behind the same proxy may be guessing.
    expect((await readAs('ada', PASSWORD, fresh)).status).toBe(200);
    expect((await readAs('root', PASSWORD, fresh)).status).toBe(200);
    const identify = createIdentifier(
      loadConfig({ AUTH: 'basic', BASIC_USERS_FILE: file }),
      createLogger('silent'),
    )!;
    const guess = (address: string, password: string) => identify(credentials('ada', password), address);
    for (let attempt = 1; attempt <= ATTEMPTS_PER_USER; attempt += 1)
      await expect(guess(`2001:db8::${attempt}`, `guess ${attempt}`)).rejects.toMatchObject({
        code: 'unauthenticated',
      });
    // The address of an IPv6 client is its /64 network.
    await expect(guess('2001:db8:0:0:ffff::1', PASSWORD)).rejects.toMatchObject({
      code: 'too-many-requests',
    });
    for (const other of ['2001:db8:0:1::1', '::ffff:192.0.2.2', '192.0.2.3'])
      expect((await guess(other, PASSWORD)).name).toBe('ada');
  });

  it('counts guesses that arrive together', async () => {
    const identify = createIdentifier(
      loadConfig({ AUTH: 'basic', BASIC_USERS_FILE: file }),
      createLogger('silent'),
    )!;
    const guesses = Array.from({ length: 3 * ATTEMPTS_PER_USER }, (_, index) =>
      identify(credentials('ada', `guess number ${index}`), '192.0.2.1').catch(
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    const codes = await Promise.all(guesses);
    expect(codes.filter((code) => code === 'unauthenticated')).toHaveLength(ATTEMPTS_PER_USER);
    expect(codes.filter((code) => code === 'too-many-requests')).toHaveLength(2 * ATTEMPTS_PER_USER);
  });

  it('lets few passwords wait, and validates one that many connections send once', async () => {
    const identify = createIdentifier(
      loadConfig({ AUTH: 'basic', BASIC_USERS_FILE: file }),
      createLogger('silent'),
    )!;
    const same = Array.from({ length: 100 }, () => identify(credentials('ada', PASSWORD), '192.0.2.1'));
    expect(new Set((await Promise.all(same)).map(({ name }) => name))).toEqual(new Set(['ada']));
    const places = HASHES_AT_ONCE + HASHES_WAITING;
    const many = Array.from({ length: places + 5 }, (_, index) =>
      identify(credentials(`user-${index}`, PASSWORD), '192.0.2.1').catch((error: unknown) => error),
    );
    const codes = (await Promise.all(many)).map((error) => (error as { code: string }).code);
    expect(codes.filter((code) => code === 'unavailable')).toHaveLength(5);
    expect(codes.filter((code) => code === 'unauthenticated')).toHaveLength(places);
  });

  it('follows the users file without a restart, and lets nobody in when others can read it', async () => {
    const fresh = guarded();
    expect((await readAs('eve', PASSWORD, fresh)).status).toBe(401);
    expect((await user(['add', 'eve', '--role', 'READER'], PASSWORD)).code).toBe(0);
    expect((await readAs('eve', PASSWORD, fresh)).status).toBe(200);
    const other = `${PASSWORD}, really`;
    expect((await user(['add', 'eve', '--role', 'AUDITOR', '--replace'], other)).code).toBe(0);
    expect((await readAs('eve', PASSWORD, fresh)).status).toBe(401);
    expect((await readAs('eve', other, fresh)).status).toBe(403);
    chmodSync(file, 0o640);
    expect((await readAs('ada', PASSWORD, fresh)).status).toBe(503);
    chmodSync(file, 0o600);
    expect((await user(['remove', 'eve'])).code).toBe(0);
    expect((await readAs('eve', other, fresh)).status).toBe(401);
    expect((await readAs('ada', PASSWORD, fresh)).status).toBe(200);
  });
});

describe('a start with a users file', () => {
  const start = (path: string): RequestListener => guarded({ BASIC_USERS_FILE: path });
  const copy = join(folder, 'copy');

  it.each([
    ['that others can read', () => chmodSync(copy, 0o604), /mode 0604\): chmod 600/],
    ['with a line that is no user', () => writeFileSync(copy, '{"name":"ada"}\n'), /line 1/],
    [
      'with a weak hash',
      () => writeFileSync(copy, readFileSync(file, 'utf8').replace('"N":32768', '"N":1024')),
      /line 1/,
    ],
    [
      'that names a user twice',
      () => writeFileSync(copy, readFileSync(file, 'utf8').repeat(2)),
      /repeats a user/,
    ],
    ['that does not exist', () => rmSync(copy), /cannot be read \(ENOENT\)/],
  ])('%s is refused', (_, spoil, reason) => {
    writeFileSync(copy, readFileSync(file), { mode: 0o600 });
    chmodSync(copy, 0o600);
    expect(() => start(copy)).not.toThrow();
    spoil();
    expect(() => start(copy)).toThrow(reason);
  });

  it('of another owner is refused', () => {
    if (process.getuid?.() !== 0) return;
    writeFileSync(copy, readFileSync(file), { mode: 0o600 });
    execFileSync('chown', ['12345', copy]);
    expect(() => start(copy)).toThrow(/belongs to user 12345/);
  });
});

describe('warnings at start', () => {
  const warnings = (env: Record<string, string>): string[] => {
    const lines: string[] = [];
    const log = createLogger('warn', { write: (line: string) => void lines.push(line) });
    createIdentifier(loadConfig(env), log);
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  };

  it('name what is switched off, and passwords without TLS', () => {
    const provider = { JWT_JWKS_URL: 'https://id.example.org/keys' };
    expect(warnings({ ...provider, JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' })).toEqual([]);
    expect(warnings({ ...provider, JWT_ISSUER: 'any', JWT_AUDIENCE: 'any' })).toEqual([
      expect.stringContaining('JWT_ISSUER=any'),
      expect.stringContaining('JWT_AUDIENCE=any'),
    ]);
    const database = { MONGODB_URI: 'mongodb://db.example.org' };
    const basic = { AUTH: 'basic', BASIC_USERS_FILE: file, HOST: '0.0.0.0', ...database };
    expect(warnings({ ...basic, HOST: '127.0.0.1' })).toEqual([]);
    const proxied = { PUBLIC_BASE_URL: 'https://cdr.example.org', TRUSTED_PROXIES: '10.0.0.1' };
    expect(warnings({ ...basic, ...proxied })).toEqual([]);
    for (const address of ['', 'http://cdr.example.org'])
      expect(warnings({ ...basic, PUBLIC_BASE_URL: address })).toEqual([
        expect.stringContaining('PUBLIC_BASE_URL'),
      ]);
  });
});
