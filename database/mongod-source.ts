import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { DatabaseSettings } from '../config/settings.js';
import {
  searchPath,
  systemBinary,
  downloadMirror,
  downloadOnce,
} from '../packages/embedded-mongodb/src/engine/library-environment.js';
import { dataFolder, SourceUnavailable, type LocalDatabase, type LogLine } from './local-source.js';
import type { MongodBinary } from './mongod-run.js';

/** A `mongod` binary that is given or found as a local database. */

const PROBE_MS = 5_000;
const run = promisify(execFile);

/** Starts a mongod that is given or found. @throws SourceUnavailable when there is none; Error when a given one does not run */
export async function startMongodSource(settings: DatabaseSettings, log: LogLine): Promise<LocalDatabase> {
  const binary = await findMongod(settings.mongodBinary);
  const description = `mongod ${binary.version} at ${binary.path}`;
  const local = await runBinary(binary, settings.embeddedDataDir, log);
  log(`database: ${description}`);
  return { ...local, description };
}

/** The binary to use: given, on `PATH`, or in the cache of mongodb-memory-server. @throws SourceUnavailable, Error */
export async function findMongod(given: string): Promise<MongodBinary> {
  const named = given === '' ? systemBinary() : given;
  if (named !== undefined) return probeGiven(named);
  const onPath = await firstExecutable(searchPath().map((folder) => join(folder, 'mongod')));
  const path = onPath ?? (await cachedBinary());
  if (path === undefined) throw new SourceUnavailable('no mongod is given, on PATH or in the cache');
  try {
    return { path, version: await versionOf(path) };
  } catch (error) {
    throw new SourceUnavailable(`${path} does not run: ${textOf(error)}`);
  }
}

/** Whoever names a binary wants that one, so nothing else is tried. */
async function probeGiven(path: string): Promise<MongodBinary> {
  try {
    return { path, version: await versionOf(path) };
  } catch (cause) {
    throw new Error(`the given mongod ${path} does not run: ${textOf(cause)}`, { cause });
  }
}

async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version'], { timeout: PROBE_MS });
  const version = /^\s*db version v?(\d+\.\d+\.\d+)/m.exec(stdout)?.[1];
  if (version === undefined) throw new Error('it prints no version');
  return version;
}

/** The driver comes with it, which the embedded engine starts without. */
async function runBinary(
  binary: MongodBinary,
  folder: string,
  log: LogLine,
): Promise<Omit<LocalDatabase, 'description'>> {
  const { runMongod } = await import('./mongod-run.js');
  return runMongod(binary, dataFolder(folder), log);
}

async function cachedBinary(): Promise<string | undefined> {
  const { DryMongoBinary } = await import('./mongodb-memory-server.js');
  const { version } = DryMongoBinary.getEnsuredOptions();
  try {
    return await DryMongoBinary.locateBinary({ version });
  } catch {
    return undefined; // a platform for which there are no binaries
  }
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return path;
  }
  return undefined;
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim();
}

/** A `mongod` that mongodb-memory-server downloads, for machines that cannot run the embedded engine. */

/** How long the parts of the step may take, in ms. */
interface DownloadTimes {
  readonly reachMs: number;
  readonly wholeMs: number;
}

const TIMES: DownloadTimes = { reachMs: 3_000, wholeMs: 60_000 };
const DEFAULT_MIRROR = 'https://fastdl.mongodb.org';

/** Downloads and starts a mongod. @throws SourceUnavailable when it cannot be had in time */
export async function startDownloadSource(
  settings: DatabaseSettings,
  log: LogLine,
  times: DownloadTimes = TIMES,
): Promise<LocalDatabase> {
  const { url, isPlainHttp } = downloadMirror();
  const mirror = new URL(url ?? DEFAULT_MIRROR);
  const isPlain = isPlainHttp || mirror.protocol === 'http:';
  await reach(mirror, isPlain, times.reachMs);
  return within(times.wholeMs, download(settings, mirror, log));
}

/** @throws SourceUnavailable */
async function download(settings: DatabaseSettings, mirror: URL, log: LogLine): Promise<LocalDatabase> {
  downloadOnce();
  try {
    const { DryMongoBinary, MongoBinary } = await import('./mongodb-memory-server.js');
    const { version } = DryMongoBinary.getEnsuredOptions();
    log(`database: downloading mongod ${version} from ${mirror.host}, which may take a minute`);
    const path = await MongoBinary.getPath({ version });
    const description = `downloaded mongod ${version}`;
    const local = await runBinary({ path, version }, settings.embeddedDataDir, log);
    log(`database: ${description}`);
    return { ...local, description };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new SourceUnavailable(`it failed: ${text.replaceAll(/\s+/g, ' ')}`);
  }
}

/** Whether the host answers at all: a download from one that does not would be silent for a minute. */
function reach(mirror: URL, isPlain: boolean, timeoutMs: number): Promise<void> {
  const port = Number(mirror.port === '' ? (isPlain ? 80 : 443) : mirror.port);
  const { hostname: host } = mirror;
  return new Promise((resolve, reject) => {
    const socket: Socket = isPlain
      ? connectTcp({ host, port })
      : connectTls({ host, port, servername: host });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new SourceUnavailable(`${mirror.host} cannot be reached: ${reason}`));
    };
    const timer = setTimeout(() => {
      fail(`no answer within ${timeoutMs} ms`);
    }, timeoutMs);
    socket.once(isPlain ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    });
    socket.once('error', (error: Error) => {
      clearTimeout(timer);
      fail(error.message);
    });
  });
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new SourceUnavailable(`it took longer than ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
