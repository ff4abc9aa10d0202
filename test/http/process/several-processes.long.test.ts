import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { realComposition, templateText } from '../../../cli/demo/patient.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

const TEMPLATE = 'ehrbase_multi_occurrence.de.v1';
/** Of the one case that deletes it. */
const OTHER_TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const servers: ServerProcess[] = [];
let cluster: ServerProcess;

beforeAll(async () => {
  const env = {
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
    JWT_SECRET: TEST_JWT_SECRET,
    ADMIN_API_ACTIVE: 'true',
    AUTH: 'none',
    MANAGEMENT_ENDPOINTS: 'all',
    MANAGEMENT_ACCESS: 'PUBLIC',
  };
  const started = await Promise.all([
    startServerProcess(env),
    startServerProcess(env),
    startServerProcess({ ...env, CLUSTER_WORKERS: '2' }),
  ]);
  servers.push(...started.slice(0, 2));
  cluster = started[2]!;
  expect((await call(one(), 'POST', TEMPLATES, { body: templateText(TEMPLATE) })).status).toBe(201);
});

afterAll(async () => {
  await Promise.all([...servers, cluster].map((server) => server.stop()));
});

interface Call {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

async function call(
  server: ServerProcess,
  method: string,
  path: string,
  { body, headers, timeoutMs = 10_000 }: Call = {},
): Promise<{ status: number; etag: string; body: JsonObject }> {
  const isText = typeof body === 'string';
  const response = await fetch(`${server.url}${path}`, {
    method,
    // A connection that was on its way to a worker just killed is never answered.
    signal: AbortSignal.timeout(timeoutMs),
    headers: { 'Content-Type': isText ? 'application/xml' : 'application/json', ...headers },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.includes('json') === true;
  return {
    status: response.status,
    etag: response.headers.get('ETag') ?? '',
    body: isJson ? (JSON.parse(text) as JsonObject) : {},
  };
}

const API = '/rest/openehr/v1';
const TEMPLATES = `${API}/definition/template/adl1.4`;
const one = (): ServerProcess => servers[0]!;
const other = (): ServerProcess => servers[1]!;

describe('two server processes on one database', () => {
  it("know each other's templates, also when one is deleted and uploaded anew", async () => {
    const admin = { Authorization: ADMIN };
    const ehr = await call(one(), 'POST', `${API}/ehr`);
    const ehrId = ehr.etag.replaceAll('"', '');
    const commit = (server: ServerProcess): ReturnType<typeof call> =>
      call(server, 'POST', `${API}/ehr/${ehrId}/composition`, { body: realComposition(OTHER_TEMPLATE) });
    expect((await call(one(), 'POST', TEMPLATES, { body: templateText(OTHER_TEMPLATE) })).status).toBe(201);
    expect((await call(other(), 'GET', `${TEMPLATES}/${OTHER_TEMPLATE}`)).status).toBe(200);
    expect(
      (await call(other(), 'DELETE', `/rest/admin/template/${OTHER_TEMPLATE}`, { headers: admin })).status,
    ).toBe(202);
    expect((await commit(one())).status).toBe(422);
    expect((await call(other(), 'POST', TEMPLATES, { body: templateText(OTHER_TEMPLATE) })).status).toBe(201);
    expect((await commit(one())).status).toBe(201);
    expect((await commit(other())).status).toBe(201);
  });

  it('let exactly one of two updates with the same If-Match through', async () => {
    const ehrId = (await call(one(), 'POST', `${API}/ehr`)).etag.replaceAll('"', '');
    const body = realComposition(TEMPLATE);
    let { etag } = await call(one(), 'POST', `${API}/ehr/${ehrId}/composition`, { body });
    const versionedObjectUid = etag.slice(1, 37);
    for (let round = 0; round < 5; round += 1) {
      const headers = { 'If-Match': etag };
      const path = `${API}/ehr/${ehrId}/composition/${versionedObjectUid}`;
      const answers = await Promise.all(
        [one(), other(), cluster].map((server) => call(server, 'PUT', path, { body, headers })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
      etag = answers.find(({ status }) => status === 200)!.etag;
    }
    expect(etag).toContain('::6"');
  });

  it('carry out one Idempotency-Key once, whoever gets it', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const answers = await Promise.all(
      [one(), other(), cluster].map((server) => call(server, 'POST', `${API}/ehr`, { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1);
  });

  it('see a merge at once and let only one of two merges of one source through', async () => {
    const create = async (): Promise<string> =>
      (await call(one(), 'POST', `${API}/ehr`)).etag.replaceAll('"', '');
    const [source, left, right] = [await create(), await create(), await create()];
    const headers = { Authorization: ADMIN };
    const merge = (server: ServerProcess, target: string): ReturnType<typeof call> =>
      call(server, 'POST', '/rest/admin/ehr/merge', {
        headers,
        body: { source_ehr: source, target_ehr: target, reversible: true },
      });
    const answers = await Promise.all([merge(one(), left), merge(other(), right)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    for (const server of [one(), other(), cluster])
      expect((await call(server, 'GET', `${API}/ehr/${source}`)).status).toBe(404);
  });
});

describe('several workers on one port', () => {
  /** What went to the worker that was killed is asked again soon. */
  const timeoutMs = 2_000;
  const pids = async (options: Pick<Call, 'timeoutMs'> = {}): Promise<Set<unknown>> => {
    const found = new Set<unknown>();
    for (let turn = 0; turn < 8; turn += 1) {
      const headers = { Connection: 'close' };
      const { body } = await call(cluster, 'GET', '/management/env', { headers, ...options });
      found.add((body.runtime as JsonObject).pid);
    }
    return found;
  };

  const close = { Connection: 'close' };
  const created =
    'http_server_requests_seconds_count{method="POST",route="/rest/openehr/v1/ehr",status="201"}';
  const figureOf = async (line: string): Promise<number> => {
    const response = await fetch(`${cluster.url}/management/prometheus`, { headers: close });
    const text = await response.text();
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${line} `))
        ?.slice(line.length) ?? 0,
    );
  };

  it('answer sums of their metrics, whichever is asked', async () => {
    const [before, versions] = [
      await figureOf(created),
      await figureOf('everchart_versions_committed_total'),
    ];
    // Connections go to the workers in turn.
    const count = 9;
    for (let turn = 0; turn < count; turn += 1)
      expect((await call(cluster, 'POST', `${API}/ehr`, { headers: close })).status).toBe(201);
    for (let turn = 0; turn < 4; turn += 1) {
      expect(await figureOf(created)).toBe(before + count);
      expect(await figureOf('everchart_versions_committed_total')).toBe(versions + count);
    }
    const path = '/management/metrics/everchart_versions_committed_total';
    const { body } = await call(cluster, 'GET', path, { headers: close });
    expect(body.measurements).toEqual([{ statistic: 'VALUE', value: versions + count }]);
    expect(await figureOf('everchart_database_pool_size')).toBeGreaterThanOrEqual(2);
    expect((await pids()).size).toBe(2);
  });

  it('share the requests and replace a worker that dies', async () => {
    const before = await pids();
    expect(before.size).toBe(2);
    const [victim] = [...before] as number[];
    process.kill(victim!, 'SIGKILL');
    const deadline = performance.now() + 30_000;
    let after = new Set<unknown>();
    const statuses = new Set<number>();
    while (after.size < 2 && performance.now() < deadline) {
      after = await pids({ timeoutMs }).catch(() => after);
      const headers = { Connection: 'close' };
      const created = await call(cluster, 'POST', `${API}/ehr`, { headers, timeoutMs }).catch(() => null);
      if (created !== null) statuses.add(created.status);
    }
    expect([after.size, after.has(victim)]).toEqual([2, false]);
    // The new worker takes no request before it can answer it.
    expect([...statuses]).toEqual([201]);
    expect((await call(cluster, 'POST', `${API}/ehr`)).status).toBe(201);
  });
});
