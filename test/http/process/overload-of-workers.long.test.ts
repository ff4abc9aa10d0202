import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ALWAYS_ADMITTED } from '../../../src/admission/admission.js';
import { DatabaseGateway } from '../../support/database-gateway.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';

useDatabase();

const WORKERS = 2;
/** Nothing may wait for longer, whatever happens. */
const PATIENCE_MS = 30_000;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly message: unknown;
}

let gateway: DatabaseGateway;
let cluster: ServerProcess;
let ehr = '';

beforeAll(async () => {
  gateway = await DatabaseGateway.to(testDatabaseUri());
  cluster = await startServerProcess({
    // A database that is held is not to be taken for one that is gone.
    MONGODB_URI: `${gateway.uri}&heartbeatFrequencyMS=60000&connectTimeoutMS=60000`,
    MONGODB_DATABASE: testDatabaseName(),
    AUTH: 'none',
    CLUSTER_WORKERS: `${WORKERS}`,
    REQUEST_WAIT_MS: '100',
    RATE_LIMIT_PER_MINUTE: '0',
  });
  const made = await fetch(`${cluster.url}/rest/openehr/v1/ehr`, { method: 'POST' });
  ehr = made.headers.get('Location')!;
});

afterAll(async () => {
  gateway.release();
  await cluster.stop();
  gateway.close();
});

/** GETs the EHR over a connection of its own. */
async function ask(agent: Agent): Promise<Answer> {
  const sent = request(ehr, { agent, signal: AbortSignal.timeout(PATIENCE_MS) }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { message } = JSON.parse(await text(response)) as { message?: unknown };
  return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], message };
}

it('each worker refuses at once what would wait too long, and nothing of a flood of connections waits for ever', async () => {
  const agent = new Agent({ keepAlive: false });
  const count = 3 * WORKERS * ALWAYS_ADMITTED;
  gateway.hold();
  const early: Answer[] = [];
  let enough = (): void => undefined;
  const refused = new Promise<void>((resolve) => (enough = resolve));
  const all = Array.from({ length: count }, async () => {
    const answer = await ask(agent);
    early.push(answer);
    if (early.length === count - WORKERS * ALWAYS_ADMITTED) enough();
    return answer;
  });
  await Promise.race([refused, Promise.all(all)]);
  // Only what was refused is answered while the database says nothing.
  expect(early.length).toBeGreaterThanOrEqual(count - WORKERS * ALWAYS_ADMITTED);
  for (const answer of early) {
    // The longer the database is held, the longer a worker expects it to take: 1 to 10 s (docs/spec/rest.md#overload).
    const retryAfter: unknown = expect.stringMatching(/^([1-9]|10)$/);
    expect(answer).toEqual({ status: 503, retryAfter, message: 'the server is busy' });
  }
  gateway.release();
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBe(WORKERS * ALWAYS_ADMITTED);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await ask(agent)).status).toBe(200);
});
