/** What each command gets: an answer of the front's own, the engine under the lock, or a transaction. */
import { asDocument, asDocuments, BsonError, fieldOf, isSet } from '../protocol/bson-slice.js';
import { sessionId, type Command } from '../protocol/command.js';
import { EngineError, type Engine } from '../engine/engine.js';
import type { Hello } from '../protocol/hello.js';
import { isHello } from '../protocol/hello.js';
import { HeldReads } from './held-reads.js';
import { journaled } from './journaled.js';
import type { FrontLimits } from './limits.js';
import type { PhaseFairLock } from './lock.js';
import type { Namespaces } from '../engine/namespaces.js';
import type { RunningReads } from './running-reads.js';
import { CommandError, errorReply, isSuccess, okReply } from '../protocol/replies.js';
import type { Sessions } from '../transaction/sessions.js';
import { tooOld, type ConnectionKey, type Transactions } from '../transaction/transactions.js';

/** The parts that a front puts together. */
export interface FrontParts {
  readonly engine: Engine;
  readonly hello: Hello;
  readonly lock: PhaseFairLock;
  readonly namespaces: Namespaces;
  readonly reads: RunningReads;
  readonly sessions: Sessions;
  readonly transactions: Transactions;
  readonly limits: FrontLimits;
  /** Whether the data outlive the process. */
  readonly isPersistent: boolean;
  readonly log: (line: string) => void;
}

const WITHOUT_LOCK: ReadonlySet<string> = new Set([
  'buildInfo',
  'buildinfo',
  'getParameter',
  'setParameter',
  'serverStatus',
  'currentOp',
  'killOp',
  'killCursors',
  'dbStats',
  'collStats',
  'saslStart',
]);
const ENDING_SESSIONS: ReadonlySet<string> = new Set([
  'endSessions',
  'killSessions',
  'killAllSessions',
  'killAllSessionsByPattern',
]);

/** Answers commands. */
export class Front {
  readonly #parts: FrontParts;
  readonly #held: HeldReads;
  #isClosed = false;

  /** All parts belong to one engine. */
  constructor(parts: FrontParts) {
    this.#parts = parts;
    const { engine, reads } = parts;
    this.#held = new HeldReads(engine, (command, connection) => reads.forward(command, connection));
  }

  /** The handshake, for connections, which repeat it. */
  get hello(): Hello {
    return this.#parts.hello;
  }

  /** From now on every command is refused. */
  close(): void {
    this.#isClosed = true;
    void this.#held.close();
  }

  /** The reply document to any command but the handshake. */
  async answer(command: Command, connection: ConnectionKey): Promise<Buffer> {
    if (this.#isClosed) return errorReply(new CommandError(91, 'the server is stopping'));
    try {
      return (await this.#held.answer(command)) ?? (await this.#route(command, connection));
    } catch (error) {
      return errorReply(this.#commandError(command, error));
    }
  }

  /** To be called when a client is gone. */
  connectionClosed(connection: ConnectionKey): void {
    const { log, reads, transactions } = this.#parts;
    transactions.connectionClosed(connection);
    this.#held.connectionClosed(connection);
    if (this.#isClosed) return;
    reads.connectionClosed(connection).catch((error: unknown) => {
      log(`error: a read that nobody waits for was not ended: ${String(error)}`);
    });
  }

  #route(command: Command, connection: ConnectionKey): Promise<Buffer> {
    const { engine, hello, isPersistent, transactions } = this.#parts;
    if (command.isInTransaction) return transactions.run(command, connection);
    if (isHello(command.name)) return Promise.resolve(hello.reply(0));
    if (ENDING_SESSIONS.has(command.name)) return this.#endSessions(command);
    if (WITHOUT_LOCK.has(command.name)) return engine.forward(command.message);
    const own = hello.small(command.name);
    if (own !== null) return Promise.resolve(own);
    // What is gone with the process need not wait for its journal.
    const durable = isPersistent ? journaled(command) : command;
    if (command.session !== null && command.txnNumber !== null) {
      return this.#retryable(durable, command.session, command.txnNumber);
    }
    const run = (): Promise<Buffer> => this.#held.run(durable, connection);
    return isAlone(durable) ? this.#owned(run) : this.#shared(durable, run);
  }

  /** A write whose number shows whether it ran before. */
  #retryable(command: Command, id: string, number: bigint): Promise<Buffer> {
    const { engine, sessions } = this.#parts;
    const session = sessions.get(id);
    if (number < session.last) return Promise.reject(tooOld(number, session.last));
    if (number === session.last) {
      return session.reply ?? Promise.reject(new CommandError(72, 'the number belongs to a transaction'));
    }
    const older = session.transaction?.abort('the session went on without it') ?? Promise.resolve();
    const reply = older.then(() => this.#shared(command, () => engine.forward(command.message)));
    session.last = number;
    session.transaction = null;
    session.reply = reply;
    // what did not run may be tried again under the same number
    const forget = (): void => {
      if (session.reply !== reply) return;
      session.reply = null;
      session.last = number - 1n;
    };
    void reply.then((body) => {
      if (!hasRun(body)) forget();
    }, forget);
    return reply;
  }

  async #shared(command: Command, forward: () => Promise<Buffer>): Promise<Buffer> {
    const { lock, namespaces } = this.#parts;
    if (!lock.tryShare()) await this.#waitForShare(command);
    try {
      namespaces.observe(command.name);
      return await forward();
    } finally {
      lock.unshare();
    }
  }

  /** For a write that changes what others read, document by document. */
  async #owned(forward: () => Promise<Buffer>): Promise<Buffer> {
    const { lock, limits } = this.#parts;
    if (!(await lock.own(limits.commandWaitMs))) throw new CommandError(24, 'other commands took too long');
    try {
      return await forward();
    } finally {
      lock.disown();
    }
  }

  async #waitForShare(command: Command): Promise<void> {
    const { lock, limits, log } = this.#parts;
    const ownMs = command.maxTimeMs !== null && command.maxTimeMs > 0 ? command.maxTimeMs : Infinity;
    const warning = setTimeout(() => {
      log(
        `warning: ${command.name} on ${command.database} waits for an open transaction; an operation inside a transaction must carry its session`,
      );
    }, limits.warnAfterMs);
    const isGranted = await lock.share(Math.min(ownMs, limits.commandWaitMs));
    clearTimeout(warning);
    if (isGranted) return;
    if (ownMs <= limits.commandWaitMs) throw new CommandError(50, 'operation exceeded time limit');
    throw new CommandError(
      24,
      'an open transaction took too long; an operation inside a transaction must carry its session',
    );
  }

  async #endSessions(command: Command): Promise<Buffer> {
    const { sessions, transactions } = this.#parts;
    const named = asDocuments(fieldOf(command.body, command.name)).map((lsid) => sessionId(lsid));
    const isAll =
      command.name.startsWith('killAll') || (command.name === 'killSessions' && named.length === 0);
    const ids = isAll ? sessions.ids() : named.filter((id) => id !== null);
    for (const id of ids) {
      await transactions.abortOf(id, 'its session was ended');
      sessions.forget(id);
    }
    return okReply();
  }

  #commandError(command: Command, error: unknown): CommandError {
    if (error instanceof CommandError) return error;
    if (error instanceof EngineError) return new CommandError(error.code, error.message);
    if (error instanceof BsonError) return new CommandError(22, error.message);
    const text = error instanceof Error ? error.message : String(error);
    this.#parts.log(`error: ${command.name}: ${text}`);
    return new CommandError(1, text);
  }
}

/**
 * Whether a command outside of transactions is to run while no other does: its `comment` says `{ alone: true }`. A server
 * whose reads see a snapshot needs no such word, and ignores it.
 */
function isAlone({ name, body }: Command): boolean {
  const comment = name === 'update' ? asDocument(fieldOf(body, 'comment')) : undefined;
  return comment !== undefined && isSet(fieldOf(comment, 'alone'));
}

/** Whether a write took place at least in part: only `ok: 0` says that nothing did. */
function hasRun(reply: Buffer): boolean {
  return (
    isSuccess(reply) || fieldOf(reply, 'writeErrors') !== undefined || fieldOf(reply, 'nErrors') !== undefined
  );
}
