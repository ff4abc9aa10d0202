/** A `mongod` binary as a local database: a replica set of one member, run by mongodb-memory-server. */
import { execFile } from 'node:child_process';
import { access, constants, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { DatabaseSettings } from '../base/settings.js';
import { searchPath, systemBinary } from './library-environment.js';
import { dataFolder, PassedOver, type LocalDatabase, type LogLine } from './local-source.js';

/** A binary that runs. */
export interface MongodBinary {
  readonly path: string;
  readonly version: string;
}

const PROBE_MS = 5_000;
const run = promisify(execFile);

/** Starts a mongod that is given or found. @throws PassedOver when there is none; Error when a given one does not run */
export async function startMongodSource(settings: DatabaseSettings, log: LogLine): Promise<LocalDatabase> {
  const binary = await findMongod(settings.mongodBinary);
  const description = `mongod ${binary.version} at ${binary.path}`;
  const local = await runMongod(binary, settings, description);
  log(`database: ${description}`);
  return local;
}

/** Runs a binary with its data in `mongod` inside the data folder. @throws Error when it does not start */
export async function runMongod(
  binary: MongodBinary,
  settings: DatabaseSettings,
  description: string,
): Promise<LocalDatabase> {
  const { MongoMemoryReplSet } = await import('mongodb-memory-server');
  const folder = dataFolder(settings.embeddedDataDir);
  const dbPath = folder === null ? undefined : resolve(join(folder, 'mongod'));
  if (dbPath !== undefined) await mkdir(dbPath, { recursive: true, mode: 0o700 });
  const port = dbPath === undefined ? undefined : await rememberedPort(dbPath);
  const replicaSet = await MongoMemoryReplSet.create({
    binary: { systemBinary: binary.path, version: binary.version },
    replSet: { count: 1, name: 'rs0', storageEngine: 'wiredTiger' },
    instanceOpts: [{ ...(dbPath !== undefined && { dbPath }), ...(port !== undefined && { port }) }],
  });
  const used = replicaSet.servers[0]?.instanceInfo?.port;
  if (dbPath !== undefined && used !== undefined) await writeFile(portFile(dbPath), String(used));
  return {
    uri: replicaSet.getUri(),
    description,
    stop: async () => {
      await replicaSet.stop({ doCleanup: dbPath === undefined });
    },
  };
}

/** The binary to use: given, on `PATH`, or in the cache of mongodb-memory-server. @throws PassedOver, Error */
export async function findMongod(given: string): Promise<MongodBinary> {
  const named = given === '' ? systemBinary() : given;
  if (named !== undefined) return probeGiven(named);
  const onPath = await firstExecutable(searchPath().map((folder) => join(folder, 'mongod')));
  const path = onPath ?? (await cachedBinary());
  if (path === undefined) throw new PassedOver('no mongod is given, on PATH or in the cache');
  try {
    return { path, version: await versionOf(path) };
  } catch (error) {
    throw new PassedOver(`${path} does not run: ${textOf(error)}`);
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

async function cachedBinary(): Promise<string | undefined> {
  const { DryMongoBinary } = await import('mongodb-memory-server');
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

/** The replica set's configuration holds its port, so it has to come back on the same one. */
async function rememberedPort(dbPath: string): Promise<number | undefined> {
  const text = await readFile(portFile(dbPath), 'utf8').catch(() => '');
  const port = Number(text);
  return Number.isInteger(port) && port > 0 ? port : undefined;
}

function portFile(dbPath: string): string {
  return `${dbPath}.port`;
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim();
}
