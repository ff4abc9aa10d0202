// Programs that check, release and try everchart live in tools/, with a lock of their own: nobody who runs, builds or tests
// everchart installs them. `node --import tsx scripts/tools.ts PROGRAM ARGUMENTS…` installs them when they are asked for first.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('../tools', import.meta.url));

/** Installs what the lock of a folder says, unless it is there. */
export function installTools(folder: string): void {
  const stamp = join(folder, 'node_modules/.installed.sha256');
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  process.stderr.write(`installing ${basename(folder)}/, once for each lock\n`);
  // Never to stdout: that belongs to the program.
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  writeFileSync(stamp, hash);
}

/** The path of a file of one of the tools. */
export function toolFile(specifier: string): string {
  installTools(folder);
  return createRequire(join(folder, 'package.json')).resolve(specifier);
}

/** Where npm puts the programs of the tools. */
export function toolProgram(name: string): string {
  installTools(folder);
  return join(folder, 'node_modules/.bin', name);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [name = '', ...args] = process.argv.slice(2);
  const { status } = spawnSync(toolProgram(name), args, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
