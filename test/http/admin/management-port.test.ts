import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { loadConfig } from '../../../src/settings/config.js';
import { openDoors, type Doors } from '../../../src/doors.js';
import { createLogger } from '../../../src/logger.js';
import { handlerOf } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';

useDatabase();

let doors: Doors;
let main: string;
let management: string;

beforeAll(async () => {
  const env = { PORT: '0', MANAGEMENT_PORT: '0', MANAGEMENT_ENDPOINTS: 'all', MANAGEMENT_ACCESS: 'PUBLIC' };
  const settings = loadConfig({ ...env, LOG_LEVEL: 'silent' });
  const handle = handlerOf(settings, createLogger('silent'));
  doors = openDoors(settings, (req, res) => void handle(req, res));
  await doors.listen();
  const { url, managementUrl } = doors.addresses();
  [main, management] = [url, managementUrl!];
});

afterAll(async () => {
  await doors.close(1000);
});

describe('MANAGEMENT_PORT', () => {
  it('serves management, and nothing else', async () => {
    for (const path of ['/management', '/management/health/liveness', '/management/prometheus'])
      expect([path, (await request(management).get(path)).status]).toEqual([path, 200]);
    for (const path of [
      '/rest/openehr/v1',
      '/rest/status',
      '/v1/ehr',
      '/rest/openapi.json',
      '/managements',
      '/',
    ])
      expect([path, (await request(management).get(path)).status]).toEqual([path, 404]);
    expect((await request(management).post('/rest/openehr/v1/ehr')).status).toBe(404);
  });

  it('takes it from PORT, however it is spelt', async () => {
    for (const path of [
      '/management',
      '/management/health/liveness',
      '/Management/prometheus',
      '//management/env',
      '/%6Danagement/env',
    ])
      expect([path, (await request(main).get(path)).status]).toEqual([path, 404]);
    expect((await request(main).get('/rest/status')).status).toBe(200);
    expect((await request(main).post('/rest/openehr/v1/ehr')).status).toBe(201);
  });
});
