/**
 * Whether the MongoDB that a connection string leads to is one that the product can run on, and why not:
 * docs/spec/database.md#what-is-checked
 */
import { isNativeError } from 'node:util/types';
import mongoose from 'mongoose';
import { CdrError } from '../openehr/base/errors.js';

/** The oldest MongoDB that is taken; README and docs/spec/database.md#what-is-checked name it too. */
export const MIN_MONGODB_VERSION = '7.0';

/** What stands in the way, in one sentence, and what to do about it, in another. No passwords. */
interface Obstacle {
  readonly cause: string;
  readonly advice: string;
}

function obstacleError({ cause, advice }: Obstacle, error?: unknown): CdrError {
  return new CdrError('unavailable', `${cause}. ${advice}`, { cause: error });
}

/**
 * Why connecting to `uri` failed, for the person who set it: the cause, and what to do where that is known. `place`:
 * the hosts, without credentials.
 */
export async function connectionFailure(error: unknown, uri: string, place: string): Promise<CdrError> {
  if (error instanceof CdrError) return error;
  const obstacle = obstacleOfError(error) ?? (await obstacleOfSet(error, uri));
  const first = masked(textsOf(error)[0] ?? 'no reason given').split('\n')[0] ?? '';
  const cause = obstacle === null ? `Cannot connect to the database: ${first}` : obstacle.cause;
  const advice = obstacle === null ? 'Check MONGODB_URI, and that the database runs' : obstacle.advice;
  return obstacleError({ cause: `${cause} (${place})`, advice }, error);
}

function masked(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//***@');
}

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const COMMAND_NOT_FOUND = 59;
/** How long the server may take for each question, ms. */
const ASK_MS = 2_000;
/** The same at a start, which ends when it gets no answer: beside long transactions and on a busy machine an answer is late. */
const ASK_AT_START_MS = 30_000;
/** A document that is never there. */
const PROBE = { collection: 'settings', _id: 'probe of rights' } as const;

/**
 * Asks the connected server what it is, and whether this user may read, which may take `askMs` for each answer.
 * @throws CdrError `unavailable` that says in one sentence why it cannot be used and in one what to do; the driver's
 * error when it cannot be asked now
 */
export async function checkServer(askMs = ASK_MS): Promise<void> {
  const db = connectedDatabase();
  const hello = await db.admin().command({ hello: 1, maxTimeMS: askMs });
  const build = await db.admin().command({ buildInfo: 1, maxTimeMS: askMs });
  const obstacle = obstacleOf(hello, build);
  if (obstacle !== null) throw obstacleError(obstacle);
  await explained(() => probe(db).findOne({ _id: PROBE._id }, { maxTimeMS: askMs }));
}

/**
 * As `checkServer`, and whether transactions and writing are possible: removes a document that is never there, in a
 * transaction. @throws as `checkServer`
 */
export async function checkServerAtStart(): Promise<void> {
  await checkServer(ASK_AT_START_MS);
  const db = connectedDatabase();
  await explained(() =>
    mongoose.connection
      .getClient()
      .withSession((session) =>
        session.withTransaction(() => probe(db).deleteOne({ _id: PROBE._id }, { session })),
      ),
  );
}

function connectedDatabase(): mongoose.mongo.Db {
  const { db } = mongoose.connection;
  if (db === undefined) throw new CdrError('unavailable', 'The database is not connected');
  return db;
}

const probe = (db: mongoose.mongo.Db) => db.collection<{ _id: string }>(PROBE.collection);

/** Runs work whose errors say what is wrong with the database or its user. */
async function explained(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const obstacle = obstacleOfError(error);
    throw obstacle === null ? error : obstacleError(obstacle, error);
  }
}

function obstacleOf(hello: mongoose.mongo.Document, build: mongoose.mongo.Document): Obstacle | null {
  const version = typeof build['version'] === 'string' ? build['version'] : null;
  if (isForeign(build)) {
    return {
      cause: `The database is ${isFerret(build) ? 'FerretDB' : 'another product'}, not MongoDB`,
      advice: `Take a replica set or a sharded cluster of MongoDB ${MIN_MONGODB_VERSION} or later`,
    };
  }
  if (version !== null && !isAtLeast(version, MIN_MONGODB_VERSION)) {
    return {
      cause: `The database is MongoDB ${version}, which is too old`,
      advice: `Update it to MongoDB ${MIN_MONGODB_VERSION} or later, one major version after another`,
    };
  }
  const isCluster = typeof hello['setName'] === 'string' || hello['msg'] === 'isdbgrid';
  return isCluster ? null : STANDALONE;
}

const STANDALONE: Obstacle = {
  cause: 'The database is a standalone mongod, which has no transactions',
  advice:
    'Start it with --replSet rs0 and run rs.initiate() in it once: a set of one member is enough to try',
};

/** Products with MongoDB's protocol name themselves in buildInfo, or lack what every mongod and mongos says there. */
function isForeign(build: mongoose.mongo.Document): boolean {
  return Object.keys(build).length > 0 && (isFerret(build) || !Array.isArray(build['versionArray']));
}

function isFerret(build: mongoose.mongo.Document): boolean {
  return 'ferretdb' in build || 'ferretdbVersion' in build;
}

/**
 * What an error of the driver says about the settings; null: nothing, it may be gone the next time.
 * `error`: of connecting or of a command.
 */
function obstacleOfError(error: unknown): Obstacle | null {
  const text = textsOf(error).join('; ');
  const code = codeOf(error);
  const known = KNOWN.find(({ codes = [], pattern }) => codes.includes(code ?? 0) || pattern.test(text));
  return known === undefined ? null : known.obstacle(text);
}

interface KnownFailure {
  readonly codes?: readonly number[];
  readonly pattern: RegExp;
  readonly obstacle: (text: string) => Obstacle;
}

const plain =
  (cause: string, advice: string): KnownFailure['obstacle'] =>
  () => ({ cause, advice });

/** In the order in which they are looked for: a wrong password also ends a connection. */
const KNOWN: readonly KnownFailure[] = [
  {
    pattern:
      /Invalid (?:scheme|connection string|URL)|URI (?:malformed|option)|unescaped characters|hosts? (?:list|identifier)/i,
    obstacle: plain(
      'MONGODB_URI is no connection string of MongoDB',
      'Write it as mongodb://user:password@host:27017/?replicaSet=rs0 or mongodb+srv://user:password@host/, signs like @ : / in the password percent-encoded',
    ),
  },
  {
    codes: [AUTHENTICATION_FAILED],
    pattern: /Authentication failed|bad auth/i,
    obstacle: plain(
      'The database refused the user or the password of MONGODB_URI',
      'Check both, write signs like @ : / percent-encoded, and name the database of the user as authSource',
    ),
  },
  {
    codes: [UNAUTHORIZED],
    pattern: /not authorized|requires authentication/i,
    obstacle: plain(
      'The user of MONGODB_URI may not do what everchart does',
      'Name a user with the role dbOwner on the database of MONGODB_DATABASE (cdr unless set)',
    ),
  },
  {
    pattern: /maximum wire version|wire version/i,
    obstacle: plain(
      'The database is older than the driver can speak with',
      `Update it to MongoDB ${MIN_MONGODB_VERSION} or later, one major version after another`,
    ),
  },
  {
    pattern: /ENOTFOUND|EAI_AGAIN|querySrv/i,
    obstacle: plain(
      'The host of MONGODB_URI is unknown',
      'Check its name, and that this machine resolves it',
    ),
  },
  {
    pattern: /ERR_SSL|ERR_TLS|\bSSL\b|\bTLS\b|certificate|wrong version number|DEPTH_ZERO|CERT_/i,
    obstacle: plain(
      'The database and MONGODB_URI do not agree about TLS',
      'Set tls=true or tls=false in MONGODB_URI as the server has it, and tlsCAFile= for a certificate of your own',
    ),
  },
  {
    codes: [COMMAND_NOT_FOUND, 20, 263, 303],
    pattern: /Transaction numbers are only allowed|retryable writes|startTransaction|not implemented/i,
    obstacle: plain(
      'The database has no transactions',
      'Take a replica set or a sharded cluster of MongoDB: mongod --replSet rs0, then rs.initiate()',
    ),
  },
  {
    pattern: /ECONNREFUSED/i,
    obstacle: plain(
      'Nothing listens at the host and port of MONGODB_URI',
      'Start the database, or correct the port',
    ),
  },
  {
    pattern: /connection .* closed|socket hang up|ECONNRESET|unexpected|Parse Error|Invalid message/i,
    obstacle: plain(
      'What listens at the host and port of MONGODB_URI ends each connection: it is not MongoDB, or wants TLS',
      'Check the port, and set tls=true if the server wants it',
    ),
  },
];

/**
 * The driver drops servers that are not of the set that `replicaSet=` names, and then says only that it found none: the
 * first of them is asked what it is. Null: it was not that, or nobody answers.
 */
async function obstacleOfSet(error: unknown, uri: string): Promise<Obstacle | null> {
  const { reason } = error as { reason?: Partial<mongoose.mongo.TopologyDescription> };
  const wanted = reason?.setName;
  if (typeof wanted !== 'string' || reason?.servers?.size !== 0) return null;
  const found = await helloOfFirst(uri);
  if (found === null) return null;
  const name: unknown = found['setName'];
  if (typeof name !== 'string') return STANDALONE;
  return {
    cause: `The replica set has another name than MONGODB_URI says: ${name}, not ${wanted}`,
    advice: `Write replicaSet=${name} into MONGODB_URI`,
  };
}

/** What the first server of a connection string says of itself, which needs no user; null: nothing. */
async function helloOfFirst(uri: string): Promise<mongoose.mongo.Document | null> {
  const [, host, query] = /^mongodb:\/\/(?:[^@/?]*@)?([^,/?]+)[^/?]*(?:\/[^?]*)?(?:\?(.*))?$/.exec(uri) ?? [];
  if (host === undefined) return null;
  const options = new URLSearchParams(query);
  for (const name of ['replicaSet', 'authSource', 'authMechanism']) options.delete(name);
  options.set('directConnection', 'true');
  options.set('serverSelectionTimeoutMS', String(ASK_MS));
  const client = new mongoose.mongo.MongoClient(`mongodb://${host}/?${options.toString()}`);
  try {
    return await client.db('admin').command({ hello: 1 });
  } catch {
    return null;
  } finally {
    await client.close();
  }
}

/** The messages of an error, of its causes, and of what the driver learnt of each server. */
function textsOf(error: unknown): string[] {
  if (!isNativeError(error)) return [];
  // Its class is not exported.
  const { reason } = error as { reason?: Partial<mongoose.mongo.TopologyDescription> };
  const servers = reason?.servers instanceof Map ? [...reason.servers.values()] : [];
  const ofServers = servers.flatMap((server) => textsOf(server.error));
  const { code } = error as { code?: string | number };
  const coded = code === undefined ? error.message : `${code} ${error.message}`;
  return [...ofServers, coded, ...textsOf(error.cause)];
}

function codeOf(error: unknown): number | null {
  const code: unknown = error instanceof mongoose.mongo.MongoError ? error.code : null;
  return typeof code === 'number' ? code : null;
}

function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
