// Builds console/dist, unless it was built from what the sources are now. Ends 0 with one line where it cannot: the
// server runs without a console and says so at /console. Loaded before the server by `npm start` and others, since .npmrc
// switches `prepare` off (docs/decisions/0035-console.md).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const root = fileURLToPath(new URL('..', import.meta.url));
const STAMP = join(root, 'console/dist/sources.sha256');
const SOURCES = [
  'console/index.html',
  'console/package.json',
  'console/vite.config.ts',
  'console/src',
  'packages/client/src',
  'packages/aql/src',
  'aql',
  'openehr',
  'policy/schema.ts',
  'docs/access.md',
  'package-lock.json',
];

function filesBelow(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function hashOfSources() {
  const hash = createHash('sha256');
  for (const source of SOURCES.map((path) => join(root, path)))
    for (const file of statSync(source).isDirectory() ? filesBelow(source) : [source])
      hash.update(readFileSync(file));
  return hash.digest('hex');
}

function viteProgram() {
  try {
    const { resolve } = createRequire(join(root, 'console/package.json'));
    return join(dirname(resolve('vite/package.json')), 'bin/vite.js');
  } catch {
    return null;
  }
}

function build() {
  if (!existsSync(join(root, 'console/src'))) return 'no sources of the console here: it is not built';
  const hash = hashOfSources();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return null;
  const vite = viteProgram();
  if (vite === null) return 'Vite is not installed: the console is not built';
  try {
    execFileSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
      cwd: join(root, 'console'),
      // A worker of Jest that builds what changed meanwhile has NODE_ENV=test, of which Vite makes a page for developers.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 2, 2],
    });
    writeFileSync(STAMP, hash);
    return null;
  } catch {
    return 'the console could not be built: the server runs without it';
  }
}

// Threads and workers of a cluster load what their parent loaded: one build is enough.
if (isMainThread && process.env.NODE_UNIQUE_ID === undefined) {
  const reason = build();
  if (reason !== null) process.stderr.write(`${reason}\n`);
}
