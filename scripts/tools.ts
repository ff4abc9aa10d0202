// Programs that check, release and try everchart live in tools/, with a lock of their own: nobody who runs, builds or tests
// everchart installs them. `node --import tsx scripts/tools.ts PROGRAM ARGUMENTS…` installs them when they are asked for first.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('../tools', import.meta.url));
const STAMP = join(folder, 'node_modules/.installed.sha256');

/** Installs what the lock of tools/ says, unless it is there. */
export function installTools(): void {
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  process.stderr.write('installing tools/, once for each lock\n');
  // Never to stdout: that belongs to the program.
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  writeFileSync(STAMP, hash);
}

/** The path of a file of one of the tools. */
export function toolFile(specifier: string): string {
  installTools();
  return createRequire(join(folder, 'package.json')).resolve(specifier);
}

/** Where npm puts the programs of the tools. */
export function toolProgram(name: string): string {
  installTools();
  return join(folder, 'node_modules/.bin', name);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [name = '', ...args] = process.argv.slice(2);
  const { status } = spawnSync(toolProgram(name), args, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
