import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const hook = fileURLToPath(new URL('../../../.githooks/commit-msg', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-commit-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function statusOf(message: string): number | null {
  const file = join(folder, 'message');
  writeFileSync(file, message);
  return spawnSync(hook, [file], { stdio: 'ignore' }).status;
}

describe('the hook for commit messages', () => {
  it.each([
    'models: write the status of an EHR once',
    'packages/embedded-mongodb: answer hello before the engine is open',
    'aql, query: one function runs a query\n\nWhy: tests ran a copy.',
    `test: ${'ü'.repeat(66)}`,
    "Merge branch 'main'",
    'fixup! models: write the status of an EHR once',
  ])('takes %j', (message) => {
    expect(statusOf(message)).toBe(0);
  });

  it.each([
    '',
    'write the status once',
    'models:no space',
    'Models: capital room',
    'models: ends with a full stop.',
    `test: ${'x'.repeat(67)}`,
  ])('refuses %j', (message) => {
    expect(statusOf(message)).toBe(1);
  });
});
