import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fixtureText } from '../../../../test/support/fixture.js';

const COMMAND = fileURLToPath(new URL('../../bin/everchart-codegen.mjs', import.meta.url));
let folder: string;
let watching: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codegen-watch-'));
  writeFileSync(join(folder, 'evaluation.opt'), fixtureText('opt/minimal_evaluation.en.v1.opt'));
});
afterEach(async () => {
  if (watching?.exitCode === null) {
    watching.kill();
    await once(watching, 'close');
  }
  rmSync(folder, { recursive: true });
});

/** Starts the command in the folder; gives what it says on stderr so far. */
function watch(...args: readonly string[]): { said: () => string } {
  let said = '';
  watching = spawn(process.execPath, [COMMAND, ...args, '--watch'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  watching.stderr!.on('data', (piece: Buffer) => (said += piece.toString()));
  return { said: () => said };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    expect(watching?.exitCode).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const made = (name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

it('writes again what changes, and goes on after a mistake', async () => {
  const config = "export default { queries: { files: ['.'], templates: ['.'], output: 'gen' } };";
  writeFileSync(join(folder, 'everchart.config.mjs'), config);
  writeFileSync(join(folder, 'some.aql'), 'SELECT COUNT(*) AS first FROM COMPOSITION c');
  const { said } = watch();
  await until(() => made('gen/some.ts').includes('first'));

  writeFileSync(join(folder, 'some.aql'), 'SELECT FROM nothing');
  await until(() => /some\.aql:1:\d+: /.test(said()));

  // As editors do: another file in the place of the old one.
  writeFileSync(join(folder, 'new'), 'SELECT COUNT(*) AS second FROM COMPOSITION c');
  renameSync(join(folder, 'new'), join(folder, 'some.aql'));
  await until(() => made('gen/some.ts').includes('second'));

  writeFileSync(join(folder, 'more.aql'), 'SELECT COUNT(*) AS third FROM COMPOSITION c');
  await until(() => made('gen/more.ts').includes('third'));
});

it('watches the files of one command too', async () => {
  watch('templates', '.', '-o', 'gen');
  await until(() => made('gen/minimal-evaluation-en-v1.ts') !== '');
  const changed = fixtureText('opt/minimal_evaluation.en.v1.opt').replaceAll(
    'minimal_evaluation.en.v1',
    'changed',
  );
  writeFileSync(join(folder, 'evaluation.opt'), changed);
  await until(() => made('gen/changed.ts').includes('changed'));
});

it('tells at once that a server cannot be watched', async () => {
  const { said } = watch('templates', '-o', 'gen');
  await once(watching!, 'close');
  expect([watching!.exitCode, said()]).toEqual([1, expect.stringContaining('--watch needs files')]);
});
