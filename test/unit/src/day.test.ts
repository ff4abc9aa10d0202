import { describe, expect, it } from '@jest/globals';
import { Histogram, Registry } from 'prom-client';
import { createLogger } from '../../../src/logger.js';
import { keepDay, recordDay } from '../../../src/day.js';

function day() {
  const registry = new Registry();
  const requests = new Histogram({
    name: 'http_server_requests_seconds',
    help: 'Time of requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.01, 0.1, 1],
    registers: [registry],
  });
  const answer = (status: number, seconds: number, route = '/rest/ehrs') =>
    requests.observe({ method: 'GET', route, status }, seconds);
  return { answer, ...recordDay(registry) };
}

describe('the day of a process', () => {
  it('goes on after a part that could not be read', async () => {
    let ended = 0;
    const going = new Promise<void>((resolve) => {
      const stop = keepDay(
        {
          endPart: () => {
            ended += 1;
            if (ended === 3) {
              stop();
              resolve();
            }
            return Promise.reject(new Error('away'));
          },
        },
        createLogger('silent'),
        1,
      );
    });
    // Its own timer keeps no process alive.
    const alive = setTimeout(() => undefined, 10_000);
    await going;
    clearTimeout(alive);
    expect(ended).toBe(3);
  });

  it('tells requests, errors, refused sign-ins and times, of each part its own', async () => {
    const { answer, endPart, parts } = day();
    expect(await parts()).toEqual([
      { time: expect.any(Date), requests: 0, errors: 0, refused_sign_ins: 0, median: null, p95: null },
    ]);
    for (let each = 0; each < 18; each += 1) answer(200, 0.005);
    answer(401, 0.05);
    answer(500, 0.5);
    // Probes are nobody's requests.
    for (let each = 0; each < 100; each += 1) answer(503, 0.5, '/management/health/readiness');
    await endPart();
    answer(201, 0.5);
    const [first, second] = await parts();
    expect(first).toMatchObject({ requests: 20, errors: 1, refused_sign_ins: 1 });
    expect(first?.median).toBeLessThanOrEqual(10);
    expect(first?.p95).toBeGreaterThan(10);
    expect(first?.p95).toBeLessThanOrEqual(100);
    expect(second).toMatchObject({ requests: 1, errors: 0, refused_sign_ins: 0 });
    expect(second?.median).toBeGreaterThan(100);
  });

  it('is a day long, and says of what is longer than it can tell that it is at least so long', async () => {
    const { answer, endPart, parts } = day();
    for (let each = 0; each < 150; each += 1) await endPart();
    answer(200, 60);
    const all = await parts();
    expect(all).toHaveLength(145);
    expect(all.at(-1)?.p95).toBe(1_000);
  });
});
