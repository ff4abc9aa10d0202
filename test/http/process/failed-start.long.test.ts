import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { spawnEverchart } from '../../support/process/command.js';
import { asStandalone, ClusterProxy } from '../../support/process/cluster-proxy.js';
import { startServerProcess } from '../../support/process/server.js';
import { testDatabaseUri } from '../../support/database.js';

const BAD_KEY = '-----BEGIN PUBLIC KEY-----\nbm90IGEga2V5\n-----END PUBLIC KEY-----\n';

/** Runs `everchart start` until it ends by itself. */
async function start(env: Readonly<Record<string, string>>): Promise<{ code: number; stderr: string }> {
  const child = spawnEverchart(
    ['start'],
    { HOST: '127.0.0.1', PORT: '0', ...env },
    { stdio: ['ignore', 'ignore', 'pipe'], timeout: 40_000, killSignal: 'SIGKILL' },
  );
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stderr };
}

it.each([
  ['a proxy that is no address', { TRUSTED_PROXIES: 'bogus' }, 'TRUSTED_PROXIES: bogus is neither'],
  [
    'a proxy with too many bits',
    { TRUSTED_PROXIES: '10.0.0.0/99' },
    'TRUSTED_PROXIES: 10.0.0.0/99 is neither',
  ],
  [
    'a local database that nobody asked for in production',
    { NODE_ENV: 'production', LOCAL_DATABASE: 'auto' },
    'set LOCAL_DATABASE to embedded or mongod',
  ],
  [
    'a local database that nobody asked for behind an address of the network',
    { HOST: '0.0.0.0', AUTH: 'none', LOCAL_DATABASE: '' },
    'HOST 0.0.0.0 can be reached from other machines',
  ],
  ['a key that cannot be read', { AUTH: 'jwt', JWT_PUBLIC_KEY: BAD_KEY }, 'JWT_PUBLIC_KEY'],
])('a start with %s ends with 1 and says why', async (_, env, reason) => {
  const { code, stderr } = await start({ EMBEDDED_DATA_DIR: 'temporary', MONGODB_URI: '', ...env });
  expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
});

it('a start of several workers ends with 1 when the port is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const database = { MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: 'test_failed_start' };
  const { code, stderr } = await start({ ...database, CLUSTER_WORKERS: '2', PORT: `${port}` });
  other.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
});

it('a start on a standalone mongod ends with 1, its cause and what to do', async () => {
  const proxy = await ClusterProxy.before(testDatabaseUri(), { rewrite: asStandalone });
  const { code, stderr } = await start({ MONGODB_URI: proxy.uri, MONGODB_DATABASE: 'test_failed_start' });
  proxy.close();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/The database is a standalone mongod.*\. Start it with --replSet rs0/),
  ]);
});

it('a start gives a busy database half a minute for each answer', async () => {
  const given: number[] = [];
  const proxy = await ClusterProxy.before(testDatabaseUri(), {
    fault: ({ maxTimeMs }) => {
      if (maxTimeMs !== null) given.push(maxTimeMs);
      return null;
    },
  });
  const server = await startServerProcess({ MONGODB_URI: proxy.uri, MONGODB_DATABASE: 'test_busy_at_start' });
  expect(given.length).toBeGreaterThanOrEqual(3);
  expect(Math.min(...given)).toBe(30_000);
  expect(await server.stop()).toBe(0);
  proxy.close();
});

it('a database that becomes unfit beside a server makes readiness 503, and 200 once it is well', async () => {
  const proxy = await ClusterProxy.before(testDatabaseUri());
  const server = await startServerProcess({
    MONGODB_URI: proxy.uri,
    MONGODB_DATABASE: 'test_unfit_beside_server',
  });
  const readiness = async (): Promise<number> =>
    (await fetch(`${server.url}/management/health/readiness`)).status;
  const answers = [await readiness()];
  proxy.plays = { rewrite: asStandalone };
  answers.push(await readiness());
  proxy.plays = {};
  answers.push(await readiness());
  expect(await server.stop()).toBe(0);
  proxy.close();
  expect(answers).toEqual([200, 503, 200]);
});
