import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import type { DatabaseSettings } from '../../config/settings.js';
import { connectDatabase, pingDatabase } from '../../database/connect.js';
import { startDownloadSource, findMongod } from '../../database/mongod-source.js';
import { hostGlibc } from '../../packages/embedded-mongodb/src/engine/native.js';
import { DEFAULT_LIMITS } from '../../packages/embedded-mongodb/src/front/limits.js';
import { startLocalDatabase } from '../../database/local-database.js';
import { testDatabaseUri } from '../support/database.js';

const SETTINGS: DatabaseSettings = {
  mongodbUri: '',
  mongodbDatabase: 'test_connect',
  localDatabase: 'embedded',
  mongodBinary: '',
  embeddedCacheSizeGB: null,
  writeWaitMs: 10_000,
  embeddedDataDir: 'temporary',
};

let folder: string;
let lines: string[];
const log = (line: string): void => void lines.push(line);
const environment = { ...process.env };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everchart-test-'));
  lines = [];
  // no binary of this machine, no folder of this user
  process.env['MONGOMS_DOWNLOAD_DIR'] = join(folder, 'binaries');
  delete process.env['MONGOMS_SYSTEM_BINARY'];
  process.env['PATH'] = join(folder, 'bin');
});
afterEach(async () => {
  process.env = { ...environment };
  await rm(folder, { recursive: true, force: true });
});

describe('connectDatabase', () => {
  it('runs the embedded engine when nothing else is asked for, and says so in one line', async () => {
    const handle = await connectDatabase({ ...SETTINGS, localDatabase: 'auto' }, log);
    await pingDatabase();
    expect(lines).toEqual([`database: ${handle.description}`]);
    expect(handle.description).toMatch(
      /^embedded MongoDB \d\S+ \(development and tests only\), data in temporary directory$/,
    );
    await handle.close();
    expect(mongoose.connection.readyState).toBe(0);
  });

  it('keeps the data of a folder from one start to the next', async () => {
    const settings = { ...SETTINGS, embeddedDataDir: join(folder, 'data') };
    const first = await connectDatabase(settings, log);
    await mongoose.connection.collection<{ _id: number }>('kept').insertOne({ _id: 1 });
    await first.close();
    const second = await connectDatabase(settings, log);
    expect(await mongoose.connection.collection('kept').countDocuments()).toBe(1);
    expect(lines[1]).toContain(`data in ${join(folder, 'data')}`);
    await second.close();
  });

  it('gives the embedded engine the memory that the settings say', async () => {
    const handle = await connectDatabase({ ...SETTINGS, embeddedCacheSizeGB: 0.5 }, log);
    const status = await mongoose.connection.db?.admin().serverStatus();
    expect(status?.wiredTiger.cache['maximum bytes configured']).toBe(512 * 1024 * 1024);
    await handle.close();
  });

  it('uses the given server and names its hosts without credentials', async () => {
    const handle = await connectDatabase({ ...SETTINGS, mongodbUri: testDatabaseUri() }, log);
    await pingDatabase();
    expect(lines).toEqual([`database: external ${new URL(testDatabaseUri()).host}`]);
    await handle.close();
  });

  it('fails when the given server cannot be reached, and never looks for another', async () => {
    const mongodbUri = 'mongodb://user:secret@127.0.0.1:1/?serverSelectionTimeoutMS=200';
    const failed = connectDatabase({ ...SETTINGS, mongodbUri }, log);
    await expect(failed).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'Nothing listens at the host and port of MONGODB_URI (external 127.0.0.1:1). Start the database, or correct the port',
    });
    expect(lines).toEqual(['database: external 127.0.0.1:1']);
  });
});

describe('a mongod that is given or found', () => {
  const fake = async (path: string, output: string): Promise<string> => {
    await writeFile(path, `#!/bin/sh\necho '${output}'\n`, { mode: 0o755 });
    return path;
  };

  it('is the given one first, with its version', async () => {
    const path = await fake(join(folder, 'mongod-8'), 'db version v8.0.4');
    expect(await findMongod(path)).toEqual({ path, version: '8.0.4' });
  });

  it('is that of mongodb-memory-server next, then the one on PATH', async () => {
    const system = await fake(join(folder, 'system'), 'db version v7.0.1');
    process.env['PATH'] = folder;
    const onPath = await fake(join(folder, 'mongod'), 'db version v8.0.5');
    expect(await findMongod('')).toEqual({ path: onPath, version: '8.0.5' });
    process.env['MONGOMS_SYSTEM_BINARY'] = system;
    expect(await findMongod('')).toEqual({ path: system, version: '7.0.1' });
  });

  it.each([
    ['does not exist', async () => Promise.resolve(join(folder, 'missing'))],
    ['prints no version', () => fake(join(folder, 'odd'), 'hello')],
  ])('ends the start when it is given and %s', async (_name, path) => {
    const mongodBinary = await path();
    const started = startLocalDatabase({ ...SETTINGS, localDatabase: 'auto', mongodBinary }, log);
    await expect(started).rejects.toThrow(`the given mongod ${mongodBinary} does not run`);
  });
});

describe('a downloaded mongod', () => {
  const servers: Server[] = [];
  const listening = async (server: Server): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  const settings: DatabaseSettings = { ...SETTINGS, localDatabase: 'mongod' };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('is passed over when the host accepts and never answers', async () => {
    const sockets: { destroy(): void }[] = [];
    const port = await listening(createServer((socket) => sockets.push(socket)));
    process.env['MONGOMS_DOWNLOAD_MIRROR'] = `https://127.0.0.1:${port}`;
    const started = startDownloadSource(settings, log, { reachMs: 100, wholeMs: 1_000 });
    await expect(started).rejects.toThrow('no answer within 100 ms');
    for (const socket of sockets) socket.destroy();
  });

  it('names all four ways and why each was passed over when none can be had', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const port = await listening(createHttpServer((_request, response) => response.writeHead(404).end()));
    process.env['MONGOMS_DOWNLOAD_MIRROR'] = `http://127.0.0.1:${port}`;
    process.env['MONGOMS_USE_HTTP'] = 'true';
    const error: unknown = await startLocalDatabase(settings, log).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'unavailable' });
    const { message } = error as Error;
    expect(message).toContain('1. MONGODB_URI: it is empty');
    expect(message).toContain(
      '2. a mongod that is given or found: no mongod is given, on PATH or in the cache',
    );
    expect(message).toContain('3. the embedded engine: LOCAL_DATABASE is mongod');
    expect(message).toMatch(/4\. a downloaded mongod: it failed: Download failed for url "http:\/\/127/);
    warn.mockRestore();
  });
});

/** Starts the embedded database's program with an environment of its own; answers its report. */
async function startWith(variables: Record<string, string>): Promise<unknown> {
  const options = JSON.stringify({ dir: null, port: null, cacheSizeGB: 0.25, limits: DEFAULT_LIMITS });
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'packages/embedded-mongodb/src/main.ts', options],
    {
      env: { ...environment, ...variables },
    },
  );
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  child.stdin.end();
  await once(child, 'exit');
  return JSON.parse(String(line));
}

it('makes one relinked copy when six processes start on an empty cache', async () => {
  const cache = join(folder, 'cache');
  const reports = await Promise.all(
    Array.from({ length: 6 }, () => startWith({ EMBEDDED_MONGODB_CACHE: cache })),
  );
  expect(reports).toEqual(Array.from({ length: 6 }, () => expect.objectContaining({ ready: true })));
  const glibc = hostGlibc();
  const needsCopy = process.platform === 'linux' && glibc !== null && glibc[1] < 38;
  expect(needsCopy ? await readdir(cache) : []).toHaveLength(needsCopy ? 1 : 0);
});
