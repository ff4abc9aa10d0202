import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenEhr, V1 } from '../../support/resources.js';
import { bearer, USER, WITH_ADMIN } from '../../support/tokens.js';

let ehrId = '';
useDatabase();
beforeAll(async () => {
  ehrId = await givenEhr(testApp());
});

const ehr = (): string => `${V1}/ehr/${ehrId}`;

describe('the limit of requests per minute', () => {
  const limited = (overrides: Parameters<typeof testApp>[0] = {}) =>
    testApp({
      ...WITH_ADMIN,
      auth: 'jwt',
      rateLimitPerMinute: 2,
      rateLimitSparesLoopback: false,
      ...overrides,
    });
  const statuses = async (calls: readonly (() => PromiseLike<{ status: number }>)[]): Promise<number[]> => {
    const found: number[] = [];
    for (const call of calls) found.push((await call()).status);
    return found;
  };

  it('is counted for each user, whatever address he has', async () => {
    const server = limited({ trustedProxies: ['127.0.0.0/8', '::1', '::ffff:127.0.0.1'] });
    const as = (name: string, address: string) => () =>
      request(server)
        .get(ehr())
        .set({ Authorization: bearer(['USER'], name), 'X-Forwarded-For': address });
    const calls = [
      as('ada', '192.0.2.1'),
      as('ada', '192.0.2.2'),
      as('ada', '192.0.2.3'),
      as('bob', '192.0.2.1'),
    ];
    expect(await statuses(calls)).toEqual([200, 200, 429, 200]);
  });

  it('is counted for each address that a trusted proxy tells, and for no other', async () => {
    const from = (server: ReturnType<typeof testApp>, address: string) => () =>
      request(server).get(ehr()).set('X-Forwarded-For', address);
    const behind = limited({ auth: 'none', trustedProxies: ['127.0.0.0/8', '10.0.0.1'] });
    const list = ['192.0.2.1', '192.0.2.1, 10.0.0.1', '6.6.6.6, 192.0.2.1', '192.0.2.2'];
    expect(await statuses(list.map((address) => from(behind, address)))).toEqual([200, 200, 429, 200]);
    const alone = limited({ auth: 'none' });
    expect(await statuses(['1.1.1.1', '2.2.2.2', '3.3.3.3'].map((address) => from(alone, address)))).toEqual([
      200, 200, 429,
    ]);
  });

  it('counts wrong credentials by address, and keeps nobody out who has right ones', async () => {
    const server = limited();
    const call = (token: string) => () => request(server).get(ehr()).set('Authorization', token);
    const wrong = call('Bearer wrong');
    expect(await statuses([wrong, wrong, wrong, call(USER)])).toEqual([401, 401, 429, 200]);
    const without = () => request(server).get(ehr());
    const answer = await without();
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('holds for clients of the machine itself only where it is set', async () => {
    const spared = limited({ rateLimitSparesLoopback: true, auth: 'none' });
    const call = () => request(spared).get(ehr());
    expect(await statuses([call, call, call])).toEqual([200, 200, 200]);
  });
});
