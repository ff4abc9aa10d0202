/**
 * The embedded database as a process of its own. Its one argument is `ChildOptions` as JSON; it writes one
 * JSON line (`ChildReport`) to stdout, its log to stderr, and ends when stdin closes or on SIGTERM.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ensurePrivateFolder, isWritable } from './access/private-files.js';
import type { ChildOptions, ChildReport } from './child-protocol.js';
import { endpointFor, rememberEndpoint, uriOf } from './access/endpoint.js';
import { loadNative, NativeUnavailable } from './engine/native.js';
import { startServer, type RunningServer } from './front/server.js';

// whatever is written here is for this user alone
process.umask(0o077);
const startedAt = performance.now();
// a parent that was killed reads neither of them; the end of stdin shows that it is gone
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Starts everything and reports. */
async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as ChildOptions;
  const isTemporary = options.dir === null;
  const dir = options.dir === null ? mkdtempSync(join(tmpdir(), 'everchart-')) : resolve(options.dir);
  const temporary = isTemporary ? [dir] : [];
  const cleanUp = (): void => {
    for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
  };
  try {
    ensurePrivateFolder(dir, writeLog);
    const { Engine } = await loadNative();
    const engine = await Engine.open(dir);
    const endpoint = endpointFor(dir, options.port);
    // the folder of data that stay keeps the name of its socket for the next start
    if (isTemporary && endpoint.kind === 'socket') temporary.push(dirname(endpoint.path));
    const server = await startServer(engine, {
      endpoint,
      cacheSizeGB: options.cacheSizeGB,
      isPersistent: !isTemporary,
      limits: options.limits,
      log: writeLog,
      onFatal: (error) => {
        writeLog(`fatal: ${textOf(error)}`);
        process.exit(70);
      },
    });
    endWithParent(server, cleanUp);
    const { address, port, version, recovered } = server;
    const uriFile = rememberEndpoint(dir, endpoint, address);
    const uri = uriOf(endpoint, address);
    const ms = Math.round(performance.now() - startedAt);
    report({ ready: true, uri, uriFile, address, port, version, dir, pid: process.pid, recovered, ms });
  } catch (error) {
    cleanUp();
    report({ ready: false, isUnavailable: error instanceof NativeUnavailable, reason: reasonOf(error, dir) });
    process.exit(1);
  }
}

/** Ctrl-C reaches the whole process group; the parent decides when the database ends, by closing stdin. */
function endWithParent(server: RunningServer, cleanUp: () => void): void {
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    void server
      .stop()
      .catch((error: unknown) => {
        writeLog(`error: ${textOf(error)}`);
      })
      .then(() => {
        cleanUp();
        process.exit(0);
      });
  };
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', end);
  process.stdin.on('end', end);
  process.stdin.on('error', end);
  process.stdin.resume();
}

function reasonOf(error: unknown, dir: string): string {
  const text = textOf(error);
  if (!text.includes('DBPathInUse')) return text;
  // The engine says the same of a lock file that it cannot write and of one that another process holds.
  const lock = join(dir, 'mongod.lock');
  if (!isWritable(dir) || (existsSync(lock) && !isWritable(lock)))
    return `the data folder ${dir} cannot be written: it or a file in it is read-only for this user`;
  return `the data folder ${dir} is in use by another process: to share it, set MONGODB_URI to the connection string in its socket.uri or port.uri`;
}

function report(line: ChildReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function writeLog(line: string): void {
  process.stderr.write(`${line}\n`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

await main();
