import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const path = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-left-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A test that starts a process, with a group of its own or not, and fails before it ends it. */
const failing = (isDetached: boolean): string => `
  it('fails', () => {
    const options = { detached: ${isDetached}, stdio: 'ignore' };
    const child = require('node:child_process').spawn('sleep', ['600'], options);
    require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'pid'))}, String(child.pid));
    throw new Error('failed');
  });
`;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it.each([false, true])(
  'a test that fails leaves no process behind (its own group: %p)',
  async (isDetached) => {
    writeFileSync(join(folder, 'failing.test.cjs'), failing(isDetached));
    const testEnvironment = path('test/support/jest/environment.mjs');
    const config = { rootDir: folder, testMatch: ['**/*.test.cjs'], transform: {}, testEnvironment };
    const output = await new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        [path('node_modules/jest/bin/jest.js'), '--config', JSON.stringify(config)],
        (_, stdout, stderr) => {
          resolve(stdout + stderr);
        },
      );
    });
    expect(output).toContain('1 failed, 1 total');
    expect(isRunning(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false);
  },
);
