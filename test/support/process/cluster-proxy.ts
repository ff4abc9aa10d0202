import { once } from 'node:events';
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';
import mongoose from 'mongoose';
import {
  buildMessage,
  readCommand,
  type Command,
} from '../../../packages/embedded-mongodb/src/protocol/command.js';
import { FrameReader, messageHead, OPCODE } from '../../../packages/embedded-mongodb/src/protocol/frame.js';

const { BSON } = mongoose.mongo;
type Document = mongoose.mongo.Document;

/** What a cluster does, and the embedded engine never. */
export type Fault =
  /** The server is no longer the primary: nothing is done. */
  | 'not-primary'
  /** Another transaction was faster: this one has to begin again. */
  | 'transient'
  /** The commit is carried out, and its answer is that the majority has not confirmed it. */
  | 'unconfirmed-commit'
  /** An election in the middle of the commit: the transaction is gone, and nobody says so. */
  | 'lost-commit'
  /** The commit is carried out and its answer lost, and the next primary knows nothing of the transaction. */
  | 'forgotten-commit'
  /** The connection ends before the command arrives. */
  | 'cut-before'
  /** The connection ends after the command was carried out. */
  | 'cut-after'
  /** The majority is slow. */
  | 'slow'
  /** The cursor was killed, or the operation interrupted by an election. */
  | 'killed'
  /** The operation took longer than the server lets one take. */
  | 'timed-out';

/** What a proxy does with commands and replies; absent: it passes them on at once. */
interface Plays {
  /** The fault that a command meets; null: none. */
  readonly fault?: (command: Command) => Fault | null;
  /** What has to end before a command is passed on; null: nothing. Must not be rejected. */
  readonly before?: (command: Command) => Promise<unknown> | null;
  /** What the client gets in place of the server's reply to a command. */
  readonly rewrite?: (name: string, reply: Document) => Document;
}

/** Members of `hello` that tell of a replica set. */
const OF_SET = new Set(['setName', 'setVersion', 'hosts', 'me', 'primary', 'secondary']);

/** A `rewrite` that makes a mongod without --replSet of the server. */
export function asStandalone(name: string, reply: Document): Document {
  if (!/^(?:hello|ismaster)$/i.test(name)) return reply;
  return Object.fromEntries(Object.entries(reply).filter(([member]) => !OF_SET.has(member)));
}

/** Stands between the driver and the embedded engine and plays a cluster, or another server. */
export class ClusterProxy {
  /** Connection string through the proxy. */
  uri = '';
  /** What it does from now on. */
  plays: Plays;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #forgotten = new Set<string>();

  /** Stands before the database of a connection string, on a port of 127.0.0.1. */
  static async before(uri: string, plays: Plays = {}): Promise<ClusterProxy> {
    const [, place = ''] = /^mongodb:\/\/(?:[^@/]*@)?([^/?]*)/.exec(uri) ?? [];
    const [host = '', port] = place.split(':');
    const address = host.startsWith('%2F')
      ? { path: decodeURIComponent(host) }
      : { host, port: Number(port ?? 27017) };
    const proxy = new ClusterProxy(address, plays);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    const { port: own } = proxy.#server.address() as AddressInfo;
    // Polled: of a stream of heartbeats a rewritten one would be the last.
    proxy.uri = `mongodb://127.0.0.1:${own}/?directConnection=true&heartbeatFrequencyMS=500&serverMonitoringMode=poll`;
    return proxy;
  }

  private constructor(address: NetConnectOpts, plays: Plays) {
    this.plays = plays;
    this.#server = createServer((client) => {
      const database = connect(address);
      for (const socket of [client, database]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          database.destroy();
        });
      }
      new Line({ client, database, forgotten: this.#forgotten, plays: () => this.plays });
    });
  }

  /** Ends it and its connections. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** What a line is between. */
interface Ends {
  readonly client: Socket;
  readonly database: Socket;
  /** Transactions that no primary knows any more. */
  readonly forgotten: Set<string>;
  readonly plays: () => Plays;
}

interface Asked {
  readonly name: string;
  readonly fault: Fault | null;
}

const SLOW_MS = 150;
/** NotWritablePrimary, WriteConflict, PrimarySteppedDown, CursorNotFound, NoSuchTransaction, InterruptedDueToReplStateChange. */
const CODE = {
  timeLimit: 50,
  notPrimary: 10107,
  conflict: 112,
  steppedDown: 189,
  cursor: 43,
  noTransaction: 251,
  interrupted: 11602,
} as const;

/** One connection of a client. A driver sends one command at a time, so replies come in the order of commands. */
class Line {
  readonly #asked = new Map<number, Asked>();

  constructor(readonly ends: Ends) {
    const { client, database } = ends;
    const commands = new FrameReader();
    client.on('data', (chunk: Buffer) => {
      commands.push(chunk);
      for (let message = commands.next(); message !== null; message = commands.next()) this.#command(message);
    });
    let received = Buffer.alloc(0);
    database.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const length = received.readInt32LE(0);
        this.#reply(received.subarray(0, length));
        received = received.subarray(length);
      }
    });
  }

  #command(message: Buffer): void {
    if (message.readInt32LE(12) !== OPCODE.message) {
      this.#asked.set(message.readInt32LE(4), { name: 'hello', fault: null });
      this.ends.database.write(message);
      return;
    }
    const command = readCommand(Buffer.from(message));
    const before = this.ends.plays().before?.(command) ?? null;
    if (before === null) {
      this.#pass(command, message);
      return;
    }
    const kept = Buffer.from(message);
    void before.then(() => {
      this.#pass(command, kept);
    });
  }

  #pass(command: Command, message: Buffer): void {
    const fault = this.ends.plays().fault?.(command) ?? null;
    this.#asked.set(command.requestId, { name: command.name, fault });
    const transaction = `${command.session} ${command.txnNumber}`;
    const isForgotten = command.name === 'commitTransaction' && this.ends.forgotten.has(transaction);
    const refusal = isForgotten ? NO_TRANSACTION : refusalOf(fault, command);
    if (fault === 'forgotten-commit') this.ends.forgotten.add(transaction);
    if (fault === 'cut-before') this.ends.client.destroy();
    else if (refusal !== null) this.#send(command.requestId, refusal);
    else this.ends.database.write(fault === 'lost-commit' ? abortOf(message) : message);
  }

  #reply(message: Buffer): void {
    const requestId = message.readInt32LE(8);
    const { name = '', fault = null } = this.#asked.get(requestId) ?? {};
    const { rewrite } = this.ends.plays();
    if (fault === 'cut-after' || fault === 'forgotten-commit') this.ends.client.destroy();
    else if (fault === 'unconfirmed-commit') this.#send(requestId, UNCONFIRMED);
    else if (fault === 'lost-commit') this.#send(requestId, STEPPED_DOWN);
    else if (fault === 'slow') setTimeout(() => this.ends.client.write(message), SLOW_MS);
    else if (rewrite === undefined) this.ends.client.write(message);
    else this.#send(requestId, rewrite(name, bodyOf(message)), message.readInt32LE(12));
  }

  #send(responseTo: number, body: Document, opcode: number = OPCODE.message): void {
    const bytes = Buffer.from(BSON.serialize(body));
    const head =
      opcode === OPCODE.reply
        ? legacyHead(bytes.length, responseTo)
        : messageHead(bytes.length, { requestId: 1, responseTo });
    this.ends.client.write(Buffer.concat([head, bytes]));
  }
}

function legacyHead(bodyLength: number, responseTo: number): Buffer {
  const head = Buffer.alloc(36);
  head.writeInt32LE(36 + bodyLength, 0);
  head.writeInt32LE(responseTo, 8);
  head.writeInt32LE(OPCODE.reply, 12);
  head.writeInt32LE(1, 32);
  return head;
}

function bodyOf(message: Buffer): Document {
  const at = message.readInt32LE(12) === OPCODE.reply ? 36 : 21;
  return BSON.deserialize(message.subarray(at), { promoteValues: false, promoteLongs: false });
}

/** The same transaction, aborted in place of committed. */
function abortOf(message: Buffer): Buffer {
  const { commitTransaction, ...rest } = BSON.deserialize(message.subarray(21), {
    promoteValues: false,
    promoteLongs: false,
  });
  const aborted = buildMessage(
    Buffer.from(BSON.serialize({ abortTransaction: commitTransaction as number, ...rest })),
  );
  aborted.writeInt32LE(message.readInt32LE(4), 4);
  return aborted;
}

const failure = (code: number, errmsg: string, ...errorLabels: string[]): Document => ({
  ok: 0,
  code,
  errmsg,
  errorLabels,
});
const UNCONFIRMED = {
  ok: 1,
  writeConcernError: {
    code: 64,
    codeName: 'WriteConcernTimeout',
    errmsg: 'waiting for replication timed out',
  },
  errorLabels: ['UnknownTransactionCommitResult'],
};
const STEPPED_DOWN = failure(
  CODE.steppedDown,
  'the primary stepped down',
  'RetryableWriteError',
  'UnknownTransactionCommitResult',
);

const NO_TRANSACTION = failure(CODE.noTransaction, 'no such transaction', 'TransientTransactionError');

/** What is answered without asking the database. */
function refusalOf(fault: Fault | null, { isInTransaction, name }: Command): Document | null {
  const label = isInTransaction ? 'TransientTransactionError' : 'RetryableWriteError';
  if (fault === 'not-primary') return failure(CODE.notPrimary, 'not primary', label);
  if (fault === 'transient') return failure(CODE.conflict, 'write conflict', 'TransientTransactionError');
  if (fault === 'timed-out') return failure(CODE.timeLimit, 'operation exceeded time limit');
  if (fault !== 'killed') return null;
  return name === 'getMore'
    ? failure(CODE.cursor, 'cursor not found', label)
    : failure(CODE.interrupted, 'operation was interrupted', label);
}

const COMMIT_FAULTS: readonly Fault[] = [
  'unconfirmed-commit',
  'lost-commit',
  'forgotten-commit',
  'cut-before',
  'cut-after',
  'slow',
];
const WRITE_FAULTS: readonly Fault[] = [
  'not-primary',
  'transient',
  'timed-out',
  'cut-before',
  'cut-after',
  'slow',
];
const READ_FAULTS: readonly Fault[] = ['killed', 'timed-out', 'not-primary', 'cut-before', 'slow'];
const UNTOUCHED: ReadonlySet<string> = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'endSessions',
  'abortTransaction',
  'killCursors',
]);

/** Faults at random: `random` gives numbers from 0 to 1, `share` of all commands meets one. */
export function randomFaults(random: () => number, share: number): (command: Command) => Fault | null {
  return (command) => {
    if (UNTOUCHED.has(command.name) || random() >= share) return null;
    return pick(faultsOf(command), random);
  };
}

function faultsOf({ name, isInTransaction }: Command): readonly Fault[] {
  if (name === 'commitTransaction') return COMMIT_FAULTS;
  return isInTransaction ? WRITE_FAULTS : READ_FAULTS;
}

function pick(faults: readonly Fault[], random: () => number): Fault | null {
  return faults[Math.floor(random() * faults.length)] ?? null;
}
