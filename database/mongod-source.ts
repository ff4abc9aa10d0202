/** A `mongod` binary that is given or found as a local database. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DatabaseSettings } from '../config/settings.js';
import { searchPath, systemBinary } from '../packages/embedded-mongodb/src/engine/library-environment.js';
import { dataFolder, SourceUnavailable, type LocalDatabase, type LogLine } from './local-source.js';
import { runMongod, type MongodBinary } from './mongod-run.js';

const PROBE_MS = 5_000;
const run = promisify(execFile);

/** Starts a mongod that is given or found. @throws SourceUnavailable when there is none; Error when a given one does not run */
export async function startMongodSource(settings: DatabaseSettings, log: LogLine): Promise<LocalDatabase> {
  const binary = await findMongod(settings.mongodBinary);
  const description = `mongod ${binary.version} at ${binary.path}`;
  const local = await runMongod(binary, dataFolder(settings.embeddedDataDir), log);
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

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim();
}
