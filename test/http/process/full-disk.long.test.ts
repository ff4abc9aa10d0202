import { rmSync, statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { demoClient } from '../../../cli/demo/load.js';
import { realComposition, templateText } from '../../../cli/demo/patient.js';
import { runCommand } from '../../support/process/command-line.js';
import { startServerProcess } from '../../support/process/server.js';
import { smallDisk } from '../../support/process/small-disk.js';

const TEMPLATE = 'ehrbase_multi_occurrence.de.v1';
const API = '/rest/openehr/v1';
/** The engine wants 500 MB to start. */
const DISK_MB = 900;
const composition = JSON.stringify(realComposition(TEMPLATE));

const disk = smallDisk(DISK_MB);
const readOnly = disk === null ? null : smallDisk(DISK_MB);
afterAll(() => {
  disk?.remove();
  readOnly?.remove();
});
if (disk === null) process.stderr.write('full-disk: skipped, since this user may not mount a file system\n');
/** Without a file system of its own there is nothing to fill. */
const describeOnDisk = disk === null ? describe.skip : describe;

/** Takes all that is left; gives it back when it is removed. Meanwhile connections that the server ends are seen to end. */
async function fillDisk(folder: string): Promise<() => void> {
  const path = join(folder, 'ballast');
  const file = await open(path, 'w');
  for (const block of [1 << 20, 4096])
    try {
      for (;;) await file.write(Buffer.alloc(block, 1));
    } catch {
      // Full.
    }
  await file.close();
  return () => rmSync(path);
}

describeOnDisk('a server on a disk that is full', () => {
  const folder = disk?.folder ?? '';

  it('loses nothing, and once there is room everything works again without a person', async () => {
    const env = {
      MONGODB_URI: '',
      LOCAL_DATABASE: 'embedded',
      EMBEDDED_DATA_DIR: join(folder, 'data'),
      MANAGEMENT_ENDPOINTS: 'health',
    };
    const server = await startServerProcess(env);
    const statusOf = (path: string): Promise<number> =>
      fetch(`${server.url}${path}`).then((answer) => answer.status);
    try {
      const client = demoClient(server.url);
      await client.uploadTemplate(templateText(TEMPLATE));
      const ehrId = await client.createEhr();
      const acknowledged = new Set<string>();
      const commit = async (): Promise<[status: number, code: string]> => {
        const answer = await fetch(`${server.url}${API}/ehr/${ehrId}/composition`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: composition,
        });
        const uid = answer.headers.get('Location')?.split('/').at(-1);
        if (answer.status === 201) acknowledged.add(uid ?? '');
        const { code = '' } = answer.status === 201 ? {} : ((await answer.json()) as { code?: string });
        return [answer.status, code];
      };
      for (let count = 0; count < 20; count += 1) expect((await commit())[0]).toBe(201);

      const makeRoom = await fillDisk(folder);
      expect(statfsSync(folder).bavail).toBe(0);
      let unknown = 0;
      let refused = 0;
      while (refused < 5) {
        const [status, code] = await commit();
        if (status === 201) continue;
        refused += 1;
        expect([status, ['unavailable', 'outcome-unknown'].includes(code)]).toEqual([503, true]);
        if (code === 'outcome-unknown') unknown += 1;
      }
      // Long enough for several starts of the engine to fail.
      await pause(8_000);
      expect(await statusOf('/management/health/readiness')).toBe(503);
      expect(await statusOf('/management/health/liveness')).toBe(200);

      makeRoom();
      while ((await statusOf('/management/health/readiness')) !== 200) await pause(200);
      for (const uid of acknowledged)
        expect(await statusOf(`${API}/ehr/${ehrId}/composition/${uid}`)).toBe(200);
      expect((await commit())[0]).toBe(201);
      const q = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';
      const asked = await fetch(`${server.url}${API}/query/aql?q=${encodeURIComponent(q)}`);
      const { rows } = (await asked.json()) as { rows: [string][] };
      const found = new Set(rows.map(([uid]) => uid));
      expect([...acknowledged].filter((uid) => !found.has(uid))).toEqual([]);
      expect(found.size - acknowledged.size).toBeLessThanOrEqual(unknown);
    } finally {
      await server.stop();
    }
    const verified = await runCommand(['verify'], env);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('no violation')]);
  }, 600_000);
});

describeOnDisk('a server on a disk that is read-only', () => {
  it('says so, and not that another process uses its folder, nor that there is none', async () => {
    const folder = readOnly?.folder ?? '';
    const startIn = (name: string) =>
      startServerProcess({
        MONGODB_URI: '',
        LOCAL_DATABASE: 'embedded',
        EMBEDDED_DATA_DIR: join(folder, name),
      });
    expect(await (await startIn('data')).stop()).toBe(0);
    await readOnly?.makeReadOnly();
    await expect(startIn('data')).rejects.toThrow(
      `the data folder ${join(folder, 'data')} cannot be written: it or a file in it is read-only for this user`,
    );
    await expect(startIn('new')).rejects.toThrow(
      `the data folder ${join(folder, 'new')} cannot be made: ${folder} is read-only for this user`,
    );
  }, 300_000);
});
