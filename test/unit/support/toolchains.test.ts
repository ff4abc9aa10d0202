import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const TOOLCHAINS = new URL('../../support/clients/toolchains.ts', import.meta.url).href;
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolchains-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What asking for a program of Go comes to where these are the only programs; nothing of it stays. */
function ask(): { readonly status: number | null; readonly said: string } {
  const code = `import { goProgram } from '${TOOLCHAINS}';\nprocess.stdout.write(String(goProgram('example.org/tool', 'v1')));`;
  const args = ['--import', TSX, '--input-type=module', '--eval', code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { PATH: folder },
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

it('are skipped where there is none', () => {
  expect(ask()).toEqual({ status: 0, said: expect.stringMatching(/^null.*there is no Go here/s) });
});

it('fail the tests of what they cannot get', () => {
  writeFileSync(
    join(folder, 'go'),
    '#!/bin/sh\n[ "$1" = version ] || { echo "no such module" >&2; exit 1; }\n',
  );
  chmodSync(join(folder, 'go'), 0o755);
  expect(ask()).toEqual({ status: 1, said: expect.stringContaining('no such module') });
});
