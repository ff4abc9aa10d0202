/**
 * Running a `mongod` with authentication as a replica set of one member. mongodb-memory-server starts and ends the
 * process; its own replica set cannot be started again on data that have users.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import mongoose from 'mongoose';
import type { LocalDatabase, LogLine } from './local-source.js';
import type { MongoInstance } from './mongodb-memory-server.js';
import {
  ensurePrivateFolder,
  readPrivateFile,
  writePrivateFile,
} from '../packages/embedded-mongodb/src/access/private-files.js';

/** A binary that runs. */
export interface MongodBinary {
  readonly path: string;
  readonly version: string;
}

/** How a mongod is reached. */
export interface MongodAccess {
  readonly port: number;
  readonly password: string;
}

type MongoOptions = NonNullable<ConstructorParameters<typeof MongoInstance>[0]['instance']>;
type LoginOptions = NonNullable<MongoInstance['extraConnectionOptions']>;

const HOST = '127.0.0.1';
const SET_NAME = 'rs0';
const USER = 'everchart';
const PRIMARY_PATIENCE_MS = 30_000;
const POLL_MS = 50;
const ALREADY_INITIALIZED = 23;
const UNAUTHORIZED = 13;

/**
 * Runs a binary with its data in `mongod` inside the folder (null: a temporary one), which becomes this user's alone.
 * The connection string with the password stands in `mongod.uri` beside the data (0600).
 * @throws Error when it does not start
 */
export async function runMongod(
  binary: MongodBinary,
  dataFolder: string | null,
  log: LogLine,
): Promise<Pick<LocalDatabase, 'uri' | 'stop'>> {
  const { MongoInstance } = await import('./mongodb-memory-server.js');
  const folder = dataFolder === null ? mkdtempSync(join(tmpdir(), 'everchart-')) : resolve(dataFolder);
  const cleanUp = (): void => {
    if (dataFolder === null) rmSync(folder, { recursive: true, force: true });
  };
  let instance: MongoInstance | undefined;
  try {
    ensurePrivateFolder(folder, (line) => {
      log(`database: ${line}`);
    });
    const access = await mongodAccess(folder);
    instance = new MongoInstance({
      instance: mongodOptions(folder, access.port),
      binary: { systemBinary: binary.path, version: binary.version },
    });
    instance.extraConnectionOptions = loginOptions(access.password);
    await instance.start();
    await openReplicaSet(access);
    const running = instance;
    return {
      uri: uriOf(access),
      stop: async () => {
        await running.stop();
        cleanUp();
      },
    };
  } catch (error) {
    await instance?.stop();
    cleanUp();
    throw error;
  }
}

/** What mongodb-memory-server makes the arguments of: only 127.0.0.1, no socket in `/tmp`, every client logs in. */
export function mongodOptions(folder: string, port: number): MongoOptions {
  return {
    auth: true,
    keyfileLocation: keyFile(folder),
    port,
    ip: HOST,
    dbPath: join(folder, 'mongod'),
    replSet: SET_NAME,
    storageEngine: 'wiredTiger',
    args: process.platform === 'win32' ? [] : ['--nounixsocket'],
  };
}

/**
 * Port and password of this folder's mongod: those of earlier starts, else new ones, written down before they are
 * used. The replica set's configuration holds its port, so it has to come back on the same one.
 */
export async function mongodAccess(folder: string): Promise<MongodAccess> {
  mkdirSync(join(folder, 'mongod'), { recursive: true, mode: 0o700 });
  const known = /^mongodb:\/\/[^:]+:([\w-]+)@[^:]+:(\d+)\//.exec(readPrivateFile(join(folder, 'mongod.uri')));
  // the file of releases that ran it without a password
  const port = Number(known?.[2] ?? fileText(join(folder, 'mongod.port')));
  const access = {
    port: Number.isInteger(port) && port > 0 ? port : await freePort(),
    password: known?.[1] ?? randomBytes(32).toString('base64url'),
  };
  writePrivateFile(join(folder, 'mongod.uri'), `${uriOf(access)}\n`);
  if (readPrivateFile(keyFile(folder)) === '')
    writePrivateFile(keyFile(folder), randomBytes(48).toString('base64'));
  return access;
}

/**
 * Makes a started mongod the primary of its set and makes its user, each unless it was done at an earlier start; the
 * first user may be made without a login, over loopback only. @throws Error when it does not become primary or does not
 * know the password
 */
export async function openReplicaSet(access: MongodAccess): Promise<void> {
  const address = `${HOST}:${access.port}`;
  const options = { directConnection: true, serverSelectionTimeoutMS: PRIMARY_PATIENCE_MS };
  await withClient(`mongodb://${address}/`, options, async (admin) => {
    const hello = await admin.command({ hello: 1 });
    if (hello['setName'] === undefined) {
      const members = [{ _id: 0, host: address }];
      await unless(ALREADY_INITIALIZED, admin.command({ replSetInitiate: { _id: SET_NAME, members } }));
    }
    await becomePrimary(admin);
    const roles = [{ role: 'root', db: 'admin' }];
    await unless(UNAUTHORIZED, admin.command({ createUser: USER, pwd: access.password, roles }));
  });
  await withClient(uriOf(access), options, (admin) => admin.command({ ping: 1 }));
}

async function withClient(
  uri: string,
  options: mongoose.mongo.MongoClientOptions,
  work: (admin: mongoose.mongo.Db) => Promise<unknown>,
): Promise<void> {
  const client = new mongoose.mongo.MongoClient(uri, options);
  try {
    await client.connect();
    await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

async function becomePrimary(admin: mongoose.mongo.Db): Promise<void> {
  const deadline = performance.now() + PRIMARY_PATIENCE_MS;
  while ((await admin.command({ hello: 1 }))['isWritablePrimary'] !== true) {
    if (performance.now() > deadline)
      throw new Error(`mongod did not become primary in ${PRIMARY_PATIENCE_MS} ms`);
    await pause(POLL_MS);
  }
}

async function unless(code: number, command: Promise<unknown>): Promise<void> {
  try {
    await command;
  } catch (error) {
    if ((error as { code?: unknown }).code !== code) throw error;
  }
}

function uriOf({ port, password }: MongodAccess): string {
  return `mongodb://${USER}:${password}@${HOST}:${port}/?replicaSet=${SET_NAME}&authSource=admin`;
}

/** For the library's own connection, by which it ends the process in order. */
function loginOptions(password: string): LoginOptions {
  return { authSource: 'admin', authMechanism: 'SCRAM-SHA-256', auth: { username: USER, password } };
}

function keyFile(folder: string): string {
  return join(folder, 'mongod.key');
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, HOST, done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
