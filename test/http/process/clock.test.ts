import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { clockAhead } from '../../support/process/clock.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';
import { bearer } from '../../support/tokens.js';

const DAYS_MS = 10 * 24 * 3_600_000;
/** For both clocks. */
const ADMIN = bearer(['ADMIN', 'USER'], 'root-admin', (2 * DAYS_MS) / 1_000);
const EHR = '/rest/openehr/v1/ehr';

const started = (aheadMs: number): Promise<ServerProcess> =>
  startServerProcess({
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
    AUTH: 'jwt',
    JWT_SECRET: TEST_JWT_SECRET,
    MANAGEMENT_ENDPOINTS: 'health',
    NODE_OPTIONS: clockAhead(aheadMs),
  });

afterAll(async () => {
  await mongoose.connect(testDatabaseUri(), { dbName: testDatabaseName() });
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
});

async function clockIn(server: ServerProcess): Promise<unknown> {
  while ((await fetch(`${server.url}/management/health/readiness`)).status !== 200) await pause(50);
  const answer = await fetch(`${server.url}/management/health`, { headers: { Authorization: ADMIN } });
  return ((await answer.json()) as { components: { clock: unknown } }).components.clock;
}

it('a clock far behind the newest record is told of at start and in health', async () => {
  const ahead = await started(DAYS_MS);
  expect(await clockIn(ahead)).toEqual({ status: 'UP' });
  const made = await fetch(`${ahead.url}${EHR}`, { method: 'POST', headers: { Authorization: ADMIN } });
  expect(made.status).toBe(201);
  await ahead.stop();

  const server = await started(0);
  expect(await clockIn(server)).toEqual({
    status: 'UNKNOWN',
    details: expect.stringContaining('the clock of this server is far behind the newest record'),
  });
  expect(server.said.filter((line) => line.includes('far behind the newest record'))).toHaveLength(1);
  await server.stop();
});
