import type { RequestListener } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { identityWarnings } from '../../../src/identity/identity-settings.js';
import { createLogger } from '../../../src/logger.js';
import { loadConfig } from '../../../src/settings/config.js';
import { ATTEMPTS_PER_USER } from '../../../src/identity/password-verifier.js';
import { hashPassword } from '../../../src/identity/password.js';
import { changeUsers } from '../../../src/identity/users-file.js';
import { handlerOf, testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { V1 } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();

const folder = mkdtempSync(join(tmpdir(), 'everchart-proxy-'));
const basicUsersFile = join(folder, 'users');
beforeAll(async () => {
  const scrypt = await hashPassword('the right one');
  changeUsers(basicUsersFile, () => new Map([['ada', { name: 'ada', roles: ['USER'], scrypt }]]));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('a proxy that TRUSTED_PROXIES does not name', () => {
  const health = async (app: ReturnType<typeof testApp>) =>
    (await request(app).get('/management/health').set('Authorization', ADMIN)).body as {
      components: { proxy: { status: string; details?: string } };
    };

  it('is told of in health once it has spoken for others', async () => {
    const app = testApp(WITH_ADMIN);
    expect((await health(app)).components.proxy).toEqual({ status: 'UP' });
    await request(app).get(V1).set('X-Forwarded-For', '203.0.113.7');
    const { status, details } = (await health(app)).components.proxy;
    expect(status).toBe('UNKNOWN');
    expect(details).toContain('TRUSTED_PROXIES');
  });

  it('is told of in the log, once', async () => {
    const lines: string[] = [];
    const log = createLogger('warn', { write: (line: string) => void lines.push(line) });
    const handle = handlerOf(testSettings(), log);
    const app: RequestListener = (incoming, answer) => void handle(incoming, answer);
    for (let i = 0; i < 3; i++) await request(app).get(V1).set('X-Forwarded-For', `203.0.113.${i}`);
    const told = lines.filter((line) => line.includes('TRUSTED_PROXIES'));
    expect(told.map((line) => (JSON.parse(line) as { peer: string }).peer)).toEqual([
      expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    ]);
  });

  it('is told of at the start where https ends before the server', () => {
    const told = (publicBaseUrl: string, trustedProxies: string[] = []): string =>
      identityWarnings({ ...testSettings(), publicBaseUrl, trustedProxies }).join();
    expect(told('https://cdr.example.org')).toContain('TRUSTED_PROXIES');
    expect(told('https://cdr.example.org', ['10.0.0.1'])).not.toContain('TRUSTED_PROXIES');
    expect(told('http://127.0.0.1:8080')).not.toContain('TRUSTED_PROXIES');
  });

  it('is nothing to tell of where it is trusted', async () => {
    const app = testApp({ ...WITH_ADMIN, trustedProxies: ['127.0.0.1', '::1'] });
    await request(app).get(V1).set('X-Forwarded-For', '203.0.113.7');
    expect((await health(app)).components.proxy).toEqual({ status: 'UP' });
  });

  it('on the same machine is not spared by the limit of requests', async () => {
    const app = testApp({ rateLimitPerMinute: 3, rateLimitSparesLoopback: true });
    const statuses = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await request(app).options(V1).set('X-Forwarded-For', `203.0.113.${i}`)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await request(app).options(V1)).status).toBe(200);
  });

  it('does not let the wrong passwords of one client lock out who is signed in', async () => {
    const app = testApp({ auth: 'basic', basicUsersFile });
    const signIn = (password: string) => request(app).options(V1).auth('ada', password);
    expect((await signIn('the right one')).status).toBe(200);
    for (let i = 0; i < ATTEMPTS_PER_USER; i++) expect((await signIn(`wrong ${i}`)).status).toBe(401);
    expect((await signIn('wrong again')).status).toBe(429);
    expect((await signIn('the right one')).status).toBe(200);
  });
});

describe('AUTH=none', () => {
  const load = (env: Record<string, string>) => () =>
    loadConfig({ LOCAL_DATABASE: 'embedded', HOST: '0.0.0.0', AUTH: 'none', ...env });

  it('is refused where other machines reach the server, unless that is meant', () => {
    expect(load({})).toThrow('AUTH_NONE_ANYWHERE');
    expect(load({ AUTH_NONE_ANYWHERE: 'true' })().auth).toBe('none');
    expect(load({ HOST: '127.0.0.1' })().auth).toBe('none');
  });
});
