import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { connectDatabase } from '../../database/connect.js';
import { whyDatabaseUnfit } from '../../models/access/server-status.js';
import { startEmbedded, type EmbeddedDatabase } from '../../packages/embedded-mongodb/src/spawn.js';
import { testDatabaseName, testDatabaseUri } from '../support/database.js';
import { asStandalone, ClusterProxy } from '../support/process/cluster-proxy.js';

/** What each obstacle says, by docs/spec/database.md#what-is-checked, and what it must never say. */

type Document = mongoose.mongo.Document;
type Rewrite = (name: string, reply: Document) => Document;

const SECRET = 'correct-horse';
const QUICK = 'serverSelectionTimeoutMS=800';

const servers: Server[] = [];
let locked: EmbeddedDatabase;
let proxy: ClusterProxy;

beforeAll(async () => {
  locked = await startEmbedded({ dir: null, port: 0, cacheSizeGB: 0.25, log: () => undefined });
  proxy = await ClusterProxy.before(testDatabaseUri());
});
afterAll(async () => {
  await mongoose.disconnect();
  proxy.close();
  for (const server of servers) server.close();
  await locked.stop();
});
afterEach(async () => {
  proxy.plays = {};
  await mongoose.disconnect();
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const connected = (mongodbUri: string) =>
  connectDatabase(
    {
      mongodbUri,
      mongodbDatabase: testDatabaseName(),
      localDatabase: 'embedded',
      mongodBinary: '',
      embeddedCacheSizeGB: null,
      writeWaitMs: 10_000,
      embeddedDataDir: 'temporary',
    },
    () => undefined,
  );

/** The sentence of a start on this database, and what every such sentence must keep to. */
async function refusalOf(mongodbUri: string): Promise<string> {
  const error: unknown = await connected(mongodbUri).then(
    async (handle) => handle.close(),
    (caught: unknown) => caught,
  );
  expect(error).toMatchObject({ code: 'unavailable' });
  const { message } = error as Error;
  // The cause in one sentence, what to do in another; one line; and nothing secret.
  expect(message).toMatch(/^[^\n]+\. [A-Z][^\n]+$/);
  expect(message).not.toContain(SECRET);
  return message;
}

const isHello = (name: string): boolean => /^(?:hello|ismaster)$/i.test(name);
const asMongos: Rewrite = (name, reply) =>
  isHello(name) ? { ...asStandalone(name, reply), msg: 'isdbgrid' } : reply;
const buildOf =
  (change: (build: Document) => Document): Rewrite =>
  (name, reply) =>
    name === 'buildInfo' ? change(reply) : reply;
const refusing =
  (command: string, refusal: Document): Rewrite =>
  (name, reply) =>
    name === command ? { ok: 0, ...refusal } : reply;

const OF_ANSWERS: readonly (readonly [string, Rewrite, RegExp])[] = [
  [
    'a standalone mongod',
    asStandalone,
    /^The database is a standalone mongod, which has no transactions\. Start it with --replSet rs0 and run rs\.initiate\(\)/,
  ],
  [
    'a version that the driver takes and everchart does not',
    buildOf((build) => ({ ...build, version: '6.0.14', versionArray: [6, 0, 14, 0] })),
    /^The database is MongoDB 6\.0\.14, which is too old\. Update it to MongoDB 7\.0 or later/,
  ],
  [
    'a version that the driver does not take',
    (name, reply) => (isHello(name) ? { ...reply, minWireVersion: 0, maxWireVersion: 6 } : reply),
    /^The database is older than the driver can speak with .*\. Update it to MongoDB 7\.0 or later/,
  ],
  [
    'FerretDB',
    buildOf((build) => ({ ...build, ferretdb: { version: 'v1.24.0' } })),
    /^The database is FerretDB, not MongoDB\. Take a replica set or a sharded cluster of MongoDB 7\.0/,
  ],
  [
    'another product that speaks the protocol',
    buildOf((build) => ({ ...build, versionArray: undefined })),
    /^The database is another product, not MongoDB\. /,
  ],
  [
    'a user who may not read',
    refusing('find', { code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on cdr to execute find' }),
    /^The user of MONGODB_URI may not do what everchart does\. Name a user with the role dbOwner/,
  ],
  [
    'a user who may not write',
    refusing('delete', { code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on cdr' }),
    /^The user of MONGODB_URI may not do what everchart does\. /,
  ],
  [
    'a server that refuses transactions',
    refusing('delete', {
      code: 20,
      codeName: 'IllegalOperation',
      errmsg: 'Transaction numbers are only allowed on a replica set member or mongos',
    }),
    /^The database has no transactions\. Take a replica set/,
  ],
];

describe('a start on a database that cannot be used says why and what to do', () => {
  it.each(OF_ANSWERS)('%s', async (_name, rewrite, sentence) => {
    proxy.plays = { rewrite };
    expect(await refusalOf(proxy.uri)).toMatch(sentence);
  });

  it('a wrong password', async () => {
    const { host } = new URL(locked.uri);
    const uri = `mongodb://everchart:${SECRET}@${host}/?directConnection=true&authMechanism=SCRAM-SHA-256&${QUICK}`;
    expect(await refusalOf(uri)).toMatch(
      /^The database refused the user or the password of MONGODB_URI .*\. Check both, .* percent-encoded/,
    );
  });

  it('no password where one is asked for', async () => {
    const uri = `mongodb://${new URL(locked.uri).host}/?directConnection=true&${QUICK}`;
    expect(await refusalOf(uri)).toMatch(/^The user of MONGODB_URI may not do what everchart does/);
  });

  it('a set of another name', async () => {
    const { host } = new URL(proxy.uri);
    expect(await refusalOf(`mongodb://user:${SECRET}@${host}/?replicaSet=other&${QUICK}`)).toMatch(
      /^The replica set has another name than MONGODB_URI says: (\w+), not other .*\. Write replicaSet=\1 into MONGODB_URI/,
    );
  });

  it('a standalone mongod where MONGODB_URI names a set', async () => {
    proxy.plays = { rewrite: asStandalone };
    const { host } = new URL(proxy.uri);
    expect(await refusalOf(`mongodb://${host}/?replicaSet=rs0&${QUICK}`)).toMatch(
      /^The database is a standalone mongod, which has no transactions .*\. Start it with --replSet/,
    );
  });

  it.each([
    ['mongodb', 'no-such-host.invalid'],
    ['mongodb+srv', 'cluster.no-such-host.invalid'],
  ])('an unknown host of %s', async (scheme, host) => {
    expect(await refusalOf(`${scheme}://user:${SECRET}@${host}/?${QUICK}`)).toMatch(
      /^The host of MONGODB_URI is unknown .*\. Check its name/,
    );
  });

  it('a server without TLS that is asked for it', async () => {
    const { host } = new URL(locked.uri);
    expect(await refusalOf(`mongodb://user:${SECRET}@${host}/?tls=true&${QUICK}`)).toMatch(
      /TLS.*\. (?:Set tls=true or tls=false|Check the port)/,
    );
  });

  it('a server with TLS that is not asked for it', async () => {
    const host = await listening(createTlsServer({}));
    expect(await refusalOf(`mongodb://user:${SECRET}@${host}/?${QUICK}`)).toMatch(
      /^What listens at the host and port of MONGODB_URI .* wants TLS .*\. Check the port, and set tls=true/,
    );
  });

  it.each([
    ['answers HTTP', () => createHttpServer((_request, response) => response.end('hello'))],
    ['ends each connection', () => createServer((socket) => socket.destroy())],
  ])('a server that %s', async (_name, server) => {
    expect(await refusalOf(`mongodb://user:${SECRET}@${await listening(server())}/?${QUICK}`)).toMatch(
      /^What listens at the host and port of MONGODB_URI ends each connection: it is not MongoDB, or wants TLS/,
    );
  });

  it('an address where nothing listens', async () => {
    expect(await refusalOf(`mongodb://user:${SECRET}@127.0.0.1:1/?${QUICK}`)).toMatch(
      /^Nothing listens at the host and port of MONGODB_URI/,
    );
  });

  it.each([`mongo://user:${SECRET}@localhost/`, `mongodb://user:${SECRET}/pass@localhost/`, 'localhost'])(
    'what is no connection string: %s',
    async (uri) => {
      expect(await refusalOf(uri)).toMatch(/^MONGODB_URI is no connection string of MongoDB/);
    },
  );
});

describe('a database that can be used', () => {
  it('may be a mongos', async () => {
    proxy.plays = { rewrite: asMongos };
    await connected(proxy.uri);
    expect(await whyDatabaseUnfit()).toBeNull();
  });

  it('is looked at again by readiness, which says what became of it and forgets it when it is well', async () => {
    await connected(proxy.uri);
    expect(await whyDatabaseUnfit()).toBeNull();
    for (const [name, rewrite, sentence] of OF_ANSWERS) {
      // What needs a write is asked at start alone; an older wire version ends the connection.
      if (/write|transactions|driver/.test(name)) continue;
      proxy.plays = { rewrite };
      expect([name, await whyDatabaseUnfit()]).toEqual([name, expect.stringMatching(sentence)]);
    }
    proxy.plays = {};
    expect(await whyDatabaseUnfit()).toBeNull();
  });
});
