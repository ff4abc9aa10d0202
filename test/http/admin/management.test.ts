import { describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { useDatabase } from '../../support/database.js';
import { testApp } from '../../support/app.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';
const all = loadConfig({ JWT_SECRET: SECRET, MANAGEMENT_ENDPOINTS: 'all' });
const withKey = { jwt: all.jwt, managementEndpoints: all.managementEndpoints };
const admin = `Bearer ${jwt.sign({ roles: ['ADMIN'] }, SECRET, { subject: 'ada', expiresIn: 60 })}`;
const user = `Bearer ${jwt.sign({ roles: ['USER'] }, SECRET, { subject: 'ada', expiresIn: 60 })}`;

useDatabase();

function get(path: string, token?: string): request.Test {
  const call = request(testApp(withKey)).get(`/management${path}`);
  return token === undefined ? call : call.set('Authorization', token);
}

describe('management', () => {
  it('answers liveness and readiness to everyone', async () => {
    for (const path of ['/health/liveness', '/health/readiness']) {
      const response = await request(testApp()).get(`/management${path}`);
      expect([response.status, response.body]).toEqual([200, { status: 'UP' }]);
    }
  });

  it('asks for the admin role even when the standard API is open', async () => {
    for (const path of ['', '/health', '/info', '/env', '/metrics', '/prometheus', '/loggers']) {
      expect([path, (await get(path)).status]).toEqual([path, 401]);
      expect([path, (await get(path, user)).status]).toEqual([path, 403]);
      expect([path, (await get(path, admin)).status]).toEqual([path, 200]);
    }
  });

  it('says whether it is up, and no more, where nobody could say who he is: as it is started first', async () => {
    const answer = await request(testApp()).get('/management/health').set('Authorization', admin);
    expect([answer.status, answer.body]).toEqual([200, { status: 'UP' }]);
  });

  it('is 401 for everyone when no key is configured, and 404 where an endpoint is not enabled', async () => {
    const some = testApp({ managementEndpoints: ['health', 'info'] });
    expect((await request(some).get('/management/info').set('Authorization', admin)).status).toBe(401);
    expect((await request(testApp()).get('/management/env')).status).toBe(404);
    expect((await request(testApp({ managementEndpoints: [] })).get('/management/health')).status).toBe(404);
  });

  it('lets any role in with PRIVATE and everyone with PUBLIC', async () => {
    const open = (managementAccess: 'PRIVATE' | 'PUBLIC') => testApp({ ...withKey, managementAccess });
    expect((await request(open('PRIVATE')).get('/management/info').set('Authorization', user)).status).toBe(
      200,
    );
    expect((await request(open('PRIVATE')).get('/management/info')).status).toBe(401);
    expect((await request(open('PUBLIC')).get('/management/info')).status).toBe(200);
  });

  it('shows the database to administrators only', async () => {
    expect((await get('/health', admin)).body).toEqual({
      status: 'UP',
      components: { clock: { status: 'UP' }, db: { status: 'UP' }, proxy: { status: 'UP' } },
    });
  });

  it('says what was built, and when this process was started', async () => {
    const { body } = await get('/info', admin);
    const build = { name: 'everchart', version: expect.stringMatching(/^\d+\.\d+\.\d+/) };
    expect(body).toEqual({ build, started: expect.any(String) });
    expect(Date.parse(body.started as string)).toBeLessThanOrEqual(Date.now());
  });

  it('masks whatever may be a secret', async () => {
    const { text } = await get('/env', admin);
    expect(text).toContain('"secret":"******"');
    expect(text).not.toContain(SECRET);
  });

  it('lists metrics, shows one with its tags, and gives Prometheus text', async () => {
    const app = testApp(withKey);
    await request(app).get('/management/health/liveness');
    const list = await request(app).get('/management/metrics').set('Authorization', admin);
    expect(list.body.names).toContain('http_server_requests_seconds');
    const path = '/management/metrics/http_server_requests_seconds';
    const one = await request(app).get(`${path}?tag=method:GET`).set('Authorization', admin);
    expect(one.body).toMatchObject({ name: 'http_server_requests_seconds', baseUnit: 'seconds' });
    expect(one.body.measurements.map((entry: { statistic: string }) => entry.statistic)).toContain('COUNT');
    expect(one.body.availableTags).toContainEqual({ tag: 'method', values: ['GET'] });
    expect((await request(app).get('/management/metrics/nothing').set('Authorization', admin)).status).toBe(
      404,
    );
    const text = await request(app).get('/management/prometheus').set('Authorization', admin);
    expect(text.headers['content-type']).toContain('version=0.0.4');
    expect(text.text).toContain('http_server_requests_seconds_count{');
  });

  it('shows and changes log levels', async () => {
    const app = testApp(withKey);
    const post = (name: string, body: object) =>
      request(app).post(`/management/loggers/${name}`).set('Authorization', admin).send(body);
    expect((await post('ROOT', { configuredLevel: 'DEBUG' })).status).toBe(204);
    const view = await request(app).get('/management/loggers/ROOT').set('Authorization', admin);
    expect(view.body).toEqual({ configuredLevel: 'DEBUG', effectiveLevel: 'DEBUG' });
    expect((await post('ROOT', { configuredLevel: 'LOUD' })).status).toBe(400);
    expect((await post('nobody', { configuredLevel: 'INFO' })).status).toBe(404);
  });
});
