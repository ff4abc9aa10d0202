import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { demoClient } from '../../../cli/demo/load.js';
import { crashRounds, crashServer } from '../../support/process/crash-rounds.js';

const directory = mkdtempSync(join(tmpdir(), 'everchart-crash-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('a server killed in the middle of commits that are written in groups', () => {
  it('shows every acknowledged composition after a restart, and no half CONTRIBUTION', async () => {
    const { acknowledged, problems } = await crashRounds(directory, 3);
    expect(problems).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(60);
  });

  it('loses nothing when it is stopped and started', async () => {
    const count = 'SELECT c/uid/value FROM COMPOSITION c';
    const server = await crashServer(directory);
    const before = await demoClient(server.url).query(count, {});
    expect(await server.stop()).toBe(0);
    const again = await crashServer(directory);
    const after = await demoClient(again.url).query(count, {});
    await again.stop();
    expect([...after.rows].sort()).toEqual([...before.rows].sort());
    expect(after.rows.length).toBeGreaterThan(0);
  });
});
