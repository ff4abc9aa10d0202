/** The front behind a socket or a port of this machine. */
import { createServer, type Server, type Socket } from 'node:net';
import { Authentication } from '../access/authentication.js';
import { asNumber, asText, fieldOf } from '../protocol/bson-slice.js';
import { Connection } from './connection.js';
import { addressOf, listenOptions, USER, type Endpoint } from '../access/endpoint.js';
import { Engine, type NativeEngine } from '../engine/engine.js';
import { Front } from './front.js';
import { Hello, type EngineFacts } from '../protocol/hello.js';
import type { FrontLimits } from './limits.js';
import { PhaseFairLock } from './lock.js';
import { Namespaces } from '../engine/namespaces.js';
import { JournalPace } from '../undo/journal-pace.js';
import { PersistentUndo, recover } from '../undo/persistent-undo.js';
import { RunningReads } from './running-reads.js';
import { scramCredentials } from '../access/scram.js';
import { Sessions } from '../transaction/sessions.js';
import { Transactions } from '../transaction/transactions.js';

/** How a server is to run. */
export interface ServerOptions {
  readonly endpoint: Endpoint;
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
  /** What clients connect to: the path of the socket or `host:port`. */
  readonly address: string;
  /** Null with a socket. */
  readonly port: number | null;
  readonly version: string;
  /** Undo records that were put back at start. */
  readonly recovered: number;
  /** Aborts what is open, closes all connections and the engine. */
  stop(): Promise<void>;
}

/** Recovers, then listens. @throws EngineError, or the error of a port in use */
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
  const { endpoint, log } = options;
  const login = endpoint.kind === 'port' ? scramCredentials(USER, endpoint.password) : null;
  const port = await listen(server, endpoint);
  const address = addressOf(endpoint, port);
  const { front, transactions } = buildFront(engine, new Hello(address, facts), options);
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const authentication = login === null ? null : new Authentication(login, log);
    new Connection(socket, front, { number: connections, authentication });
  });
  return {
    address,
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
  const { isPersistent, limits, log, onFatal } = options;
  const lock = new PhaseFairLock();
  const namespaces = new Namespaces(engine);
  const sessions = new Sessions(limits.sessions);
  const makeStore = (): PersistentUndo | null => (isPersistent ? new PersistentUndo(engine) : null);
  const journal = new JournalPace();
  const transactions = new Transactions(
    { engine, lock, namespaces, limits, journal, makeStore, onFatal },
    sessions,
  );
  const reads = new RunningReads(engine);
  const parts = { engine, hello, isPersistent, lock, namespaces, reads, sessions, transactions, limits, log };
  const front = new Front(parts);
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

/** Answers the port; null with a socket. */
function listen(server: Server, endpoint: Endpoint): Promise<number | null> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(listenOptions(endpoint), () => {
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : null);
    });
  });
}
