import { describe, expect, it } from '@jest/globals';
import Koa from 'koa';
import request from 'supertest';
import { createLogger } from '../../../src/logger.js';
import { errors } from '../../../src/middleware/errors.js';
import { concurrencyCap } from '../../../src/middleware/limits.js';
import { testApp } from '../../support/app.js';

describe('operation limits and headers', () => {
  it('answers 429 with Retry-After past the rate limit, health questions excepted', async () => {
    const app = testApp({ rateLimitPerMinute: 2, rateLimitSparesLoopback: false });
    for (const status of [404, 404, 429]) {
      const response = await request(app).get('/nowhere');
      expect(response.status).toBe(status);
      if (status === 429) expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await request(app).get('/management/health/liveness')).status).toBe(200);
  });

  it('answers 503 with Retry-After past the concurrency cap', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const app = new Koa().use(errors(createLogger('silent'))).use(concurrencyCap(1));
    app.use(async (ctx) => {
      if (ctx.path === '/slow') await held;
      ctx.body = 'done';
    });
    const handle = app.callback();
    const slow = request(handle)
      .get('/slow')
      .then((response) => response.status);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const refused = await request(handle).get('/fast');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    release();
    expect(await slow).toBe(200);
    expect((await request(handle).get('/fast')).status).toBe(200);
  });

  it('sends security headers, and CORS headers to configured origins only', async () => {
    const plain = await request(testApp()).get('/rest/status').set('Origin', 'https://app.example.org');
    expect(plain.headers['x-content-type-options']).toBe('nosniff');
    expect(plain.headers['strict-transport-security']).toBeUndefined();
    expect(plain.headers['access-control-allow-origin']).toBeUndefined();
    const app = testApp({ corsOrigins: ['https://app.example.org'] });
    const allowed = await request(app).get('/rest/status').set('Origin', 'https://app.example.org');
    expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example.org');
    const other = await request(app).get('/rest/status').set('Origin', 'https://evil.example.org');
    expect(other.headers['access-control-allow-origin'] ?? '').toBe('');
    const preflight = await request(app)
      .options('/rest/openehr/v1/ehr')
      .set('Origin', 'https://app.example.org')
      .set('Access-Control-Request-Method', 'POST');
    expect(preflight.status).toBe(204);
  });
});
