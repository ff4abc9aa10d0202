import mongoose from 'mongoose';
import { CdrError } from '../openehr/base/errors.js';
import type { DatabaseSettings } from '../config/settings.js';
import { isUnavailable } from './mongo-error.js';
import { checkServerAtStart, connectionFailure } from './check-server.js';
import { monitorOptions, publishCommands } from './commands.js';
import { correctDriver } from './driver-socket.js';
import { joinTransactions, setWriteWait, WRITE_WAIT_MS } from './transaction.js';
import { startLocalDatabase } from './local-database.js';
import type { LocalDatabase } from './local-source.js';

/** Connecting mongoose to the database that the settings choose. */

/** The connected database. */
export interface DatabaseHandle {
  /** May contain credentials: never to be logged. */
  readonly uri: string;
  /** What it is, without credentials. */
  readonly description: string;
  /** Disconnects, and ends a database that was started for this process. */
  close(): Promise<void>;
}

/** How long the first connection is tried. */
const CONNECT_PATIENCE_MS = 10_000;

/**
 * How a lost database is noticed: a request waits so long for a usable server, then it is answered 503; a server
 * that fell silent is noticed by the heartbeat. Each is taken unless the URI sets it.
 */
const LOSS_OPTIONS = {
  serverSelectionTimeoutMS: 2_000,
  connectTimeoutMS: 2_000,
  heartbeatFrequencyMS: 1_000,
} as const;

/**
 * Connects the default mongoose connection, starting a local database first when no URI is given, unless one is
 * starting already (`starting`). Writes exactly one line that says which database it is.
 * @throws CdrError `unavailable` when the given database cannot be reached; Error when no local one can be had
 */
export async function connectDatabase(
  settings: DatabaseSettings,
  log: (line: string) => void,
  starting?: Promise<LocalDatabase>,
): Promise<DatabaseHandle> {
  if (settings.mongodbUri !== '') return connectExternal(settings, log);
  const local = await (starting ?? startLocalDatabase(settings, log));
  try {
    await connectMongoose(local.uri, settings.mongodbDatabase, settings.writeWaitMs);
  } catch (error) {
    await local.stop();
    throw error;
  }
  return {
    uri: local.uri,
    description: local.description,
    close: async () => {
      await mongoose.disconnect();
      await local.stop();
    },
  };
}

/**
 * Connects the default mongoose connection with the options of the whole product. A write waits for others before it
 * for `writeWaitMs`.
 * @throws the driver's error when the server is not reached within 2 s, or what the URI says
 */
export async function connectMongoose(
  uri: string,
  database: string,
  writeWaitMs = WRITE_WAIT_MS,
): Promise<void> {
  setWriteWait(writeWaitMs);
  correctDriver();
  joinTransactions();
  mongoose.set('strictQuery', true);
  mongoose.set('sanitizeFilter', true);
  await mongoose.connect(uri, {
    dbName: database,
    autoIndex: false,
    autoCreate: false,
    appName: 'everchart',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority' },
    // mongoose would hold commands back for 10 s while the database is away
    bufferCommands: false,
    ...monitorOptions(),
    ...unlessInUri(uri),
  });
  const client = mongoose.connection.getClient();
  watchPool(client);
  publishCommands(client);
}

/** Options given to `connect` would win over those of the URI. */
function unlessInUri(uri: string): Partial<typeof LOSS_OPTIONS> {
  return Object.fromEntries(Object.entries(LOSS_OPTIONS).filter(([name]) => !uri.includes(`${name}=`)));
}

/** Resolves when the database answers. @throws the driver's error, CdrError `unavailable` when not connected */
export async function pingDatabase(): Promise<void> {
  const { db } = mongoose.connection;
  if (db === undefined) throw new CdrError('unavailable', 'The database is not connected');
  await db.command({ ping: 1 });
}

/** Connects to the server of the URI, whether the product can run on it or not. @throws as `connectDatabase` when it cannot be reached */
export function connectAnyServer(
  settings: DatabaseSettings,
  log: (line: string) => void,
): Promise<DatabaseHandle> {
  return connectExternal(settings, log, () => Promise.resolve());
}

async function connectExternal(
  settings: DatabaseSettings,
  log: (line: string) => void,
  check = checkServerAtStart,
): Promise<DatabaseHandle> {
  const { mongodbUri: uri, mongodbDatabase, writeWaitMs } = settings;
  const description = `external ${hostsOf(uri)}`;
  log(`database: ${description}`);
  const isPatient = !uri.includes('serverSelectionTimeoutMS=');
  const deadline = performance.now() + (isPatient ? CONNECT_PATIENCE_MS : 0);
  for (let isConnected = false; !isConnected;) {
    try {
      await connectMongoose(uri, mongodbDatabase, writeWaitMs);
      await check();
      isConnected = true;
    } catch (error) {
      await mongoose.disconnect();
      if (!isUnavailable(error) || performance.now() > deadline)
        throw await connectionFailure(error, uri, description);
    }
  }
  return { uri, description, close: () => mongoose.disconnect() };
}

/** The host list of a connection string, without credentials and options. */
function hostsOf(uri: string): string {
  const [, hosts = '', rest = ''] = /^mongodb(?:\+srv)?:\/\/(?:[^/?]*@)?([^/?]*)(.*)$/s.exec(uri) ?? [];
  // A password with a sign that should be percent-encoded: what stands before the sign is no host.
  return hosts === '' || rest.includes('@') ? 'database' : hosts;
}

/** How the connections of this process to the database are used, from the driver's events of its pools. */

/** Connections of this process to all members of the database; those that only watch its state are not counted. */
export interface PoolUse {
  /** Open connections. */
  readonly size: number;
  /** Those that an operation has now. */
  readonly checkedOut: number;
  /** Operations that wait for one. */
  readonly waiting: number;
}

let open = new Set<string>();
let checkedOut = new Set<string>();
let waiting = 0;

/** What the use is now; zeros before the first connection. */
export function poolUse(): PoolUse {
  return { size: open.size, checkedOut: checkedOut.size, waiting };
}

/** Watches the pools of a client from now on, instead of those of an earlier one. */
function watchPool(client: mongoose.mongo.MongoClient): void {
  open = new Set();
  checkedOut = new Set();
  waiting = 0;
  const own = { open, checkedOut };
  client.on('connectionCreated', (event) => own.open.add(nameOf(event)));
  client.on('connectionClosed', (event) => {
    own.open.delete(nameOf(event));
    own.checkedOut.delete(nameOf(event));
  });
  client.on('connectionCheckOutStarted', () => (waiting += 1));
  client.on('connectionCheckOutFailed', () => (waiting -= 1));
  client.on('connectionCheckedOut', (event) => {
    waiting -= 1;
    // One that was made while the client connected, before anyone listened.
    own.open.add(nameOf(event));
    own.checkedOut.add(nameOf(event));
  });
  client.on('connectionCheckedIn', (event) => own.checkedOut.delete(nameOf(event)));
}

function nameOf({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string {
  return `${address} ${connectionId}`;
}
