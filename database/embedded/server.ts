/** The front on a TCP port of this machine. */
import { createServer, type Server, type Socket } from 'node:net';
import { asNumber, asText, fieldOf } from './bson-slice.js';
import { Connection } from './connection.js';
import { Engine, type NativeEngine } from './engine.js';
import { Front } from './front.js';
import { Hello, REPLICA_SET, type EngineFacts } from './hello.js';
import type { FrontLimits } from './limits.js';
import { PhaseFairLock } from './lock.js';
import { Namespaces } from './namespaces.js';
import { PersistentUndo, recover } from './persistent-undo.js';
import { Sessions } from './sessions.js';
import { Transactions } from './transactions.js';

const HOST = '127.0.0.1';
/**
 * Any number of connections: commands that wait for a transaction hold theirs, so in a pool with a limit they could
 * keep the one that the transaction's own commit needs.
 */
const URI_OPTIONS = `replicaSet=${REPLICA_SET}&w=majority&maxPoolSize=0`;

/** How a server is to run. */
export interface ServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Memory for the data, in GiB. */
  readonly cacheSizeGB: number;
  /** Whether undo records have to survive a crash. */
  readonly isPersistent: boolean;
  readonly limits: FrontLimits;
  readonly log: (line: string) => void;
  /** Called when only a new start can help. */
  readonly onFatal: (error: unknown) => void;
}

/** A running server. */
export interface RunningServer {
  readonly uri: string;
  readonly port: number;
  readonly version: string;
  /** Undo records that were put back at start. */
  readonly recovered: number;
  /** Aborts what is open, closes all connections and the engine. */
  stop(): Promise<void>;
}

/** Recovers, then listens on 127.0.0.1. @throws EngineError, or the error of a port in use */
export async function startServer(native: NativeEngine, options: ServerOptions): Promise<RunningServer> {
  const engine = new Engine(native);
  try {
    return await serve(engine, options);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function serve(engine: Engine, options: ServerOptions): Promise<RunningServer> {
  await setParameters(engine, options.cacheSizeGB);
  const recovered = options.isPersistent ? await recover(engine) : 0;
  const facts = await readFacts(engine);
  const sockets = new Set<Socket>();
  const server = createServer();
  const port = await listen(server, options.port);
  const { front, transactions } = buildFront(engine, new Hello(`${HOST}:${port}`, facts), options);
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Connection(socket, front, connections);
  });
  return {
    uri: `mongodb://${HOST}:${port}/?${URI_OPTIONS}`,
    port,
    version: facts.version,
    recovered,
    stop: async () => {
      server.close();
      front.close();
      await transactions.abortAll('the server stops');
      for (const socket of sockets) socket.destroy();
      await engine.close();
    },
  };
}

/**
 * Its default way of ranking plans samples the collection when none of them finds anything soon, with the slot-based
 * execution engine, which is not part of this build: such queries would fail.
 */
const PLAN_RANKER = 'multiPlanning';

async function setParameters(engine: Engine, cacheSizeGB: number): Promise<void> {
  const cacheSize = `cache_size=${Math.round(cacheSizeGB * 1024)}M`;
  await engine.run({ setParameter: 1, wiredTigerEngineRuntimeConfig: cacheSize, $db: 'admin' });
  await engine.run({ setParameter: 1, internalQueryPlanRanker: PLAN_RANKER, $db: 'admin' });
}

interface Assembled {
  readonly front: Front;
  readonly transactions: Transactions;
}

function buildFront(engine: Engine, hello: Hello, options: ServerOptions): Assembled {
  const { limits, log, onFatal } = options;
  const lock = new PhaseFairLock();
  const namespaces = new Namespaces(engine);
  const sessions = new Sessions(limits.sessions);
  const makeStore = (): PersistentUndo | null => (options.isPersistent ? new PersistentUndo(engine) : null);
  const transactions = new Transactions({ engine, lock, namespaces, limits, makeStore, onFatal }, sessions);
  const front = new Front({ engine, hello, lock, namespaces, sessions, transactions, limits, log });
  return { front, transactions };
}

async function readFacts(engine: Engine): Promise<EngineFacts> {
  const hello = await engine.run({ hello: 1, $db: 'admin' });
  const build = await engine.run({ buildInfo: 1, $db: 'admin' });
  return {
    version: asText(fieldOf(build, 'version')) ?? 'unknown',
    minWireVersion: asNumber(fieldOf(hello, 'minWireVersion')) ?? 0,
    maxWireVersion: asNumber(fieldOf(hello, 'maxWireVersion')) ?? 0,
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : port);
    });
  });
}
