import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/process/command-line.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';

const folder = mkdtempSync(join(tmpdir(), 'everchart-own-'));
const running: ServerProcess[] = [];

afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server on an embedded database whose data are in the given folder of this test. */
async function start(data: string, more: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const server = await startServerProcess({
    MONGODB_URI: '',
    LOCAL_DATABASE: 'embedded',
    EMBEDDED_DATA_DIR: join(folder, data),
    TMPDIR: folder,
    ...more,
  });
  running.push(server);
  return server;
}

it('several workers share the socket of one embedded database, which outlives a killed primary', async () => {
  const cluster = await start('of-workers', { CLUSTER_WORKERS: '2' });
  const created = await fetch(`${cluster.url}/rest/openehr/v1/ehr`, { method: 'POST' });
  expect(created.status).toBe(201);
  const path = new URL(created.headers.get('Location')!).pathname;
  const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${cluster.url}${path}`)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  await cluster.kill();
  // the workers and the database notice that their parent is gone
  let next: ServerProcess | undefined;
  for (let attempt = 0; next === undefined && attempt < 20; attempt += 1) {
    next = await start('of-workers').catch(() => undefined);
  }
  expect((await fetch(`${next!.url}${path}`)).status).toBe(200);
});

describe('beside a server', () => {
  let first: ServerProcess;
  beforeAll(async () => {
    first = await start('of-one');
  });

  it('a second one on the same data folder ends and says how to share it', async () => {
    await expect(start('of-one')).rejects.toThrow(
      /data folder .* is in use by another process: to share it, set MONGODB_URI/,
    );
  });

  it('an export is a file of this user alone', async () => {
    const output = join(folder, 'export.ndjson');
    const args = ['export', '--url', first.url, '--output', output];
    expect(await runCommand(args)).toMatchObject({ code: 0 });
    expect((statSync(output).mode & 0o777).toString(8)).toBe('600');
  });
});
