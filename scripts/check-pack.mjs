// `npm run check:pack`: what `npm pack` makes, which builds before, runs the demo where nothing else of everchart is.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'everchart-packed-'));
const run = (cwd, command, ...args) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  // .npmrc switches scripts off, also `prepack`.
  const packed = run(
    root,
    'npm',
    'pack',
    '--ignore-scripts=false',
    '--json',
    '--pack-destination',
    folder,
  ).toString();
  const [{ filename, size, files }] = JSON.parse(packed.slice(packed.indexOf('[\n')));
  console.log(`${filename}: ${files.length} files, ${Math.round(size / 1024)} KiB`);
  // As the lock does here: no script of a third party, packages from the cache where it has them.
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  run(folder, 'npm', 'install', ...quiet, `./${filename}`);
  console.log(run(folder, 'npx', 'everchart', 'demo', '--once').toString());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
