/**
 * The embedded database as a process of its own. Its one argument is `ChildOptions` as JSON; it writes one
 * JSON line (`ChildReport`) to stdout, its log to stderr, and ends when stdin closes or on SIGTERM.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ChildOptions, ChildReport } from './child-protocol.js';
import { loadNative, NativeUnavailable } from './native.js';
import { startServer, type RunningServer } from './server.js';

const startedAt = performance.now();
// a parent that was killed reads neither of them; stdin tells that it is gone
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Starts everything and reports. */
async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as ChildOptions;
  const isTemporary = options.dir === null;
  const dir = options.dir === null ? mkdtempSync(join(tmpdir(), 'everchart-')) : resolve(options.dir);
  const cleanUp = (): void => {
    if (isTemporary) rmSync(dir, { recursive: true, force: true });
  };
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const { Engine } = await loadNative();
    const server = await startServer(await Engine.open(dir), {
      port: options.port,
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
    const { uri, port, version, recovered } = server;
    const ms = Math.round(performance.now() - startedAt);
    report({ ready: true, uri, port, version, dir, pid: process.pid, recovered, ms });
  } catch (error) {
    cleanUp();
    report({ ready: false, isUnavailable: error instanceof NativeUnavailable, reason: textOf(error) });
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
