import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { demoClient } from '../../../cli/demo/client.js';
import { templateText } from '../../../cli/demo/fixtures.js';
import { compositionsOfPatient } from '../../../cli/demo/patient.js';
import { seededRandom } from '../../../cli/demo/random.js';
import { startServerProcess, type ServerProcess } from '../../support/server-process.js';

const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const COMMITS = 200;
const LANES = 8;

const directory = mkdtempSync(join(tmpdir(), 'everchart-crash-'));
let server: ServerProcess | null = null;

const start = async (): Promise<ServerProcess> => {
  server = await startServerProcess({
    EMBEDDED_DATA_DIR: directory,
    LOCAL_DATABASE: 'embedded',
    MONGODB_URI: '',
    LOG_LEVEL: 'info',
  });
  return server;
};

afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const COMPOSITIONS = compositionsOfPatient(seededRandom(7), COMMITS).filter((composition) =>
  JSON.stringify(composition.archetype_details).includes(TEMPLATE),
);

/** Commits until the server is gone; tells which commits were acknowledged. */
async function commitUntilKilled(
  running: ServerProcess,
  ehrId: string,
  killAfter: number,
): Promise<string[]> {
  const client = demoClient(running.url);
  const acknowledged: string[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      const composition = COMPOSITIONS[next];
      next += 1;
      if (composition === undefined) return;
      try {
        acknowledged.push(await client.commitComposition(ehrId, composition));
      } catch {
        return;
      }
      if (acknowledged.length === killAfter) void running.kill();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return acknowledged;
}

async function get(path: string): Promise<JsonObject> {
  const response = await fetch(`${server!.url}/rest/openehr/v1${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as JsonObject;
}

interface Reference {
  readonly id: { readonly value: string };
}

describe('a server killed in the middle of commits', () => {
  it('shows every acknowledged composition after a restart, and no half CONTRIBUTION', async () => {
    const first = await start();
    await demoClient(first.url).uploadTemplate(templateText(TEMPLATE));
    const ehrId = await demoClient(first.url).createEhr();
    const acknowledged = [...(await commitUntilKilled(first, ehrId, 40))];
    const second = await start();
    acknowledged.push(...(await commitUntilKilled(second, ehrId, 40)));
    await start();

    expect(acknowledged.length).toBeGreaterThanOrEqual(80);
    for (const uid of acknowledged) {
      expect((await get(`/ehr/${ehrId}/composition/${uid}`)).uid).toMatchObject({ value: uid });
    }
    const ehr = await get(`/ehr/${ehrId}?include=compositions,contributions`);
    const contributions = ehr.contributions as unknown as Reference[];
    const compositions = ehr.compositions as unknown as Reference[];
    for (const { id } of contributions) {
      const { versions } = await get(`/ehr/${ehrId}/contribution/${id.value}`);
      for (const version of versions as unknown as (Reference & { type: string })[]) {
        const resource = version.type === 'EHR_STATUS' ? 'ehr_status' : 'composition';
        await get(`/ehr/${ehrId}/${resource}/${version.id.value}`);
      }
    }
    expect(contributions).toHaveLength(compositions.length + 1);
    const answer = await demoClient(server!.url).query(
      'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c',
      {},
    );
    expect(answer.rows).toEqual([[compositions.length]]);
    expect(compositions.length).toBeGreaterThanOrEqual(acknowledged.length);
  }, 120_000);

  it('loses nothing when it is stopped and started', async () => {
    const before = await demoClient(server!.url).query('SELECT c/uid/value FROM COMPOSITION c', {});
    expect(await server!.stop()).toBe(0);
    await start();
    const after = await demoClient(server!.url).query('SELECT c/uid/value FROM COMPOSITION c', {});
    expect([...after.rows].sort()).toEqual([...before.rows].sort());
  }, 120_000);
});
