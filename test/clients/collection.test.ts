import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { COLLECTION_FILE } from '../../scripts/pages/collection.js';
import { toolFile } from '../../scripts/tools.js';
import { testServer } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { everythingOn, TEST_JWT_SECRET } from '../support/settings.js';

const NEWMAN = toolFile('newman/bin/newman.js');
const folder = mkdtempSync(join(tmpdir(), 'collection-'));
let server: Server;

useDatabase();
beforeAll(async () => {
  server = await testServer(everythingOn());
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

interface Report {
  readonly run: {
    readonly stats: { readonly requests: { readonly total: number } };
    readonly executions: readonly {
      readonly item: { readonly name: string };
      readonly response?: { readonly code: number; readonly stream?: unknown };
      readonly assertions?: readonly { readonly error?: { readonly message: string } }[];
    }[];
  };
}

/** What a run of the whole collection found, and how many requests it sent. */
async function run(): Promise<{ failures: string[]; requests: number }> {
  const { port } = server.address() as AddressInfo;
  const token = jwt.sign(
    { preferred_username: 'root', roles: ['ADMIN', 'USER', 'AUDITOR'] },
    TEST_JWT_SECRET,
    {
      subject: 'root',
      expiresIn: 600,
    },
  );
  const report = join(folder, 'report.json');
  const variables = { origin: `http://127.0.0.1:${port}`, token, delete_all: 'yes' };
  const given = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
  const reporter = ['--reporters', 'json', '--reporter-json-export', report];
  const child = spawn(process.execPath, [NEWMAN, 'run', COLLECTION_FILE, ...given, ...reporter], {
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.once('close', resolve));
  const { executions, stats } = (JSON.parse(readFileSync(report, 'utf8')) as Report).run;
  const failures = executions.flatMap(({ item, response, assertions = [] }) =>
    assertions.flatMap(({ error }) =>
      error === undefined ? [] : [`${item.name}: ${response?.code ?? 'no answer'}: ${error.message}`],
    ),
  );
  return { failures, requests: stats.requests.total };
}

it('runs from beginning to end, each request with a body and variables that work, twice', async () => {
  const first = await run();
  expect(first.failures).toEqual([]);
  expect(first.requests).toBeGreaterThan(80);
  expect((await run()).failures).toEqual([]);
});
