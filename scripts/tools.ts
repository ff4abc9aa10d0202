// Programs that check, release and try everchart live in tools/, with a lock of their own: nobody who runs, builds or tests
// everchart installs them. `node --import tsx scripts/tools.ts PROGRAM ARGUMENTS…` installs them when they are asked for first.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('../tools', import.meta.url));
/** A file that says which lock has been installed. */
const STAMP = '.installed.sha256';

/** What `npm ci` reads of a folder. */
const INPUT = ['package.json', 'package-lock.json', '.npmrc'];

/**
 * Installs what the lock of a folder says, unless it is there: beside it, and then in one step, because tests that need the
 * same programs run at the same time.
 */
export function installTools(folder: string): void {
  const modules = join(folder, 'node_modules');
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (isInstalled(modules, hash)) return;
  process.stderr.write(`installing ${basename(folder)}/, once for each lock\n`);
  const own = mkdtempSync(join(folder, '.installing-'));
  try {
    for (const name of INPUT)
      if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(own, name));
    // Never to stdout: that belongs to the program.
    execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: own,
      stdio: ['ignore', 2, 2],
    });
    writeFileSync(join(own, 'node_modules', STAMP), hash);
    if (isInstalled(modules, hash)) return;
    if (existsSync(modules)) renameSync(modules, join(own, 'before'));
    renameSync(join(own, 'node_modules'), modules);
  } catch (error) {
    // Another process has installed the same meanwhile.
    if (!isInstalled(modules, hash)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function isInstalled(modules: string, hash: string): boolean {
  const stamp = join(modules, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
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
